"""Actions and observations on a real browser."""

from __future__ import annotations

import pytest
from browser_site import Site, act, number, shows_title
from site_proxy import Reply, Request
from webarena_under_test.browser import BrowserSession, InspectionFailed, Press, Type

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="module")]


def echo(request: Request) -> Reply:
    """Shows what a form sent."""
    return Reply(f"<title>Sent</title><h1>{request.method} {request.url.partition('?')[2]}{request.body.decode()}</h1>")


async def test_an_observation_has_tabs_address_and_numbered_tree(site: Site, session: BrowserSession) -> None:
    observation = await session.open(site.page("/tree", "<h1>Mugs</h1><a href=/>Home</a><p>In stock"))
    assert observation.text == (
        "Tab 0 (current): /tree\nURL: http://shop.test/tree\n\n"
        "[1] RootWebArea '/tree' focused: true\n\t[2] heading 'Mugs'\n\t[3] link 'Home'\n\t[4] StaticText 'In stock'"
    )
    assert (observation.url, observation.title, observation.truncated) == ("http://shop.test/tree", "/tree", False)


async def test_a_screenshot_is_taken_on_request(site: Site, session: BrowserSession) -> None:
    assert (await session.open(site.page("/shot", "hello"))).screenshot is None
    assert ((await session.observe(screenshot=True)).screenshot or b"").startswith(b"\x89PNG")


async def test_fields_show_what_they_hold_but_no_password(site: Site, session: BrowserSession) -> None:
    page = site.page("/held", "<select aria-label=Span><option>Day<option selected>Week</select>"
                     "<input type=checkbox checked aria-label=Gift><input value=abc aria-label=Name>"
                     "<input type=password value=s3cret aria-label=Secret>")  # fmt: skip
    text = (await session.open(page)).text
    assert "combobox 'Span' value: 'Week'" in text
    assert "checkbox 'Gift' checked: true" in text
    assert "textbox 'Name' value: 'abc'" in text
    assert "textbox 'Secret' value: '(hidden)'" in text
    assert "s3cret" not in text


async def test_a_click_follows_a_link_and_back_and_forward_return(site: Site, session: BrowserSession) -> None:
    site.page("/second", "<h1>Second")
    await session.open(site.page("/first", "<a href=/second>Next</a>"))
    assert (await act(session, "click {link 'Next'}"))[1].url == "http://shop.test/second"
    assert (await act(session, "go_back"))[1].url == "http://shop.test/first"
    assert (await act(session, "go_forward"))[1].url == "http://shop.test/second"


async def test_there_is_nothing_before_the_first_page(session: BrowserSession) -> None:
    await session.open("http://shop.test/")
    result, observation = await act(session, "go_back")
    assert (result.done, result.message) == (False, "there is no page to go back to")
    assert observation.text.startswith("Note: there is no page to go back to\nTab 0")
    assert (await act(session, "go_forward"))[0].message == "there is no page to go forward to"


async def test_typing_replaces_and_enter_submits(site: Site, session: BrowserSession) -> None:
    site.pages["http://shop.test/echo"] = echo
    await session.open(site.page("/form", "<form action=/echo><input name=q value=old aria-label=Search></form>"))
    _, observation = await act(session, "type {textbox 'Search'} [amber [x] mug] [0]")
    assert "value: 'amber [x] mug'" in observation.text
    _, observation = await act(session, "type {textbox 'Search'} [linen]")
    assert "heading 'GET q=linen'" in observation.text


async def test_typing_nothing_empties_a_field(site: Site, session: BrowserSession) -> None:
    await session.open(site.page("/empty", "<textarea aria-label=Note>old</textarea>"))
    assert "textbox 'Note' value" not in (await act(session, "type {textbox 'Note'} [] [0]"))[1].text


async def test_lines_are_typed_into_a_text_area(site: Site, session: BrowserSession) -> None:
    await session.open(site.page("/lines", "<textarea aria-label=Note></textarea>"))
    assert r"value: 'one\ntwo'" in (await act(session, "type {textbox 'Note'} [one\ntwo] [0]"))[1].text


