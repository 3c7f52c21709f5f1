"""What the policy is told: what it may do, where the sites are, and its task."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from envhub.sdk import Message

SYSTEM = """\
You do a task in a web browser. After each of your actions you see the browser again:

- notes, where something happened that the page does not show (a dialog, an action that could not be done);
- the tabs, and the address of the current one;
- the whole current page as an accessibility tree: a line an element, with its number in brackets, role, name and state.
Numbers belong to the page you see now; use those of the latest page only.

Give one action at a time, either as a tool call or as text. As text, it is the last line of your reply, or stands
between triple backticks:

click [number]                  click an element, or choose an option of a list
type [number] [text] [0 or 1]   put a text into a field in place of what it holds; 1 (the default) presses Enter after
hover [number]                  move the mouse over an element
press [keys]                    press a key or a combination such as Control+a
scroll [down or up]             scroll by a window's height
new_tab                         open an empty tab
tab_focus [index]               go to a tab by its index
close_tab                       close the current tab
goto [address]                  open an address of the sites
go_back, go_forward             move in the tab's history
stop [answer]                   end the task. Give the answer if the task asks for one, as short as it can be; else []

End with stop, at the place where the task leads. You cannot leave the sites, and each action uses up a turn.\
"""
KINDS = {"shop": "a shop", "forum": "a forum", "wiki": "a wiki"}
USER, EMAIL, PASSWORD = "ada", "ada@example.com", "password"


def prompt_of(
    intent: str, sites: Mapping[str, str], *, logins: Mapping[str, str], account: bool, time: datetime
) -> tuple[Message, ...]:
    """A task's prompt.

    Args:
        intent: what to do.
        sites: site name -> host name.
        logins: site name -> user who is logged in there at first.
        account: tell of the account to log in with.
        time: the sites' time at the start.
    """
    places = ", ".join(f"{KINDS.get(site, site)} at http://{host}/" for site, host in sites.items())
    lines = [f"The sites: {places}.", f"It is {time:%A, %d %B %Y, %H:%M} (UTC)."]
    lines += [f"You are logged in to the {site} as {user}." for site, user in logins.items()]
    if account:
        lines.append(
            f"You have an account on each site: user name {USER} ({EMAIL} where an email address is asked for), "
            f"password {PASSWORD}."
        )
    lines += ["", f"Your task: {intent}"]
    return (Message(role="system", content=SYSTEM), Message(role="user", content="\n".join(lines)))
