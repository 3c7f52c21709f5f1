"""Product reviews by customers."""

import random
from datetime import timedelta

from oscar.apps.catalogue.models import Product
from oscar.apps.catalogue.reviews.models import ProductReview

from suite import clock
from suite.seed.catalogue_words import REVIEWS
from suite.seed.moments import LAST_MOMENT
from suite.seed.people import People

SCORES = (5, 5, 5, 4, 4, 4, 3, 3, 2, 1)


def fill(people: People, products: list[Product]) -> None:
    """Creates up to five approved reviews a product, and a few that wait for moderation."""
    draw = random.Random("reviews")
    for product in products:
        for person in draw.sample(people.members, draw.choice((0, 1, 2, 2, 3, 5))):
            score = draw.choice(SCORES)
            title, body = draw.choice(REVIEWS[score])
            with clock.at(LAST_MOMENT - timedelta(minutes=draw.randint(3 * 60, 90 * 24 * 60))):
                ProductReview.objects.create(
                    product=product,
                    user=person,
                    score=score,
                    title=title,
                    body=body.format(weeks=draw.randint(2, 20), material=product.attr.material),
                    status=ProductReview.FOR_MODERATION if draw.random() < 0.02 else ProductReview.APPROVED,
                )
        product.update_rating()
