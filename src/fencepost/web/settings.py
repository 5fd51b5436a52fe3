"""Limits and waits of a server."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

MOST_READINGS = 20  # of a sentence
MOST_BEAMS = 50
MOST_SPANS = 500  # that a request may require, and as many that it may forbid
MOST_PHRASES = 5_000  # of a gazetteer
MOST_MATCHES = 1_000  # of a search
LONG_WORD = 20  # characters; a longer word counts for several


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of a server; what is beyond one is refused with a message that names it."""

    max_body: int = 2**20  # bytes of a request
    max_words: int = 20_000  # of a request
    max_inputs: int = 1_000  # of a request
    # What is found sentence by sentence is slower, and steps tell of each boundary at each.
    max_close_words: int = 500  # of a request with n_best, steps, must or forbid
    max_beam_words: int = 100_000  # words of a request times its beams
    max_wait: float = 10.0  # seconds until a request is parsed
    max_upload: float = 30.0  # seconds until a request is read
    max_search: float = 5.0  # seconds that the matches of a request may take
    max_idle: float = 10.0  # seconds until the head of a request is there, or an answer is taken
    max_connections: int = 900  # most systems let a process have about 1,000 files open
    max_requests: int = 800  # that are read or answered at a time, whatever they ask for
    queue: int = 64  # requests that are waited for, parsed or answered at a time
    queue_words: int = 100_000  # that wait
    batch_words: int = 3_000  # of requests that are parsed together
    gather: float = 0.003  # seconds that the first request of a batch waits for others
    closing: float = 10.0  # seconds that are left, at the end, to answer those that wait
    token: str | None = field(default=None, repr=False)  # a secret; None: everybody may ask
    hosts: tuple[str, ...] | None = None  # names that the server answers to; None: any
    local: Path | None = None  # a page that `fencepost export-web` has written, for /local
