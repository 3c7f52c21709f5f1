"""A haystack engine that answers from the session's own database: no index to copy, and always up to date.

haystack's "simple" backend ignores the filters that oscar 4 puts on categories and shows nothing there.
"""

from dataclasses import dataclass
from functools import reduce
from operator import and_, or_
from typing import Any

from django.apps import apps
from django.db.models import Min, Q, QuerySet
from haystack.backends import BaseEngine, BaseSearchBackend, BaseSearchQuery, SearchNode, log_query
from haystack.models import SearchResult

from suite.middleware import is_site


@dataclass(frozen=True)
class SearchFields:
    """How the names used in haystack queries map to fields of one model."""

    text: dict[str, tuple[str, ...]]
    """Searched word by word in any of these fields."""

    exact: dict[str, str]
    """Compared as they are."""

    sort: dict[str, str]
    """Names by which results are ordered."""


PRODUCT_FIELDS = SearchFields(
    text={"content": ("title", "description", "upc"), "title": ("title",)},
    exact={
        "category": "categories",
        "is_public": "is_public",
        "structure": "structure",
        "price": "stockrecords__price",
        "rating": "rating",
    },
    sort={"price": "lowest_price", "title_exact": "title", "rating": "rating", "date_created": "date_created"},
)
POST_FIELDS = SearchFields(
    text={
        "content": ("content", "topic__subject"),
        "topic_subject": ("topic__subject",),
        "poster_name": ("poster__username",),
    },
    exact={"forum": "topic__forum_id"},
    sort={},
)


def leaf(fields: SearchFields, expression: str, value: Any) -> Q:
    """The condition of one filter, e.g. ("title", "mug") or ("category__in", [3])."""
    name, _, lookup = expression.partition("__")
    value = getattr(value, "query_string", value)
    if name in fields.text:
        return reduce(and_, (_contains(fields.text[name], word) for word in str(value).split()), Q())
    if name not in fields.exact:
        return Q()
    if lookup == "in":
        return Q(**{f"{fields.exact[name]}__in": list(value)})
    return Q(**{fields.exact[name]: value == "true" if value in ("true", "false") else value})


def _contains(names: tuple[str, ...], word: str) -> Q:
    return reduce(or_, (Q(**{f"{name}__icontains": word}) for name in names))


def condition(fields: SearchFields, node: SearchNode) -> Q:
    """The condition of a tree of filters."""
    parts = [
        condition(fields, child) if isinstance(child, SearchNode) else leaf(fields, *child) for child in node.children
    ]
    whole = reduce(or_ if node.connector == "OR" else and_, parts, Q())
    return ~whole if node.negated and whole else whole


class OrmBackend(BaseSearchBackend):
    """Searches products on the shop and posts on the forum; indexing is a no-op."""

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to do: the database is the index."""

    def remove(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to do: the database is the index."""

    def clear(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to do: the database is the index."""

    @log_query
    def search(
        self,
        query_string: str,
        tree: SearchNode | None = None,
        sort_by: tuple[str, ...] = (),
        start_offset: int = 0,
        end_offset: int | None = None,
        result_class: type[SearchResult] | None = None,
        **_: Any,
    ) -> dict[str, Any]:
        """The results from `start_offset` to `end_offset`, and the number of all of them."""
        fields = POST_FIELDS if is_site("forum") else PRODUCT_FIELDS
        found = _posts() if is_site("forum") else _products()
        if tree is not None:
            found = found.filter(pk__in=found.model._base_manager.filter(condition(fields, tree)).values("pk"))
        hits = found.count()
        keys = list(_sorted(found, fields, sort_by).values_list("pk", flat=True)[start_offset:end_offset])
        items = _complete(found).in_bulk(keys)
        make = result_class or SearchResult
        return {"results": [_result(make, items[key]) for key in keys], "hits": hits}


def _products() -> QuerySet[Any]:
    return apps.get_model("catalogue", "Product").objects.browsable().order_by("-date_created", "-pk")


def _posts() -> QuerySet[Any]:
    posts = apps.get_model("forum_conversation", "Post").objects.exclude(approved=False)
    return posts.order_by("-created", "-pk")


def _sorted(found: QuerySet[Any], fields: SearchFields, sort_by: tuple[str, ...]) -> QuerySet[Any]:
    if not sort_by:
        return found
    names = [("-" if key.startswith("-") else "") + fields.sort.get(key.lstrip("-"), "pk") for key in sort_by]
    if any("lowest_price" in name for name in names):
        found = found.annotate(lowest_price=Min("stockrecords__price"))
    return found.order_by(*names, "pk")


def _complete(found: QuerySet[Any]) -> QuerySet[Any]:
    """The objects with what result pages show of them; costly, and therefore for one page only."""
    objects = found.model.objects.all()
    return objects.select_related("topic__forum", "poster") if is_site("forum") else objects.base_queryset()


def _result(make: type[SearchResult], item: Any) -> SearchResult:
    extra = _post_fields(item) if item._meta.app_label == "forum_conversation" else {}
    result = make(item._meta.app_label, item._meta.model_name, item.pk, 0, **extra)
    result._model, result._object = type(item), item
    return result


def _post_fields(post: Any) -> dict[str, Any]:
    """What machina's result page shows of a post."""
    topic, forum = post.topic, post.topic.forum
    return {
        "poster": post.poster_id,
        "poster_name": post.poster.username if post.poster else post.username,
        "forum": forum.pk,
        "forum_slug": forum.slug,
        "forum_name": forum.name,
        "topic": topic.pk,
        "topic_slug": topic.slug,
        "topic_subject": topic.subject,
        "created": post.created,
        "updated": post.updated,
        "text": str(post.content),
    }


class OrmQuery(BaseSearchQuery):
    """Hands its filters to the backend as they are, instead of as a string."""

    def build_query(self) -> str:
        """What haystack logs; the filters are passed beside it."""
        return "*"

    def build_params(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """haystack's parameters and the tree of filters."""
        return {**super().build_params(*args, **kwargs), "tree": self.query_filter}


class SearchEngine(BaseEngine):
    """Named in settings."""

    backend = OrmBackend
    query = OrmQuery
