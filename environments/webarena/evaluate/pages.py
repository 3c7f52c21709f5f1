"""program_html: what pages of the session show, on fresh pages that the agent never touched."""

from __future__ import annotations

from .evidence import Evidence
from .spec import PageCheck
from .texts import meets

TEXT = "document.body ? document.body.innerText : ''"
# An element that is not there is a page that does not show what is required; only a page that cannot be read is an
# error.
VALUE = """(() => {
  try { const value = (%s); return value === null || value === undefined ? '' : String(value); }
  catch (error) { if (error instanceof SyntaxError) throw error; return ''; }
})()"""


async def check_pages(checks: tuple[PageCheck, ...], evidence: Evidence) -> str:
    """What is missing on the pages; empty if nothing is."""
    for check in checks:
        address = evidence.address if check.url == "last" else evidence.resolve(check.url)
        shown = str(await evidence.look(address, VALUE % (check.locator or TEXT)))
        if not meets(shown, check.required_contents):
            required = check.required_contents.model_dump(exclude_none=True)
            return f"{address} shows {shown[:200]!r} where {required} is required"
    return ""
