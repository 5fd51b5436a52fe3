"""What people with disabilities would stumble over, as far as axe-core can tell."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.web.pages import DESKTOP, PHONE, Scheme, Watched, opened

pytestmark = pytest.mark.slow

TEXT = "The cat saw a dog."
AXE = Path(__file__).parent / "node_modules/axe-core/axe.min.js"


def empty(page: Watched) -> None:
    expect(page.page.get_by_role("heading", name="Look")).to_be_visible()


def parsed(page: Watched) -> None:
    page.parse(TEXT)
    page.layer("tree").get_by_text("Brackets").click()
    page.layer("tree").locator(".span").nth(1).focus()


def choosing(page: Watched) -> None:
    page.parse(TEXT)
    page.choose("tree", 1, 3)


def contradicting(page: Watched) -> None:
    page.parse(TEXT)
    for start, end in ((1, 3), (2, 4)):
        page.choose("tree", start, end)
        page.layer("tree").get_by_role("button", name="Require", exact=True).click()
        expect(page.layer("tree").get_by_role("status")).not_to_be_empty()
    expect(page.layer("tree").locator(".note.refusal")).to_be_visible()


def readings(page: Watched) -> None:
    page.parse(TEXT)
    page.layer("tree").get_by_role("button", name="Readings").click()
    expect(page.layer("tree").locator(".reading")).to_have_count(3)


def playing(page: Watched) -> None:
    page.parse(TEXT)
    page.layer("entities").get_by_role("button", name="Play the parse").click()
    page.layer("entities").get_by_role("button", name="Forward").click()


def asked_for_a_token(page: Watched) -> None:
    refusal = {"error": {"status": 401, "message": "this server wants a token"}}
    page.page.route("**/v1/parse", lambda route: route.fulfill(status=401, json=refusal))
    page.page.get_by_role("button", name="Parse", exact=True).click()
    expect(page.page.get_by_label("Token of this server")).to_be_visible()


STATES = (empty, parsed, choosing, contradicting, readings, playing, asked_for_a_token)


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["light", "dark-phone"]
)
@pytest.mark.parametrize("state", STATES)
def test_nobody_is_kept_out(
    browser: Browser,
    page_address: str,
    state: Callable[[Watched], None],
    scheme: Scheme,
    size: tuple[int, int],
) -> None:
    if not AXE.exists():
        pytest.skip("no axe-core: npm ci --prefix tests/web")
    with opened(browser, page_address, scheme=scheme, size=size) as page:
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
