"""The page in a real browser: a server, a Chromium, and what is watched in every test."""

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Literal
from urllib.parse import urlsplit

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

import fencepost
from fencepost.web.app import make_app
from fencepost.web.settings import Settings

TEXT = "The director of the Museum of Modern Boats in Bergen saw the man with the telescope."
DESKTOP, PHONE = (1280, 900), (360, 740)
# Never a host of anyone else: Chromium would otherwise ask for its own updates.
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")

PATIENCE = 20_000  # milliseconds, for machines that have much else to do

expect.set_options(timeout=PATIENCE)

Scheme = Literal["light", "dark"]


@cache
def parser() -> fencepost.Parser:
    return fencepost.load(threads=1)


@contextmanager
def served(settings: Settings | None = None) -> Iterator[str]:
    """The address of a server that is there as long as the context is."""
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    config = uvicorn.Config(make_app(parser(), settings), log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server has not started"
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """The Chromium of this machine; without one, the test is skipped, or fails if one is needed."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        lacking = pytest.fail if os.environ.get("FENCEPOST_NEEDS_BROWSER") else pytest.skip
        lacking("no Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass
class Watched:
    """An open page, and what went wrong in it."""

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)  # of scripts, and all that the console has
    hosts: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))

    def open(self, path: str = "") -> None:
        self.page.goto(self.address + path)

    def open_anew(self) -> None:
        """Open the page as if nobody had been there before; only emulated media stay."""
        self.page.unroute_all()
        self.page.mouse.move(0, 0)
        self.page.evaluate("localStorage.clear(); sessionStorage.clear()")
        self.page.goto("about:blank")
        self.errors.clear()
        self.hosts.clear()
        self.open()
        self.page.locator("#sentences[aria-busy=false] .sentence").first.wait_for()

    def check(self) -> None:
        """Nothing failed but what a refusal is, and nobody else was asked."""
        refusals = "Failed to load resource"
        assert [error for error in self.errors if not error.startswith(refusals)] == []
        assert self.hosts <= {urlsplit(self.address).netloc, ""}  # a download has no host

    def layer(self, name: str) -> Locator:
        return self.page.locator(f"article[aria-label='Sentence 1'] .layer.{name}")

    def parse(self, text: str = TEXT) -> None:
        self.page.get_by_label("Text", exact=True).fill(text)
        self.page.get_by_role("button", name="Parse", exact=True).click()
        self.page.locator("#sentences[aria-busy=false]").wait_for()
        # Drawn when it comes near; below the whole text, that may be far down.
        self.page.locator("article[aria-label='Sentence 1']").scroll_into_view_if_needed()
        self.layer("tree").locator(".word").first.wait_for()

    def spans(self, layer: str) -> list[str]:
        """The spans that can be seen: start, end and label, in order."""
        found = (
            self.layer(layer)
            .locator("> .drawing .span")
            .evaluate_all(
                """elements => elements
                .filter(element => getComputedStyle(
                    element.querySelector(":scope > .label")).visibility === "visible")
                .map(({ dataset }) => [dataset.start, dataset.end, dataset.label].join(" "))"""
            )
        )
        return sorted(found)

    def choose(self, layer: str, start: int, end: int) -> None:
        """Choose two fence posts."""
        for boundary in (start, end):
            post = f"> .drawing .boundary[data-boundary='{boundary}']"
            self.layer(layer).locator(post).click()

    def overflow(self) -> int:
        """How many pixels the page is wider than its window."""
        root = "document.documentElement"
        width = self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth")
        assert isinstance(width, int)
        return width


@contextmanager
def window(
    browser: Browser,
    *,
    size: tuple[int, int] = DESKTOP,
    scheme: Scheme = "light",
    still: bool = True,
) -> Iterator[BrowserContext]:
    """A window, in which pages can be opened.

    Args:
        browser: in which.
        size: of the window.
        scheme: what the system prefers.
        still: whether the reader wants nothing to move; a parse is then not played by itself.
    """
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        reduced_motion="reduce" if still else "no-preference",
        has_touch=size == PHONE,
    )
    yield context
    context.close()


@contextmanager
def opened(context: BrowserContext, address: str) -> Iterator[Watched]:
    """The page at an address, checked when it is closed."""
    watched = Watched(context.new_page(), address)
    watched.open()
    yield watched
    watched.page.close()
    watched.check()
