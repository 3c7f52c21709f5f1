"""Sessions in a real browser that can reach nothing but the sites, as text and actions for a policy.

find_browser() -> BrowserPool(...).acquire(...) -> BrowserSession: open, observe, perform(parse_action(text)), inspect.
"""

from .actions import (
    Action,
    Click,
    CloseTab,
    GoBack,
    GoForward,
    Goto,
    Hover,
    NewTab,
    Press,
    Scroll,
    Stop,
    TabFocus,
    Type,
    parse_action,
)
from .context import READY_ADDRESS, Access
from .errors import (
    ActionParseError,
    BrowserCrashed,
    BrowserNotFound,
    BrowserTimeout,
    InspectionFailed,
    SitesUnreachable,
)
from .find import FoundBrowser, find_browser
from .observe import BrowserObservation
from .pool import BrowserPool, PoolOptions
from .session import ActionResult, BrowserSession, SessionOptions

__all__ = [
    "READY_ADDRESS",
    "Access",
    "Action",
    "ActionParseError",
    "ActionResult",
    "BrowserCrashed",
    "BrowserNotFound",
    "BrowserObservation",
    "BrowserPool",
    "BrowserSession",
    "BrowserTimeout",
    "Click",
    "CloseTab",
    "FoundBrowser",
    "GoBack",
    "GoForward",
    "Goto",
    "Hover",
    "InspectionFailed",
    "NewTab",
    "PoolOptions",
    "Press",
    "Scroll",
    "SessionOptions",
    "SitesUnreachable",
    "Stop",
    "TabFocus",
    "Type",
    "find_browser",
    "parse_action",
]
