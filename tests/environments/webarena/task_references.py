"""What tasks' references must be, worked out from the seed's database: by SQL, and by reading the wiki's articles."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

Parameters = Mapping[str, str]

ANSWERS = {
    101: """
        select p.title from catalogue_product p
        join catalogue_productcategory pc on pc.product_id = p.id join catalogue_category c on c.id = pc.category_id
        join partner_stockrecord s on s.product_id = p.id
        where c.name = :category and s.num_in_stock > coalesce(s.num_allocated, 0) and s.price = (
            select min(s2.price) from partner_stockrecord s2
            join catalogue_productcategory pc2 on pc2.product_id = s2.product_id
            where pc2.category_id = c.id and s2.num_in_stock > coalesce(s2.num_allocated, 0))""",
    102: """
        select printf('$%.2f', o.total_incl_tax) from order_order o
        join order_line l on l.order_id = o.id join auth_user u on u.id = o.user_id
        where u.username = 'ada' and l.title = :product""",
    103: """
        select u.first_name || ' ' || u.last_name from reviews_productreview r
        join catalogue_product p on p.id = r.product_id join auth_user u on u.id = r.user_id
        where p.title = :product and instr(r.body, :complaint) and r.status = 1""",
    112: """
        select printf('$%.2f', sum(total_incl_tax)) from order_order
        where status = :status and date(date_placed) between :first_day and :last_day""",
    201: """
        select u.username from forum_conversation_topic t
        join auth_user u on u.id = t.poster_id join forum_forum f on f.id = t.forum_id
        where f.name = :board and t.views_count = (
            select max(t2.views_count) from forum_conversation_topic t2 where t2.forum_id = f.id)""",
    202: """
        select u.username from forum_conversation_post p
        join forum_conversation_topic t on t.id = p.topic_id join auth_user u on u.id = p.poster_id
        where t.subject = :subject and p.content = :words""",
}
ADDRESSES = {
    104: """
        select '__SHOP__/catalogue/category/' || d.slug || '/' || c.slug || '_' || c.id || '/?sort_by=' ||
            case :order when 'Price high to low' then 'price-desc' when 'Price low to high' then 'price-asc'
            when 'Customer rating' then 'rating' end
        from catalogue_category c join catalogue_category d on d.path = substr(c.path, 1, 4)
        where c.name = :category""",
    105: """
        select '__SHOP__/catalogue/' || p.slug || '_' || p.id || '/' from catalogue_product p
        join catalogue_productattributevalue v on v.product_id = p.id
        join catalogue_productattribute a on a.id = v.attribute_id
        where a.code = 'material' and v.value_text = :material and p.title like '% ' || :kind""",
    206: """
        select '__FORUM__/member/profile/' || p.poster_id || '/' from forum_conversation_post p
        join forum_conversation_topic t on t.id = p.topic_id join forum_forum f on f.id = t.forum_id
        where f.name = :board order by p.created desc limit 1""",
}
ARTICLE = """
    select r.content from wiki_article a join wiki_articlerevision r on r.id = a.current_revision_id
    where r.title = :title"""
PATH = """
    select group_concat(slug, '/') from (
        select above.slug from wiki_urlpath u join wiki_article a on a.id = u.article_id
        join wiki_articlerevision r on r.id = a.current_revision_id
        join wiki_urlpath above on above.lft <= u.lft and above.rght >= u.rght and above.level > 0
        where r.title = :title order by above.level)"""


def answer(seed: sqlite3.Connection, template: int, given: Parameters) -> str:
    """The answer to a task that asks for something."""
    if template in WIKI_ANSWERS:
        return WIKI_ANSWERS[template](seed, given)
    return str(only(seed, ANSWERS[template], given))


def address(seed: sqlite3.Connection, template: int, given: Parameters) -> str:
    """Where a task leads that asks to go somewhere."""
    if template == 305:
        return article_address(seed, linked(seed, linked(seed, given["town"], "Twin town"), "River"))
    return str(only(seed, ADDRESSES[template], given))


def only(seed: sqlite3.Connection, sql: str, given: Parameters) -> Any:
    """The one value of a query; anything else means that a task is ambiguous or about nothing."""
    rows = {row[0] for row in seed.execute(sql, dict(given))}
    assert len(rows) == 1, f"{sql} with {given} gave {rows}"
    return rows.pop()


def price(seed: sqlite3.Connection, product: str) -> float:
    """What a product costs."""
    sql = """select s.price from partner_stockrecord s join catalogue_product p on p.id = s.product_id
        where p.title = :product"""
    return float(only(seed, sql, {"product": product}))


def stock(seed: sqlite3.Connection, product: str) -> int:
    """How many of a product can be bought."""
    sql = """select s.num_in_stock - coalesce(s.num_allocated, 0) from partner_stockrecord s
        join catalogue_product p on p.id = s.product_id where p.title = :product"""
    return int(only(seed, sql, {"product": product}))


def default_address(seed: sqlite3.Connection, user: str) -> tuple[str, str, str]:
    """Where a customer's orders go if nothing else is said: name of the account, street, post code."""
    sql = """select u.username || '|' || a.line1 || '|' || a.postcode from address_useraddress a
        join auth_user u on u.id = a.user_id where u.username = :user and a.is_default_for_shipping"""
    name, street, postcode = str(only(seed, sql, {"user": user})).split("|")
    return name, street, postcode


