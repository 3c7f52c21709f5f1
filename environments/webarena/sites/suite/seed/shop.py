"""The shop's catalogue, and the order in which the rest of the shop is filled."""

import random
from datetime import timedelta
from decimal import Decimal

from django.core.files.base import ContentFile
from oscar.apps.catalogue.categories import create_from_breadcrumbs
from oscar.apps.catalogue.models import (
    Category,
    Product,
    ProductAttribute,
    ProductCategory,
    ProductClass,
    ProductImage,
)
from oscar.apps.partner.models import Partner, StockRecord

from suite import clock
from suite.seed import customers, orders, reviews
from suite.seed.catalogue_words import CARE, COLLECTIONS, DEFAULT_CARE, DEPARTMENTS, USES, Kind
from suite.seed.moments import FIRST_MOMENT
from suite.seed.people import People
from suite.seed.pictures import product_picture

COLLECTIONS_PER_KIND = 7
STOCK_LEVELS = (0, 2, 5, 12, 30, 80, 150)


def fill(people: People) -> None:
    """Creates the catalogue, then customers' addresses, orders and reviews."""
    products = _catalogue(random.Random("catalogue"))
    customers.fill(people)
    orders.fill(people, products)
    customers.open_baskets(people)
    reviews.fill(people, products)


def _catalogue(draw: random.Random) -> list[Product]:
    goods = _product_class()
    partner = Partner.objects.create(name="Fern & Finch warehouse")
    products: list[Product] = []
    for department, sections in DEPARTMENTS.items():
        for section, kinds in sections.items():
            category = create_from_breadcrumbs(f"{department} > {section}")
            for kind in kinds:
                for collection in sorted(draw.sample(COLLECTIONS, COLLECTIONS_PER_KIND)):
                    with clock.at(FIRST_MOMENT + timedelta(hours=2 * len(products))):
                        products.append(_product(draw, len(products) + 1, collection, kind, goods, category, partner))
    return products


def _product_class() -> ProductClass:
    goods = ProductClass.objects.create(name="Goods", requires_shipping=True, track_stock=True)
    for code, name, kind in (("material", "Material", "text"), ("weight_g", "Weight in grams", "integer"),
                             ("warranty_years", "Warranty in years", "integer")):  # fmt: skip
        ProductAttribute.objects.create(product_class=goods, code=code, name=name, type=kind)
    return goods


def _product(
    draw: random.Random,
    number: int,
    collection: str,
    kind: Kind,
    goods: ProductClass,
    category: Category,
    partner: Partner,
) -> Product:
    title, material = f"{collection} {kind.name}", draw.choice(kind.materials)
    product = Product(structure="standalone", title=title, upc=f"FF-{number:04d}", product_class=goods)
    product.description = _description(draw, title, kind, material)
    product.attr.material = material
    product.attr.weight_g = round(kind.weight_g * draw.uniform(0.8, 1.3))
    product.attr.warranty_years = draw.choice((1, 2, 3, 5, 10))
    product.save()
    ProductCategory.objects.create(product=product, category=category)
    StockRecord.objects.create(
        product=product,
        partner=partner,
        partner_sku=f"SKU-{number:04d}",
        price_currency="USD",
        price=Decimal(round(kind.price_cents * draw.uniform(0.5, 1.5) / 10) * 10 - 1) / 100,
        num_in_stock=draw.choice(STOCK_LEVELS),
        low_stock_threshold=5,
    )
    picture = ProductImage(product=product, display_order=0, caption=title)
    picture.original.save(f"{product.upc.lower()}.png", ContentFile(product_picture(title)), save=True)
    return product


def _description(draw: random.Random, title: str, kind: Kind, material: str) -> str:
    care = CARE.get(material, DEFAULT_CARE)
    return (
        f"<p>The {title} is a {kind.name.lower()} made of {material}. {draw.choice(USES)}</p>"
        f"<p>Care: {care} Batch {draw.randint(10, 99)}.</p>"
    )
