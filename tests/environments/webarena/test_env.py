"""webarena through the real server: what actions show, what mistakes cost, and how episodes are rewarded."""

from __future__ import annotations

import re

import pytest
from web_server import Web

from envhub.clients import Session
from envhub.sdk import ImagePart, Observation, ToolCall, ToolResultPart

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]

HOME = "webarena-0"
BASKET = "webarena-1"


def number_of(observation: Observation, line: str) -> int:
    """The number of the first element whose line begins so."""
    found = re.search(rf"^\s*\[(\d+)\] {re.escape(line)}", observation.text, re.MULTILINE)
    assert found is not None, f"no {line} in\n{observation.text}"
    return int(found[1])


def note_of(observation: Observation) -> str:
    first = observation.text.partition("\n")[0]
    return first.removeprefix("Note: ") if first.startswith("Note: ") else ""


async def test_it_calls_itself_the_local_suite(web: Web) -> None:
    info = await web.client.info()
    assert info.environments[0].title == "webarena (local suite)"


async def test_prompt_names_sites_account_and_time_but_no_session(web: Web) -> None:
    async with web.client.session(task="webarena-4") as session:
        told = "\n".join(str(message.content) for message in session.prompt)
        assert "a shop at http://shop.test/, a forum at http://forum.test/, a wiki at http://wiki.test/" in told
        assert "Friday, 04 July 2025, 20:30" in told
        assert "user name ada" in told
        assert not re.search(r"127\.0\.0\.1|localhost|:\d{4,5}", told)
        assert web.visit(session).site.username not in told + session.observation.text


async def test_messages_and_tools_do_the_same(web: Web) -> None:
    async with web.client.session(task=HOME) as told, web.client.session(task=HOME) as called:
        assert told.observation == called.observation
        field = number_of(told.observation, "textbox 'Search'")
        by_message = await told.step(f"I search.\n```type [{field}] [mug] [1]```")
        by_tool = await called.call("type", element_id=field, text="mug")
        assert by_message.observation.text == by_tool.observation.text
        assert "URL: http://shop.test/search/?q=mug" in by_message.observation.text
        for message, call in [
            ("new_tab", ToolCall(name="new_tab")),
            ("goto [http://wiki.test/]", ToolCall(name="goto", arguments={"url": "http://wiki.test/"})),
            ("tab_focus [0]", ToolCall(name="tab_focus", arguments={"index": 0})),
            ("go_back", ToolCall(name="go_back")),
            ("go_forward", ToolCall(name="go_forward")),
            ("scroll [down]", ToolCall(name="scroll", arguments={"direction": "down"})),
            ("press [Tab]", ToolCall(name="press", arguments={"keys": "Tab"})),
            (f"hover [{field}]", ToolCall(name="hover", arguments={"element_id": field})),
            ("close_tab", ToolCall(name="close_tab")),
        ]:
            assert (await told.step(message)).observation.text == (await called.step(call)).observation.text


async def test_calls_of_one_action_are_done_one_after_the_other(web: Web) -> None:
    async with web.client.session(task=HOME) as session:
        calls = [ToolCall(name="goto", arguments={"url": f"http://{site}.test/"}) for site in ("wiki", "forum")]
        result = await session.step([*calls, ToolCall(name="stop", arguments={"answer": "42"})])
        first, second, last = (part for part in result.observation.parts if isinstance(part, ToolResultPart))
        assert "URL: http://wiki.test/" in str(first.content)
        assert "URL: http://forum.test/" in str(second.content)
        assert not last.is_error
        assert (result.terminated, result.reward) == (True, 1.0)


BAD_ACTIONS = [
    ("", "there is no action"),
    ("I do not know what to do", "is not an action"),
    ("click [99999]", "no element [99999]"),
    ("click 5", "is not complete"),
    ("goto [http://example.com/]", "cannot be opened"),
    ("goto [http://127.0.0.1:80/]", "cannot be opened"),
    ("goto [file:///etc/passwd]", "cannot be opened"),
    ("goto [javascript:alert(1)]", "cannot be opened"),
    ("goto [http://shop.test/no-such-page/]", ""),
    ("tab_focus [7]", "no tab 7"),
    ("press [NoSuchKey]", "no key"),
    ("go_forward", "no page to go forward"),
    ("type [99999] [" + "x" * 50_000 + "]", "no element [99999]"),
    ("x" * 900_000, "the limit is"),
]


async def test_a_bad_action_is_a_note_and_costs_a_turn(web: Web) -> None:
    async with web.client.session(task=HOME) as session:
        for index, (action, note) in enumerate(BAD_ACTIONS):
            result = await session.step(action)
            assert note in note_of(result.observation), action[:80]
            assert "URL: http://shop.test/" in result.observation.text
            assert session.steps == index + 1
            assert (result.reward, result.end) == (None, None)


async def test_bad_arguments_of_tools_are_error_results(web: Web) -> None:
    async with web.client.session(task=HOME) as session:
        for call in [
            ToolCall(name="click", arguments={"element_id": "five"}),
            ToolCall(name="click", arguments={"element": 5}),
            ToolCall(name="scroll", arguments={"direction": "left"}),
            ToolCall(name="fly", arguments={}),
            ToolCall(name="stop", arguments={"reply": "42"}),
        ]:
            (part,) = (await session.step(call)).observation.parts
            assert isinstance(part, ToolResultPart)
            assert part.is_error
        result = await session.call("type", element_id=10**30, text="x" * 200_000)
        assert "no element" in note_of(result.observation)


