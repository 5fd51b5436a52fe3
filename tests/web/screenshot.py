"""The picture of the page in its guide: `python -m tests.web.screenshot` makes it anew."""

from pathlib import Path

from tests.web.pages import Watched, chromium, opened, served, window

PICTURE = Path(__file__).parents[2] / "docs/guides/explore.png"
SIZE = (1080, 1130)
STEP = "18"  # where the pointer has two good choices


def play(page: Watched) -> None:
    """Stop at a step of a tree, with nothing in focus."""
    page.parse()
    tree = page.layer("tree")
    tree.get_by_role("button", name="Play the parse").click()
    tree.get_by_role("slider", name="Step").fill(STEP)
    page.page.mouse.move(0, 0)
    page.page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")


if __name__ == "__main__":
    with (
        served() as address,
        chromium() as browser,
        window(browser, size=SIZE) as context,
        opened(context, address) as page,
    ):
        play(page)
        page.page.screenshot(path=PICTURE)
