"""What people with disabilities would stumble over, as far as axe-core can tell."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.pages import DESKTOP, PHONE, Watched, opened, window

pytestmark = pytest.mark.slow

TEXT = "The cat saw a dog."
AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"


def empty(page: Watched) -> None:
    expect(page.page.get_by_role("heading", name="Look")).to_be_visible()
    page.layer("tree").locator(".word").first.wait_for()


def reading(page: Watched) -> None:
    """All that shows something: readings, brackets, a player, and a span that is pointed at."""
    page.parse(TEXT)
    page.layer("tree").get_by_role("button", name="Readings").click()
    expect(page.layer("tree").locator(".reading")).to_have_count(3)
    page.layer("entities").get_by_role("button", name="Play the parse").click()
    page.layer("entities").get_by_role("button", name="Forward").click()
    page.page.get_by_text("Search the parses").click()
    page.page.get_by_label("A label, a word or a pattern").fill("NP | cat")
    page.page.get_by_role("button", name="Search", exact=True).click()
    expect(page.page.locator(".matches li").first).to_be_visible()
    page.layer("tree").locator("> .drawing .span").nth(1).focus()


def a_long_text(page: Watched) -> None:
    """A text of several sentences, one of which is wider than its place."""
    page.parse(
        f"{' and '.join(['the man saw the director of the Museum of Boats'] * 5)}. It slept."
    )
    expect(page.page.get_by_role("heading", name="The whole text")).to_be_visible()
    page.layer("tree").get_by_role("button", name="Larger").click()
    expect(page.layer("tree").locator("> .drawing.zoomed")).to_be_visible()


def asking(page: Watched) -> None:
    """All that asks for something: constraints that contradict each other, and one to choose."""
    page.parse(TEXT)
    for start, end in ((1, 3), (2, 4)):
        page.choose("tree", start, end)
        page.layer("tree").get_by_role("button", name="Require", exact=True).click()
        expect(page.layer("tree").get_by_role("status")).not_to_be_empty()
    expect(page.layer("tree").locator(".note.refusal")).to_be_visible()
    page.choose("entities", 1, 3)
    expect(page.layer("entities").get_by_role("group", name="Constraint")).to_be_visible()


def asked_for_a_token(page: Watched) -> None:
    refusal = {"error": {"status": 401, "message": "this server wants a token"}}
    page.page.route("**/v1/parse", lambda route: route.fulfill(status=401, json=refusal))
    page.page.get_by_role("button", name="Parse", exact=True).click()
    expect(page.page.get_by_label("Token of this server")).to_be_visible()


@pytest.fixture(
    scope="module",
    params=[("light", DESKTOP), ("dark", PHONE)],
    ids=["light", "dark-phone"],
)
def tab(request: pytest.FixtureRequest, browser: Browser, page_address: str) -> Iterator[Watched]:
    scheme, size = request.param
    with (
        window(browser, scheme=scheme, size=size) as context,
        opened(context, page_address) as watched,
    ):
        yield watched


@pytest.mark.parametrize("state", [empty, reading, a_long_text, asking, asked_for_a_token])
def test_nobody_is_kept_out(page: Watched, state: Callable[[Watched], None]) -> None:
    if not AXE.exists():
        pytest.skip("no axe-core: npm ci --prefix tests/web")
    state(page)
    page.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.page.evaluate(
        """async () => {
            const { violations } = await axe.run();
            return violations.flatMap(({ id, nodes }) =>
                nodes.map(({ html, failureSummary }) => `${id}: ${html}\\n${failureSummary}`));
        }"""
    )
    assert found == []
