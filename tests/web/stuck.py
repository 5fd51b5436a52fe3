"""A server whose parser never ends.

`python -m tests.web.stuck SECONDS` says where it listens; when it is told to end, it waits so long.
"""

import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from fencepost.parser.asking import Asked
from fencepost.parser.inputs import Input
from fencepost.parser.parser import Parser
from fencepost.parser.predict import Done
from fencepost.structure import Document
from fencepost.web.app import make_app
from fencepost.web.serving import address_of, listen, serve
from fencepost.web.settings import Settings
from tests.web.serving import PARSER


class Stuck(Parser):
    """A parser whose worker is busy for a long while, as with a very long text."""

    def stream(
        self, xs: Iterable[Input], asked: Asked, *, done: Done | None = None
    ) -> Iterator[Document]:
        with ThreadPoolExecutor(1) as worker:
            worker.submit(time.sleep, 60).result()
        return super().stream(xs, asked, done=done)


if __name__ == "__main__":
    closing = float(sys.argv[1])
    app = make_app(Stuck(PARSER.model), Settings(closing=closing))
    with listen("127.0.0.1", 0) as listening:
        sys.stderr.write(f"{address_of(listening, '127.0.0.1')}\n")
        sys.stderr.flush()
        serve(app, listening, closing=closing)
