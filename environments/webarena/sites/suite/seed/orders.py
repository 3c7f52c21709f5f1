"""Past orders: older ones delivered or cancelled, the newest still pending."""

import random
from datetime import datetime, timedelta
from decimal import Decimal

from django.contrib.auth.models import User
from oscar.apps.address.models import Country
from oscar.apps.analytics.models import UserRecord
from oscar.apps.basket.models import Basket
from oscar.apps.catalogue.models import Product
from oscar.apps.order.models import BillingAddress, Line, LinePrice, Order, OrderNote, ShippingAddress

from suite import clock
from suite.seed.customers import address_fields
from suite.seed.moments import LAST_MOMENT
from suite.seed.people import People

ORDERS = 96
STATUS_BY_AGE = (
    (timedelta(days=10), ("Pending", "Pending", "Being processed")),
    (timedelta(days=28), ("Being processed", "Shipped", "Shipped")),
    (timedelta(days=365), ("Delivered", "Delivered", "Delivered", "Shipped", "Cancelled")),
)
NOTES = ("Please leave the parcel with the neighbour.", "Gift wrapping was asked for.", "Customer called twice.")


def fill(people: People, products: list[Product]) -> None:
    """Creates the orders, oldest first; ada (the first member) has at least six."""
    draw = random.Random("orders")
    country = Country.objects.get()
    spacing = timedelta(days=150) / ORDERS
    for number in range(ORDERS):
        moment = LAST_MOMENT - spacing * (ORDERS - number) + timedelta(minutes=draw.randint(0, 600))
        place = 0 if number % 16 == 5 or number == ORDERS - 1 else draw.randrange(len(people.members))
        with clock.at(min(moment, LAST_MOMENT - timedelta(hours=3))):
            _order(draw, place + 1, people.members[place], country, draw.sample(products, draw.randint(1, 4)))
    for person in people.everyone:
        _tally(person)


def _tally(person: User) -> None:
    """The record of a customer that oscar keeps up with each order, and its dashboard shows."""
    orders = Order.objects.filter(user=person)
    lines = Line.objects.filter(order__user=person)
    UserRecord.objects.create(
        user=person,
        num_orders=orders.count(),
        num_order_lines=lines.count(),
        num_order_items=sum(line.quantity for line in lines),
        total_spent=sum((order.total_incl_tax for order in orders), Decimal(0)),
        date_last_order=max((order.date_placed for order in orders), default=None),
    )


def _status(draw: random.Random, placed: datetime) -> str:
    age = LAST_MOMENT - placed
    return draw.choice(next(choices for limit, choices in STATUS_BY_AGE if age <= limit))


def _order(draw: random.Random, number: int, person: User, country: Country, products: list[Product]) -> None:
    fields = address_fields(number, person, country)
    basket = Basket.objects.create(owner=person, status=Basket.SUBMITTED, date_submitted=clock.now())
    quantities = [draw.choice((1, 1, 1, 2, 3)) for _ in products]
    total = sum((p.stockrecords.get().price * n for p, n in zip(products, quantities, strict=True)), Decimal(0))
    order = Order.objects.create(
        number=str(100_000 + basket.id),  # oscar numbers orders by their basket
        basket=basket,
        user=person,
        currency="USD",
        total_incl_tax=total,
        total_excl_tax=total,
        shipping_address=ShippingAddress.objects.create(**fields),
        billing_address=BillingAddress.objects.create(**fields),
        shipping_method="Free shipping",
        shipping_code="free-shipping",
        status=_status(draw, clock.now()),
        date_placed=clock.now(),
    )
    for product, quantity in zip(products, quantities, strict=True):
        _line(order, product, quantity)
    if draw.random() < 0.15:
        OrderNote.objects.create(order=order, note_type=OrderNote.INFO, message=draw.choice(NOTES))


def _line(order: Order, product: Product, quantity: int) -> None:
    stock = product.stockrecords.get()
    whole = stock.price * quantity
    line = Line.objects.create(
        order=order,
        partner=stock.partner,
        partner_name=stock.partner.name,
        partner_sku=stock.partner_sku,
        stockrecord=stock,
        product=product,
        title=product.title,
        upc=product.upc,
        quantity=quantity,
        line_price_incl_tax=whole,
        line_price_excl_tax=whole,
        line_price_before_discounts_incl_tax=whole,
        line_price_before_discounts_excl_tax=whole,
        unit_price_incl_tax=stock.price,
        unit_price_excl_tax=stock.price,
        status=order.status,
        num_allocated=0,
    )
    LinePrice.objects.create(
        order=order, line=line, quantity=quantity, price_incl_tax=stock.price, price_excl_tax=stock.price
    )
