"""Which addresses a policy may go to: http pages of the sites, written plainly, and nothing else.

The proxy already keeps a page from reaching anything but the sites. This check is for the schemes that use no
proxy (file:, data:, javascript:, view-source:, chrome:) and for the tricks of writing one address so that it is
read as another: only an address that has one possible reading is let through, and it is rebuilt from its parts.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import quote

from .errors import ActionRefused

MAX_ADDRESS_CHARS = 4096
# A host is letters, digits, hyphens and dots here: no user, no port, no brackets, no escapes, no other alphabet.
PLAIN_ADDRESS = re.compile(r"(?i:http)://(?P<host>[A-Za-z0-9.-]+)(?P<rest>(?:[/?#].*)?)", re.DOTALL)
SHOWN_CHARS = 80


def allowed_address(text: str, hosts: Collection[str]) -> str:
    """The address as it will be opened.

    Args:
        text: what the policy wrote, e.g. "http://shop.test/catalogue/".
        hosts: lower-case host names of the sites, without ports.

    Raises:
        ActionRefused: the address is not a page of the sites.
    """
    address = text.strip(" ")
    sites = ", ".join(f"http://{host}/" for host in sorted(hosts))
    if len(address) > MAX_ADDRESS_CHARS:
        raise ActionRefused(f"the address is longer than {MAX_ADDRESS_CHARS} characters")
    match = PLAIN_ADDRESS.fullmatch(address)
    unclear = any(char.isspace() or not char.isprintable() or char == "\\" for char in address)
    if match is None or unclear or match["host"].lower() not in hosts:
        raise ActionRefused(f"{address[:SHOWN_CHARS]!r} cannot be opened; only pages of the sites can: {sites}")
    rest = quote(match["rest"], safe="/?#[]@!$&'()*+,;=:%~-._|^`{}\"<>")
    return f"http://{match['host'].lower()}{rest if rest.startswith('/') else '/' + rest}"
