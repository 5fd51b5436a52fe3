"""Settings of a server: limits and time-outs."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

MOST_READINGS = 20  # n-best parses of a sentence
MOST_BEAMS = 50
MOST_SPANS = 500  # in must, and in forbid
MOST_PHRASES = 5_000  # of a gazetteer
MOST_MATCHES = 1_000  # of a search
LONG_WORD = 20  # characters; a longer word counts for several


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server; a request beyond a limit is refused by name of the limit."""

    max_body: int = 2**20  # bytes of a request
    max_words: int = 20_000  # of a request
    max_inputs: int = 1_000  # of a request
    # Parsing sentence by sentence is slower, and each step lists all boundaries.
    max_close_words: int = 500  # of a request with n_best, steps, must or forbid
    max_beam_words: int = 100_000  # words of a request times its beams
    max_wait: float = 10.0  # seconds until a request is parsed
    max_upload: float = 30.0  # seconds until a request is read
    max_search: float = 5.0  # seconds that the matches of a request may take
    max_idle: float = 10.0  # seconds to send the head of a request, or to take an answer
    max_connections: int = 900  # most systems limit a process to about 1,000 open files
    max_requests: int = 800  # of any kind at a time
    queue: int = 64  # requests to parse or search at a time
    queue_words: int = 100_000  # words waiting to be parsed
    batch_words: int = 3_000  # words parsed together
    gather: float = 0.003  # seconds that the first request of a batch waits for others
    closing: float = 10.0  # seconds for waiting requests when the server stops
    token: str | None = field(default=None, repr=False)  # a secret; None: no authentication
    hosts: tuple[str, ...] | None = None  # names that the server answers to; None: any
    local: Path | None = None  # a page written by `fencepost export-web`, for /local
