"""What can go wrong with the browser itself. What an action cannot do is a message to the policy, never one of these.

SandboxFailed (envhub.sdk.errors)
├── BrowserNotFound     no Chrome or Chromium on this machine (also LookupError)
├── BrowserCrashed      the browser process is gone; its sessions end, the others do not notice
├── BrowserTimeout      the browser did not do its part within the deadline (also TimeoutError)
└── SitesUnreachable    the sites' server does not answer the browser (also ConnectionError)
GradingFailed
└── InspectionFailed    a grader's page did not load, or its script raised
InvalidRequest
└── ActionParseError    a text that is not an action; the message says what was expected
"""

from __future__ import annotations

from envhub.sdk.errors import GradingFailed, InvalidRequest, SandboxFailed


class BrowserNotFound(SandboxFailed, LookupError):
    """No Chrome or Chromium was found on this machine."""

    code = "browser_not_found"


class BrowserCrashed(SandboxFailed):
    """The browser process is gone. Its sessions cannot go on; a new one gets another browser."""

    code = "browser_crashed"


class BrowserTimeout(SandboxFailed, TimeoutError):
    """The browser did not open, or did not make a context, within the deadline."""

    code = "browser_timeout"


class SitesUnreachable(SandboxFailed, ConnectionError):
    """The server of the sites does not answer the browser."""

    code = "sites_unreachable"


class InspectionFailed(GradingFailed):
    """A page that a grader wanted to look at did not load, or its script raised."""

    code = "inspection"


class ActionParseError(InvalidRequest):
    """A text that is not an action; the message says what was expected."""

    code = "action_parse"


class ActionRefused(Exception):
    """An action that cannot be done on this page. Its text is shown to the policy; it never leaves the session."""