async def test_an_editable_element_takes_text(site: Site, session: BrowserSession) -> None:
    await session.open(
        site.page("/rich", "<div contenteditable role=textbox aria-label=Body><p>old <b>text</b></p></div>")
    )
    _, observation = await act(session, "type {textbox 'Body'} [new words] [0]")
    assert "textbox 'Body' value: 'new words'" in observation.text


async def test_an_option_is_chosen_by_click_or_by_its_text(site: Site, session: BrowserSession) -> None:
    page = ("<select aria-label=Sort onchange=\"out.textContent = 'sorted by ' + value\"><option>Name"
            "<option value=p1>Price low<option value=p2>Price high<option disabled>Rating</select>"
            "<p id=out>")  # fmt: skip
    await session.open(site.page("/select", page))
    assert "sorted by p1" in (await act(session, "click {option 'Price low'}"))[1].text
    result, observation = await act(session, "type {combobox 'Sort'} [price  HIGH]")
    assert result.done
    assert "combobox 'Sort' value: 'Price high'" in observation.text
    assert "sorted by p2" in observation.text
    assert (await act(session, "type {combobox 'Sort'} [Weight]"))[0].message.endswith(
        "no such option; the options are 'Name', 'Price low', 'Price high'"
    )
    assert "the option is disabled" in (await act(session, "click {option 'Rating'}"))[0].message
    assert "click the number of an option" in (await act(session, "click {combobox 'Sort'}"))[0].message


async def test_a_date_is_set_and_a_wrong_one_is_refused(site: Site, session: BrowserSession) -> None:
    await session.open(site.page("/date", '<input type=date aria-label=Day onchange="document.title=value">'))
    assert (await act(session, "type {Date 'Day'} [2024-02-29]"))[1].title == "2024-02-29"
    result, _ = await act(session, "type {Date 'Day'} [29.2.2024]")
    assert result.message.endswith("takes a date written like 2024-12-31")


async def test_hover_scroll_and_keys(site: Site, session: BrowserSession) -> None:
    page = ("<button onmouseover=\"document.title='over'\">Menu</button><div style='height:3000px'></div>"
            "<script>addEventListener('scroll', () => document.title = 'at ' + scrollY);"
            "addEventListener('keydown', e => document.title = (e.ctrlKey ? 'ctrl ' : '') + e.key)"
            "</script>")  # fmt: skip
    await session.open(site.page("/inputs", page))
    assert (await act(session, "hover {button 'Menu'}"))[1].title == "over"
    assert (await act(session, "scroll [down]"))[1].title == "at 720"
    assert (await act(session, "scroll [up]"))[1].title == "at 0"
    assert (await act(session, "press [ctrl+k]"))[1].title == "ctrl k"
    assert (await act(session, "press [Nonsense]"))[0].message.startswith("there is no key 'Nonsense'")


async def test_what_cannot_be_done_is_a_message(site: Site, session: BrowserSession) -> None:
    page = ("<button disabled>Buy</button><input readonly aria-label=Code><button onclick='gone.remove()'>Drop</button>"
            "<a id=gone href=/>Gone</a>")  # fmt: skip
    first = await session.open(site.page("/refused", page))
    gone = number(first, "link 'Gone'")
    assert (await act(session, "click [99]"))[0].message.startswith("there is no element [99] in the last observation")
    assert "is disabled" in (await act(session, "click {button 'Buy'}"))[0].message
    assert "is read-only" in (await act(session, "type {textbox 'Code'} [x]"))[0].message
    assert "does not take text" in (await act(session, "type {link 'Gone'} [x]"))[0].message
    assert "the limit is 100000" in (await session.perform(Type(2, "x" * 1_000_000))).message
    await session.inspect(session.url)
    assert (await act(session, "click {button 'Drop'}"))[0].done
    assert "there is no element" in (await act(session, f"click [{gone}]"))[0].message