async def test_screenshot_is_a_picture_beside_the_text(web: Web) -> None:
    async with web.client.session(task=HOME) as session:
        (part,) = (await session.call("screenshot")).observation.parts
        assert isinstance(part, ToolResultPart)
        text, picture = part.content
        assert text.type == "text"
        assert isinstance(picture, ImagePart)
        assert picture.data is not None
        assert picture.data.startswith("iVBORw0KGgo")


async def test_the_answer_is_rewarded_and_every_evaluator_reported(web: Web) -> None:
    async with web.client.session(task=HOME) as session:
        result = await session.step("stop [It is 42.]")
        assert (result.reward, result.rewards, result.end) == (1.0, {"success": 1.0}, "terminated")
        metrics = result.info["metrics"]
        assert (metrics["string_match"], metrics["unchanged"]) == (1.0, 1.0)
        assert metrics["requests"] > 1
    async with web.client.session(task=HOME) as session:
        result = await session.step("stop [41]")
        assert (result.reward, result.info["metrics"]["string_match"]) == (0.0, 0.0)


async def test_an_episode_cut_at_max_turns_is_graded_without_an_answer(web: Web) -> None:
    async with web.client.session(task=BASKET, max_turns=1) as session:
        result = await session.step("goto [http://shop.test/basket/]")
        assert (result.end, result.reward) == ("max_turns", 1.0)
    async with web.client.session(task=HOME, max_turns=1) as session:
        result = await session.step("42")
        assert (result.end, result.reward) == ("max_turns", 0.0)


async def test_login_is_there_from_the_first_page_and_only_there(web: Web) -> None:
    async with web.client.session(task=BASKET) as session, web.client.session(task=HOME) as stranger:
        assert "link 'Logout'" in session.observation.text
        assert "link 'Logout'" not in stranger.observation.text
        forum = (await session.step("goto [http://forum.test/]")).observation.text
        assert "View my posts" in forum
        wiki = (await session.step("goto [http://wiki.test/]")).observation.text
        assert "Log in" in wiki


async def test_what_else_changed_fails_the_task(web: Web) -> None:
    async with web.client.session(task=BASKET) as session:
        page = await session.step("goto [http://shop.test/catalogue/?q=]")
        button = number_of(page.observation, "button 'Add to ")
        added = await session.step(f"click [{button}]")
        assert not note_of(added.observation)
        await session.step("goto [http://shop.test/basket/]")
        result = await session.step("stop []")
        metrics = result.info["metrics"]
        assert (metrics["url_match"], metrics["program_html"], metrics["unchanged"]) == (1.0, 1.0, 0.0)
        assert result.reward == 0.0


async def test_grading_looks_at_a_fresh_page(web: Web) -> None:
    async with web.client.session(task=BASKET) as session:
        # The basket's address is right; what the page shows and how it answers questions was tampered with.
        await session.step("goto [http://shop.test/accounts/profile/]")
        await web.page(session).evaluate(
            "history.pushState({}, '', '/basket/'); document.querySelector = () => ({innerText: 'Basket'})"
        )
        assert (await session.step("scroll [down]")).observation.text.count("URL: http://shop.test/basket/") == 1
        honest = await session.step("stop []")
        assert honest.reward == 1.0, "the fresh page is the real basket"
    async with web.client.session(task=BASKET) as session:
        await web.page(session).evaluate("document.querySelector = () => ({innerText: 'Basket'})")
        result = await session.step("stop []")
        assert (result.reward, result.info["metrics"]["program_html"]) == (0.0, 0.0)


@pytest.mark.parametrize("task", ["webarena-2", "webarena-3"])
async def test_failed_grading_is_unresolved_and_never_zero(web: Web, task: str) -> None:
    async with web.client.session(task=task) as session:
        result = await session.step("stop []")
        assert (result.end, result.reward, result.rewards) == ("unresolved", None, {})
        status = await session.status()
        assert status.error is not None
        assert status.error["code"] == "grading"


async def test_requests_to_other_addresses_are_refused_and_counted(web: Web) -> None:
    async with web.client.session(task=HOME) as session:
        reached = await web.page(session).evaluate(
            "Promise.allSettled(['http://127.0.0.1:80/', 'http://example.com/'].map(a => fetch(a, {mode: 'no-cors'})))"
            ".then(all => all.length)"
        )
        assert reached == 2
        result = await session.step("stop [42]")
        assert result.info["metrics"]["requests_refused"] == 2.0
        assert result.reward == 1.0


async def test_pages_show_the_tasks_time(web: Web) -> None:
    async with web.client.session(task="webarena-4") as session:
        assert await web.page(session).evaluate("new Date().toISOString()") == "2025-07-04T20:30:00.000Z"


async def test_sessions_of_one_task_begin_alike_and_share_nothing(web: Web) -> None:
    sessions: list[Session] = [await web.client.open(task=BASKET) for _ in range(3)]
    try:
        assert len({session.observation.text for session in sessions}) == 1
        page = await sessions[0].step("goto [http://shop.test/catalogue/?q=]")
        button = number_of(page.observation, "button 'Add to ")
        await sessions[0].step(f"click [{button}]")
        baskets = [(await each.step("goto [http://shop.test/basket/]")).observation.text for each in sessions]
        assert baskets[0] != baskets[1] == baskets[2]
    finally:
        for session in sessions:
            await session.close()
