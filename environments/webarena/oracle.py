"""The oracle: for each template of tasks a walk that clicks and types by what the page shows, and a near miss of it.

A near miss is the same walk with a parameter changed: another category, quantity, subject or order. It does
everything but what decides.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from envhub.sdk import Task

from .oracles import across, dashboard, forum, shop, wiki
from .oracles.hand import Agent, Hand

Walk = Callable[..., Awaitable[None]]
SITE = re.compile(r"a (shop|forum|wiki) at (http://[^/\s]+/)")


@dataclass(frozen=True, slots=True)
class Template:
    """How the tasks of one template are done, and nearly done."""

    walk: Walk
    """Called with a hand and the task's parameters by name."""
    near: Mapping[str, str]
    """Parameters of the near miss that differ from the task's."""


TEMPLATES: Mapping[int, Template] = {
    101: Template(shop.cheapest_in_stock, {"category": "Writing"}),
    102: Template(shop.order_total, {"product": "Pebble Bowl"}),
    103: Template(shop.reviewer, {"product": "Amber Stapler", "complaint": "marks easily"}),
    104: Template(shop.sorted_category, {"order": "Title A to Z"}),
    105: Template(shop.product_of_material, {"kind": "Compass", "material": "brass"}),
    106: Template(shop.fill_cart, {"quantity": "9"}),
    107: Template(shop.check_out, {"quantity": "9"}),
    111: Template(dashboard.set_order_status, {"customer": "Ines Carvalho", "status": "Shipped"}),
    112: Template(dashboard.sum_of_orders, {"status": "Delivered"}),
    113: Template(dashboard.set_stock, {"stock": "99"}),
    114: Template(dashboard.approve_review, {"product": "Kestrel Plate"}),
    201: Template(forum.most_viewed, {"board": "Cooking"}),
    202: Template(forum.who_wrote, {"subject": "Salted lemons", "words": "Milk and a spoon of vinegar work as well."}),
    203: Template(forum.start_topic, {"board": "Introductions"}),
    204: Template(forum.reply, {"message": "I do not know."}),
    205: Template(forum.vote, {"option": "A long Russian classic"}),
    206: Template(forum.last_poster, {"board": "Cooking"}),
    301: Template(wiki.mayor_of_festival, {"festival": "Book Market"}),
    302: Template(wiki.superlative_town, {"region": "Middlemark"}),
    303: Template(wiki.append_sentence, {"sentence": "A source is missing here."}),
    304: Template(wiki.create_article, {"title": "Untitled"}),
    305: Template(wiki.river_of_twin, {"town": "Gullport"}),
    401: Template(across.units_by_bridges, {"river": "Corrin"}),
    402: Template(across.price_in_reply, {"product": "Pebble Mug"}),
}


async def solve(task: Task, agent: Agent) -> None:
    """Do the task."""
    template = TEMPLATES[task.metadata["template"]]
    await template.walk(Hand(agent, _homes(task)), **task.metadata["parameters"])


async def nearly(task: Task, agent: Agent) -> None:
    """Do the task but for what decides."""
    template = TEMPLATES[task.metadata["template"]]
    await template.walk(Hand(agent, _homes(task)), **{**task.metadata["parameters"], **template.near})


def _homes(task: Task) -> dict[str, str]:
    """Site -> address of its first page, as the prompt tells."""
    text = " ".join(message.content for message in task.prompt if isinstance(message.content, str))
    return dict(SITE.findall(text))


__all__ = ["nearly", "solve"]