async def test_an_element_that_left_after_the_observation_is_a_message(site: Site, session: BrowserSession) -> None:
    page = site.page("/left", "<a id=x href=/>Soon gone</a><script>onkeydown = () => x.remove()</script>")
    link = number(await session.open(page), "link 'Soon gone'")
    await session.perform(Press("a"))
    assert (await act(session, f"click [{link}]"))[0].message == "the element is no longer on the page"


async def test_tabs_open_focus_and_close(session: BrowserSession) -> None:
    await session.open("http://shop.test/")
    assert (await act(session, "new_tab"))[1].text.startswith("Tab 0: Shop | Tab 1 (current): ")
    await act(session, "goto [http://shop.test/]")
    assert (await act(session, "tab_focus [0]"))[1].text.startswith("Tab 0 (current): Shop | Tab 1: Shop\n")
    assert (await act(session, "tab_focus [2]"))[0].message == "there is no tab 2; the tabs are 0 to 1"
    assert (await act(session, "close_tab"))[1].text.startswith("Tab 0 (current): Shop\n")
    assert (await act(session, "close_tab"))[1].url == "about:blank"


async def test_a_window_that_a_page_opens_is_the_current_tab(site: Site, session: BrowserSession) -> None:
    site.pages["http://shop.test/slow"] = Reply("<title>Slow</title>", delay_s=0.3)
    await session.open(site.page("/opens", "<a target=_blank href=/slow>Open</a>"))
    _, observation = await act(session, "click {link 'Open'}")
    assert observation.text.startswith("Tab 0: /opens | Tab 1 (current): Slow\nURL: http://shop.test/slow\n")


async def test_no_more_windows_than_the_limit(site: Site, session: BrowserSession) -> None:
    page = "<button onclick=\"for (let i = 0; i < 12; i++) window.open('/')\">Flood</button>"
    await session.open(site.page("/flood", page))
    _, observation = await act(session, "click {button 'Flood'}")
    assert observation.text.count("Note: a new window was refused: 10 tabs are open") == 3
    assert "Tab 9 (current): Shop" in observation.text
    assert (await act(session, "new_tab"))[0].message == "10 tabs are open, which is the limit; close one first"


async def test_dialogs_are_accepted_and_told(site: Site, session: BrowserSession) -> None:
    page = ("<script>onbeforeunload = e => e.preventDefault()</script><button onclick=\"alert('Bad address');"
            "document.title = confirm('Delete?') + ' ' + prompt('Name?', 'Ada')\">Go</button>")  # fmt: skip
    await session.open(site.page("/dialogs", page))
    _, observation = await act(session, "click {button 'Go'}")
    assert observation.title == "true Ada"
    assert observation.text.split("\n")[:3] == [
        "Note: the page opened a dialog (alert) saying 'Bad address'; it was accepted",
        "Note: the page opened a dialog (confirm) saying 'Delete?'; it was accepted",
        "Note: the page opened a dialog (prompt) saying 'Name?'; it was accepted",
    ]
    _, observation = await act(session, "goto [http://shop.test/]")
    assert observation.text.startswith("Note: the page opened a dialog (beforeunload); it was accepted\nTab 0")
    assert "Note" not in (await session.observe()).text


async def test_downloads_and_file_choosers_are_refused_and_told(site: Site, session: BrowserSession) -> None:
    site.pages["http://shop.test/file"] = Reply("x", headers={"Content-Disposition": "attachment; filename=a.csv"})
    await session.open(site.page("/files", "<a href=/file>Export</a><input type=file aria-label=Upload>"))
    _, observation = await act(session, "click {link 'Export'}")
    assert "the page offered the file 'a.csv'; downloads are refused" in observation.text
    assert observation.url == "http://shop.test/files"
    _, observation = await act(session, "click {button 'Upload'}")
    assert "the page asked for a file; there are none to choose" in observation.text


