"""Makes visible random strings (user names, wish list keys, voucher codes) follow from the session's moment.

Session keys and CSRF tokens stay random: no page shows them.
"""

import importlib
import random
import string
from contextvars import ContextVar

from suite import clock, context

VISIBLE_USES = {
    "oscar.apps.customer.abstract_models": "get_random_string",
    "oscar.apps.customer.forms": "get_random_string",
    "oscar.apps.voucher.utils": "get_random_string",
    "oscar.apps.wishlists.abstract_models": "get_random_string",
    "wiki.forms_account_handling": "random",
}

_generator: ContextVar[tuple[context.RequestContext | None, random.Random] | None] = ContextVar(
    "suite_generator", default=None
)


def generator() -> random.Random:
    """The running request's generator: the same request at the same moment draws the same values."""
    request = context.current()
    held = _generator.get()
    if held is None or held[0] is not request:
        held = (request, random.Random(clock.now().isoformat()))
        _generator.set(held)
    return held[1]


def session_string(length: int, allowed_chars: str = string.ascii_letters + string.digits) -> str:
    """Stands in for django.utils.crypto.get_random_string."""
    return "".join(generator().choices(allowed_chars, k=length))


class SessionRandom:
    """Stands in for the module `random` where only choice() is used."""

    @staticmethod
    def choice(options: str) -> str:
        """One of `options`."""
        return generator().choice(options)


def install() -> None:
    """Rebinds the random sources of the modules whose draws are shown on pages."""
    replacements = {"get_random_string": session_string, "random": SessionRandom}
    for module, name in VISIBLE_USES.items():
        setattr(importlib.import_module(module), name, replacements[name])
