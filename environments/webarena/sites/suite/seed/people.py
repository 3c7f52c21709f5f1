"""The people who use all three sites."""

from dataclasses import dataclass

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User

from suite.seed.moments import FIRST_MOMENT

PASSWORD = "password"  # published: see README.md
SALT = "thesameineverysession0"  # 22 letters: Django rehashes passwords with less at the first log-in

MEMBERS = (
    ("ada", "Ada", "Lindqvist"), ("boris", "Boris", "Kowalski"), ("carla", "Carla", "Mendes"),
    ("deniz", "Deniz", "Aydin"), ("elena", "Elena", "Petrova"), ("farid", "Farid", "Haddad"),
    ("greta", "Greta", "Olsen"), ("hugo", "Hugo", "Marchetti"), ("ines", "Ines", "Carvalho"),
    ("jonas", "Jonas", "Weber"), ("kira", "Kira", "Tanaka"), ("liam", "Liam", "O'Connor"),
    ("mona", "Mona", "Salim"), ("nils", "Nils", "Bergman"), ("olga", "Olga", "Novak"),
    ("pavel", "Pavel", "Dvorak"), ("quentin", "Quentin", "Leroy"), ("rosa", "Rosa", "Jimenez"),
    ("samir", "Samir", "Patel"), ("tess", "Tess", "Holloway"), ("umar", "Umar", "Farooq"),
    ("vera", "Vera", "Schmidt"), ("wanda", "Wanda", "Nowak"), ("yusuf", "Yusuf", "Demir"),
)  # fmt: skip


@dataclass(frozen=True)
class People:
    """Everyone with an account."""

    admin: User
    """Runs all sites: dashboard of the shop, moderation of the forum, any article of the wiki."""

    members: tuple[User, ...]
    """In the order of MEMBERS; the first is ada."""

    @property
    def everyone(self) -> tuple[User, ...]:
        """The admin and the members."""
        return (self.admin, *self.members)


def fill() -> People:
    """Creates the accounts."""
    admin = _create("admin", "Site", "Admin", is_staff=True, is_superuser=True)
    return People(admin, tuple(_create(*member) for member in MEMBERS))


def _create(username: str, first_name: str, last_name: str, **flags: bool) -> User:
    return User.objects.create(
        username=username,
        email=f"{username}@example.com",
        password=make_password(PASSWORD, salt=SALT),
        first_name=first_name,
        last_name=last_name,
        date_joined=FIRST_MOMENT,
        **flags,
    )
