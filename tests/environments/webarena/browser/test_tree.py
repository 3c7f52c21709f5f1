"""The numbered tree, from nodes written by hand."""

from __future__ import annotations

from typing import Any

from webarena_under_test.browser.tree import render_tree


def node(number: int, role: str, name: str = "", children: tuple[int, ...] = (), **more: Any) -> dict[str, Any]:
    """An AXNode as the protocol sends it; its DOM node is 100 + its number."""
    made: dict[str, Any] = {
        "nodeId": str(number),
        "ignored": more.pop("ignored", False),
        "role": {"type": "role", "value": role},
        "name": {"type": "computedString", "value": name},
        "childIds": [str(child) for child in children],
        "backendDOMNodeId": 100 + number,
    }
    if "value" in more:
        made["value"] = {"type": "string", "value": more.pop("value")}
    made["properties"] = [{"name": k, "value": {"type": "x", "value": v}} for k, v in more.items()]
    return made


def test_lines_are_numbered_in_document_order_and_indented_by_depth() -> None:
    tree = render_tree([
        node(1, "RootWebArea", "Shop", (2, 5)),
        node(2, "navigation", "Main", (3, 4)),
        node(3, "link", "Home"),
        node(4, "link", "Basket"),
        node(5, "heading", "Mugs"),
    ])  # fmt: skip
    assert tree.text.split("\n") == [
        "[1] RootWebArea 'Shop'",
        "\t[2] navigation 'Main'",
        "\t\t[3] link 'Home'",
        "\t\t[4] link 'Basket'",
        "\t[5] heading 'Mugs'",
    ]
    assert tree.elements == {1: 101, 2: 102, 3: 103, 4: 104, 5: 105}
    assert not tree.truncated


def test_nameless_containers_and_ignored_nodes_are_left_out_but_not_what_they_hold() -> None:
    nodes = [node(1, "RootWebArea", "S", (2,)), node(2, "generic", "", (3,)), node(3, "x", "", (4,), ignored=True)]
    assert render_tree([*nodes, node(4, "button", "Buy")]).text == "[1] RootWebArea 'S'\n\t[2] button 'Buy'"


def test_text_is_kept_unless_its_parent_says_the_same() -> None:
    tree = render_tree([
        node(1, "RootWebArea", "S", (2, 4)),
        node(2, "link", "Home", (3,)),
        node(3, "StaticText", "Home", (5,)),
        node(4, "StaticText", "In stock"),
        node(5, "InlineTextBox", "Home"),
    ])  # fmt: skip
    assert tree.text.split("\n")[1:] == ["\t[2] link 'Home'", "\t[3] StaticText 'In stock'"]


def test_values_and_states_are_shown() -> None:
    tree = render_tree([
        node(1, "RootWebArea", "S", (2, 3, 4), focused=True),
        node(2, "textbox", "Name", value="Ada\nL.", required=True, disabled=False),
        node(3, "checkbox", "Gift", checked="false"),
        node(4, "button", "More", expanded=False, focusable=True, invalid="false"),
    ])  # fmt: skip
    assert tree.text.split("\n") == [
        "[1] RootWebArea 'S' focused: true",
        "\t[2] textbox 'Name' value: 'Ada\\nL.' required: true",
        "\t[3] checkbox 'Gift' checked: false",
        "\t[4] button 'More' expanded: false",
    ]


def test_a_fields_text_is_its_value_once() -> None:
    nodes = [node(1, "RootWebArea", "S", (2,)), node(2, "textbox", "Name", (3,), value="Ada")]
    assert render_tree([*nodes, node(3, "StaticText", "Ada")]).text.endswith("[2] textbox 'Name' value: 'Ada'")


def test_a_password_is_not_shown() -> None:
    tree = render_tree([node(1, "RootWebArea", "S", (2,)), node(2, "textbox", "Password", value="••••••")])
    assert tree.text.endswith("[2] textbox 'Password' value: '(hidden)'")


def test_names_are_one_line_without_icon_characters() -> None:
    tree = render_tree([node(1, "RootWebArea", "S", (2,)), node(2, "link", "\uf015 Home\n  page\u200b")])
    assert tree.text.endswith("link 'Home page'")


def test_a_frames_tree_hangs_below_its_element() -> None:
    outer = [node(1, "RootWebArea", "S", (2,)), node(2, "Iframe", "Pay")]
    inner = [node(1, "RootWebArea", "F", (2,)) | {"backendDOMNodeId": 500}]
    tree = render_tree([*outer], {102: [*inner, node(2, "button", "Pay") | {"backendDOMNodeId": 501}]})
    assert tree.text.split("\n")[1:] == ["\t[2] Iframe 'Pay'", "\t\t[3] RootWebArea 'F'", "\t\t\t[4] button 'Pay'"]
    assert tree.elements[4] == 501


def test_a_long_page_is_cut_at_a_line_and_says_so() -> None:
    links = [node(n, "link", f"Link {n}") for n in range(2, 1002)]
    tree = render_tree([node(1, "RootWebArea", "S", tuple(range(2, 1002))), *links], max_chars=1000)
    *lines, last = tree.text.split("\n")
    assert tree.truncated
    assert len("\n".join(lines)) <= 1000
    assert last == f"(the page goes on: {1001 - len(lines)} more lines are not shown, the limit is 1000 characters)"
    assert max(tree.elements) == len(lines)


def test_a_page_may_nest_deeper_than_python_recurses() -> None:
    chain = [node(n, "group", f"g{n}", (n + 1,)) for n in range(1, 5000)]
    assert render_tree([*chain, node(5000, "button", "Deep")], max_chars=10**9).text.endswith("[5000] button 'Deep'")


def test_no_nodes_are_an_empty_text() -> None:
    assert render_tree([]).text == ""