def title_of_material(seed: sqlite3.Connection, given: Parameters) -> str:
    """The product of a kind that is made of a material."""
    sql = ADDRESSES[105].replace("'__SHOP__/catalogue/' || p.slug || '_' || p.id || '/'", "p.title")
    return str(only(seed, sql, given))


def newest_order(seed: sqlite3.Connection, customer: str) -> str:
    """Number of a customer's newest order."""
    sql = """select o.number from order_order o join auth_user u on u.id = o.user_id
        where u.first_name || ' ' || u.last_name = :customer order by o.date_placed desc limit 1"""
    return str(only(seed, sql, {"customer": customer}))


def waiting_review(seed: sqlite3.Connection, product: str) -> int:
    """The review of a product that waits for moderation."""
    sql = """select r.id from reviews_productreview r join catalogue_product p on p.id = r.product_id
        where p.title = :product and r.status = 0"""
    return int(only(seed, sql, {"product": product}))


def topic_address(seed: sqlite3.Connection, subject: str) -> str:
    """Address of a topic."""
    sql = """select '__FORUM__/forum/' || f.slug || '-' || f.id || '/topic/' || t.slug || '-' || t.id || '/'
        from forum_conversation_topic t join forum_forum f on f.id = t.forum_id where t.subject = :subject"""
    return str(only(seed, sql, {"subject": subject}))


def article_address(seed: sqlite3.Connection, title: str) -> str:
    """Address of a wiki article."""
    return f"__WIKI__/{only(seed, PATH, {'title': title})}/"


def rows_renumbered(seed: sqlite3.Connection, parent: str) -> int:
    """How many rows of the wiki's tree get other bounds when an article comes to be the last child of `parent`."""
    sql = """select count(*) from wiki_urlpath u where u.rght >= (
            select p.rght from wiki_urlpath p join wiki_article a on a.id = p.article_id
            join wiki_articlerevision r on r.id = a.current_revision_id where r.title = :title)"""
    return int(only(seed, sql, {"title": parent}))


def article(seed: sqlite3.Connection, title: str) -> str:
    """The text of a wiki article."""
    return str(only(seed, ARTICLE, {"title": title}))


def fact(seed: sqlite3.Connection, town: str, name: str) -> str:
    """A fact of a town, from the table in its article."""
    found = re.search(rf"^\| {name} \| (.*?) \|", article(seed, town), re.MULTILINE)
    assert found is not None, f"{town} has no {name}"
    return found[1]


def linked(seed: sqlite3.Connection, town: str, name: str) -> str:
    """The title of the article that a fact of a town is a link to."""
    return fact(seed, town, name).partition("]")[0].removeprefix("[")


def bridges(seed: sqlite3.Connection, river: str) -> int:
    """How many bridges cross a river."""
    found = re.search(r"(\d+) bridges cross it", article(seed, river))
    assert found is not None, f"{river} has no bridges"
    return int(found[1])


def slug(title: str) -> str:
    """The last part of an article's address."""
    return title.lower().replace(" ", "-")


def _mayor(seed: sqlite3.Connection, given: Parameters) -> str:
    town = re.search(r"is held in \[(.*?)\]", article(seed, given["festival"]))
    assert town is not None
    return fact(seed, town[1], "Mayor")


def _superlative(seed: sqlite3.Connection, given: Parameters) -> str:
    name, sign = {
        "largest population": ("Population", 1),
        "highest elevation": ("Elevation", 1),
        "earliest year of foundation": ("Founded", -1),
    }[given["superlative"]]
    towns = re.findall(r"^- \[(.*?)\]", article(seed, given["region"]), re.MULTILINE)
    values = {town: sign * int(re.sub(r"\D", "", fact(seed, town, name))) for town in towns}
    best = [town for town, value in values.items() if value == max(values.values())]
    assert len(best) == 1, f"{given} is met by {best}"
    return best[0]


WIKI_ANSWERS: dict[int, Callable[[sqlite3.Connection, Parameters], str]] = {301: _mayor, 302: _superlative}