async def test_frames_are_seen_and_clicked(site: Site, session: BrowserSession) -> None:
    inner = "<button onclick=this.textContent=`Paid`>Pay</button>"
    site.page("/inner", inner)
    site.page("/inner", inner, host="forum.test")
    site.page("/middle", "<iframe src='/inner#deep'></iframe>")
    page = ("<iframe src='/inner#part'></iframe><iframe src=/middle></iframe><iframe src=http://forum.test/inner></iframe>"
            f"<iframe srcdoc='{inner}'></iframe>")  # fmt: skip
    observation = await session.open(site.page("/frames", page))
    assert observation.text.count("button 'Pay'") == 4
    for paid in range(1, 5):
        _, observation = await act(session, "click {button 'Pay'}")
        assert observation.text.count("button 'Paid'") == paid


async def test_a_page_is_waited_for_until_its_requests_are_done(site: Site, session: BrowserSession) -> None:
    site.pages["http://shop.test/data"] = Reply("ready", delay_s=0.4)
    script = "async function load() { out.textContent = await (await fetch('/data')).text() }"
    await session.open(
        site.page("/fetches", f"<script>{script}</script><p id=out>waiting</p><button onclick=load()>Load")
    )
    assert "StaticText 'ready'" in (await act(session, "click {button 'Load'}"))[1].text


async def test_a_redirect_by_the_page_itself_is_followed(site: Site, session: BrowserSession) -> None:
    site.page("/refresh", "<meta http-equiv=refresh content='0;url=/moved'>")
    site.page("/moved", "<script>location = '/final'</script>")
    site.page("/final", "<h1>Final</h1>")
    assert (await session.open("http://shop.test/refresh")).url == "http://shop.test/final"


async def test_a_page_that_never_stops_asking_settles(site: Site, session: BrowserSession) -> None:
    site.pages["http://shop.test/poll"] = Reply("x", delay_s=0.02)
    script = "<script>(async () => { for (;;) await fetch('/poll', {cache: 'no-store'}) })()</script>"
    assert (await session.open(site.page("/polling", script))).url == "http://shop.test/polling"


async def test_a_cookie_can_be_given_that_no_script_reads(site: Site, session: BrowserSession) -> None:
    site.pages["http://shop.test/who"] = lambda request: Reply(
        f"<script>document.title = 'script:' + document.cookie</script><h1>{request.headers.get('cookie')}</h1>"
    )
    await session.add_cookie("http://shop.test/", "sessionid", "abc")
    observation = await session.open("http://shop.test/who")
    assert "heading 'sessionid=abc'" in observation.text
    assert observation.title == "script:"


async def test_graders_look_at_pages_of_their_own(site: Site, session: BrowserSession) -> None:
    page = site.page("/graded", "<input aria-label=Name><h1>Total 12</h1>")
    await session.open(page)
    await act(session, "type {textbox 'Name'} [Ada] [0]")
    assert await session.inspect(page, "document.querySelector('h1').innerText") == "Total 12"
    assert await session.inspect(page, "document.querySelector('input').value") == ""
    assert await session.inspect(page) == "Total 12"
    assert "value: 'Ada'" in (await session.observe()).text
    assert "Tab 1" not in (await session.observe()).text
    with pytest.raises(InspectionFailed, match="nothing"):
        await session.inspect(page, "document.querySelector('#nothing').innerText")


async def test_pages_show_the_tasks_clock_and_timers_run(site: Site, session: BrowserSession) -> None:
    script = ("<p id=out></p><script>const started = Date.now();"
              "const shown = [new Date().toISOString(), Date().slice(0, 24), new Intl.DateTimeFormat('en').format(),"
              "new Date(0).getTime(), new Date() instanceof Date, Math.floor(started / 1e4), Math.random()].join(' ');"
              "const wait = () => Date.now() - started < 50 ? setTimeout(wait, 5) : show();"
              "const show = () => { out.textContent = shown; document.title = 'done' }; wait()"
              "</script>")  # fmt: skip
    await session.open(site.page("/clock", script))
    observation = await shows_title(session, "done")
    assert (
        "StaticText '2025-06-15T15:06:40.000Z Sun Jun 15 2025 15:06:40 6/15/2025 0 true 175000000 0."
        in observation.text
    )
