"""One server, one browser and one page for all tests of the page in a module.

They do not outlive it: as long as a browser is open, Playwright has an event loop running in this
thread, and other tests want their own.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext

from tests.web.pages import Watched, chromium, opened, served, window


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def page_address(browser: Browser) -> Iterator[str]:
    with served() as address:
        yield address


@pytest.fixture(scope="module")
def desktop(browser: Browser) -> Iterator[BrowserContext]:
    with window(browser) as context:
        yield context


@pytest.fixture(scope="module")
def tab(desktop: BrowserContext, page_address: str) -> Iterator[Watched]:
    with opened(desktop, page_address) as watched:
        yield watched


@pytest.fixture
def page(tab: Watched) -> Iterator[Watched]:
    tab.open_anew()
    yield tab
    tab.check()
