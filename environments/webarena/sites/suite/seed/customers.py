"""What the shop knows of its customers: addresses, an open basket each, and a voucher for everyone."""

from datetime import timedelta

from django.contrib.auth.models import User
from oscar.apps.address.models import Country, UserAddress
from oscar.apps.basket.models import Basket
from oscar.apps.offer.models import Benefit, Condition, ConditionalOffer, Range
from oscar.apps.voucher.models import Voucher

from suite.seed.moments import FIRST_MOMENT, LAST_MOMENT
from suite.seed.people import People

CITIES = (
    ("Springfield", "IL", "62701"), ("Portland", "OR", "97201"), ("Madison", "WI", "53703"),
    ("Asheville", "NC", "28801"), ("Burlington", "VT", "05401"), ("Boulder", "CO", "80302"),
)  # fmt: skip
STREETS = ("Elm Street", "Mill Road", "Harbor Lane", "Station Avenue", "Orchard Way")
VOUCHER_CODE = "WELCOME10"


def fill(people: People) -> None:
    """Creates addresses for everyone, and the voucher."""
    country = Country.objects.create(
        iso_3166_1_a2="US",
        iso_3166_1_a3="USA",
        iso_3166_1_numeric="840",
        printable_name="United States",
        name="United States of America",
        is_shipping_country=True,
    )
    for number, person in enumerate(people.everyone):
        address = UserAddress(user=person, is_default_for_shipping=True, is_default_for_billing=True)
        for field, value in address_fields(number, person, country).items():
            setattr(address, field, value)
        address.save()
    _voucher()


def open_baskets(people: People) -> None:
    """Gives everyone an open basket, which the first page a person sees would create otherwise.

    To be done after the orders: an order is numbered by its basket, so new orders get higher numbers than old ones.
    """
    for person in people.everyone:
        Basket.objects.create(owner=person)


def address_fields(number: int, person: User, country: Country) -> dict[str, object]:
    """The postal address of a person, as fields of any of oscar's address models."""
    city, state, postcode = CITIES[number % len(CITIES)]
    return {
        "first_name": person.first_name,
        "last_name": person.last_name,
        "line1": f"{10 + 3 * number} {STREETS[number % len(STREETS)]}",
        "line4": city,
        "state": state,
        "postcode": postcode,
        "country": country,
    }


def _voucher() -> None:
    everything = Range.objects.create(name="Everything", includes_all_products=True, is_public=False)
    offer = ConditionalOffer.objects.create(
        name="Ten percent off for newcomers",
        description="<p>Ten percent off your first order.</p>",
        offer_type=ConditionalOffer.VOUCHER,
        condition=Condition.objects.create(range=everything, type=Condition.COUNT, value=1),
        benefit=Benefit.objects.create(range=everything, type=Benefit.PERCENTAGE, value=10),
        max_basket_applications=1,
    )
    voucher = Voucher.objects.create(
        name="Welcome voucher",
        code=VOUCHER_CODE,
        usage=Voucher.ONCE_PER_CUSTOMER,
        start_datetime=FIRST_MOMENT,
        end_datetime=LAST_MOMENT + timedelta(days=365),
    )
    voucher.offers.add(offer)
