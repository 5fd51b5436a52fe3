"""One server and one browser for all tests of the page in a module.

They do not outlive it: as long as a browser is open, Playwright has an event loop running in this
thread, and other tests want their own.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.web.pages import Watched, chromium, opened, served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


@pytest.fixture(scope="module")
def page_address(browser: Browser) -> Iterator[str]:
    with served() as address:
        yield address


@pytest.fixture
def page(browser: Browser, page_address: str) -> Iterator[Watched]:
    with opened(browser, page_address) as watched:
        yield watched
