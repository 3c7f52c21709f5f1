"""The wiki: a tree of articles about an invented country, some with several revisions."""

import random
from datetime import timedelta

from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.utils.text import slugify
from django_nyt.models import NotificationType, Settings
from wiki.models import Article, ArticleRevision, URLPath
from wiki.plugins.notifications.settings import ARTICLE_EDIT

from suite import clock
from suite.seed import wiki_words
from suite.seed.moments import FIRST_MOMENT
from suite.seed.people import People

HOME = (
    "Welcome to the **Almanac of Aldermere**, a wiki about a country that does not exist.\n\n"
    "Start with the [regions](/regions/), the [rivers](/rivers/), the [museums](/museums/), "
    "the [railways](/railways/) or the [festivals](/festivals/). New here? Read the [help](/help/)."
)
REVISED_SHARE = 0.35
ANYONE_MAY_WRITE = {"group_read": True, "group_write": True, "other_read": True, "other_write": True}


class Almanac:
    """Writes articles one after another, an hour apart, by draws of one generator."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._draw = random.Random("wiki")
        self._moment = FIRST_MOMENT + timedelta(days=3)
        with clock.at(self._moment):
            self._root = URLPath.create_root(title="Almanac of Aldermere", content=HOME, user=people.admin)
        self._towns = {town: region for region, towns in wiki_words.REGIONS.items() for town in towns}

    def write(self) -> None:
        """Writes all sections."""
        self._regions()
        self._rivers()
        self._museums()
        self._railways()
        self._festivals()
        self._help()

    def _regions(self) -> None:
        links = "\n".join(f"- [{name}](/regions/{slugify(name)}/)" for name in wiki_words.REGIONS)
        parent = self._article(self._root, "Regions", f"Aldermere has {len(wiki_words.REGIONS)} regions:\n\n{links}")
        for region, towns in wiki_words.REGIONS.items():
            links = "\n".join(f"- [{town}]({self._town_address(town)})" for town in towns)
            page = self._article(parent, region, f"**{region}** is a region with {len(towns)} towns:\n\n{links}")
            for town in towns:
                self._revised_article(page, town, self._town_text(town))

    def _town_address(self, town: str) -> str:
        return f"/regions/{slugify(self._towns[town])}/{slugify(town)}/"

    def _town_text(self, town: str) -> str:
        draw = self._draw
        river = draw.choice(wiki_words.RIVERS)
        twin = draw.choice([name for name in self._towns if name != town])
        facts = {
            "Region": self._towns[town],
            "Population": f"{draw.randint(900, 84_000):,}",
            "Founded": str(draw.randint(1120, 1790)),
            "Mayor": draw.choice(wiki_words.MAYORS),
            "River": f"[{river}](/rivers/{slugify(river)}/)",
            "Elevation": f"{draw.randint(2, 870)} m",
            "Main industry": draw.choice(wiki_words.INDUSTRIES),
            "Twin town": f"[{twin}]({self._town_address(twin)})",
        }
        rows = (f"| {name} | {value} |" for name, value in facts.items())
        table = "\n".join(["| Fact | Value |", "| --- | --- |", *rows])
        return f"**{town}** is a town in {self._towns[town]}.\n\n{table}\n\n{self._sections()}"

    def _sections(self) -> str:
        return "\n\n".join(
            f"## {title}\n\n{' '.join(self._draw.sample(sentences, 3))}"
            for title, sentences in wiki_words.SENTENCES.items()
        )

    def _rivers(self) -> None:
        parent = self._index("Rivers", wiki_words.RIVERS)
        for river in wiki_words.RIVERS:
            length, bridges = self._draw.randint(40, 410), self._draw.randint(3, 29)
            text = f"The **{river}** is a river of {length} km. {bridges} bridges cross it."
            self._revised_article(parent, river, f"{text}\n\n{self._sections()}")

    def _museums(self) -> None:
        parent = self._index("Museums", [name for name, _ in wiki_words.MUSEUMS])
        for name, town in wiki_words.MUSEUMS:
            opened, visitors = self._draw.randint(1850, 2010), self._draw.randint(4, 190) * 1000
            closed = self._draw.choice(("Monday", "Tuesday", "Wednesday"))
            text = (
                f"The **{name}** in [{town}]({self._town_address(town)}) opened in {opened}. "
                f"It has {visitors:,} visitors a year and is closed on {closed}."
            )
            self._revised_article(parent, name, f"{text}\n\n{self._sections()}")

    def _railways(self) -> None:
        parent = self._index("Railways", [name for name, _ in wiki_words.RAILWAYS])
        for name, stops in wiki_words.RAILWAYS:
            stations = "\n".join(f"1. [{town}]({self._town_address(town)})" for town in stops)
            minutes, opened = self._draw.randint(12, 35) * len(stops), self._draw.randint(1848, 1912)
            text = f"The **{name}** opened in {opened}. A train takes {minutes} minutes."
            self._revised_article(parent, name, f"{text}\n\n## Stations\n\n{stations}")

    def _festivals(self) -> None:
        parent = self._index("Festivals", [name for name, _, _ in wiki_words.FESTIVALS])
        for name, town, month in wiki_words.FESTIVALS:
            first = self._draw.randint(1890, 1995)
            held = f"**{name}** is held in [{town}]({self._town_address(town)}) every {month}"
            self._revised_article(parent, name, f"{held}, for the first time in {first}.")

    def _help(self) -> None:
        parent = self._index("Help", list(wiki_words.HELP_PAGES))
        for title, text in wiki_words.HELP_PAGES.items():
            self._article(parent, title, text)

    def _index(self, title: str, names: list[str] | tuple[str, ...]) -> URLPath:
        links = "\n".join(f"- [{name}](/{slugify(title)}/{slugify(name)}/)" for name in names)
        return self._article(self._root, title, links)

    def _article(self, parent: URLPath, title: str, content: str) -> URLPath:
        self._moment += timedelta(hours=1)
        with clock.at(self._moment):
            return URLPath.create_urlpath(
                parent,
                slugify(title),
                title=title,
                content=content,
                user=self._people.admin,
                article_kwargs=ANYONE_MAY_WRITE,
            )

    def _revised_article(self, parent: URLPath, title: str, content: str) -> None:
        """An article that began as a stub and was completed by a member, or was complete at once."""
        if self._draw.random() >= REVISED_SHARE:
            self._article(parent, title, content)
            return
        page = self._article(parent, title, f"**{title}**: this article is a stub.")
        editor: User = self._draw.choice(self._people.members)
        with clock.at(self._moment + timedelta(days=self._draw.randint(1, 90))):
            revision = ArticleRevision(title=title, content=content, user=editor, user_message="Complete the stub")
            page.article.add_revision(revision)


def fill(people: People) -> None:
    """Creates the articles, and what notifications would create when a page is first seen.

    django-nyt also keeps the notification type in a process-wide cache, which is safe once every session has its row.
    """
    Almanac(people).write()
    NotificationType.objects.create(key=ARTICLE_EDIT, content_type=ContentType.objects.get_for_model(Article))
    for person in people.everyone:
        Settings.objects.create(user=person, is_default=True)
