"""Which addresses may be gone to."""

from __future__ import annotations

import pytest
from webarena_under_test.browser.addresses import MAX_ADDRESS_CHARS, allowed_address
from webarena_under_test.browser.errors import ActionRefused

HOSTS = {"shop.test", "forum.test"}


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("http://shop.test", "http://shop.test/"),
        ("http://shop.test/a/b?c=d&e=%20#f", "http://shop.test/a/b?c=d&e=%20#f"),
        ("http://shop.test?q=1", "http://shop.test/?q=1"),
        (" http://forum.test/ ", "http://forum.test/"),
        ("HTTP://SHOP.TEST/A", "http://shop.test/A"),
        ("http://shop.test/caf\u00e9", "http://shop.test/caf%C3%A9"),
        ("http://shop.test/x@127.0.0.1:80", "http://shop.test/x@127.0.0.1:80"),
    ],
)
def test_a_page_of_the_sites_is_let_through(text: str, address: str) -> None:
    assert allowed_address(text, HOSTS) == address


REFUSED = [
    "",
    "shop.test/",
    "//shop.test/",
    "https://shop.test/",
    "file:///etc/passwd",
    "FILE:///etc/passwd",
    "file://shop.test/etc/passwd",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    " javascript:alert(1)",
    "java\nscript:alert(1)",
    "data:text/html,hello",
    "view-source:http://shop.test/",
    "chrome://version",
    "chrome-devtools://x",
    "about:blank",
    "blob:http://shop.test/1",
    "filesystem:http://shop.test/temporary/x",
    "ftp://shop.test/",
    "ws://shop.test/",
    "http://127.0.0.1/",
    "http://127.0.0.1:8000/",
    "http://localhost/",
    "http://[::1]/",
    "http://0.0.0.0/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://shop.test:80/",
    "http://shop.test:8000/",
    "http://shop.test.:80/",
    "http://shop.test./",
    "http://shop.test@127.0.0.1/",
    "http://shop.test:x@127.0.0.1/",
    "http://127.0.0.1\\@shop.test/",
    "http://shop.test\\@127.0.0.1/",
    "http:\\\\shop.test/",
    "http:/shop.test/",
    "http:shop.test/",
    "http:///shop.test/",
    "http://shop.test%2f@127.0.0.1/",
    "http://shop%2etest/",
    "http://shop.test\t/",
    "http://shop.test/\r\nHost: x",
    "http://sh\top.test/",
    "\thttp://shop.test/",
    "http://shop.test/\u2028",
    "http://shop.test/\u200b",
    "http://\uff53hop.test/",
    "http://shop\u3002test/",
    "http://evil.test/",
    "http://shop.test.evil.test/",
    "http://xshop.test/",
    "http://ready.invalid/",
    "http://envhub-sites/",
]


@pytest.mark.parametrize("text", REFUSED)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ActionRefused, match=r"cannot be opened; only pages of the sites can: http://forum.test/"):
        allowed_address(text, HOSTS)


def test_a_very_long_address_is_refused() -> None:
    with pytest.raises(ActionRefused, match="longer than"):
        allowed_address("http://shop.test/" + "a" * MAX_ADDRESS_CHARS, HOSTS)
