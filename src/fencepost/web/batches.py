"""The queue of jobs, and the thread that parses them in batches."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from fencepost.parser.parser import Parser
from fencepost.web.errors import busy, ended
from fencepost.web.jobs import Answered, Job, parse_alone, parse_together
from fencepost.web.settings import Settings

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Ticket:
    """A waiting job and its future answer."""

    job: Job
    since: float  # when it arrived
    answer: Future[list[Answered]] = field(default_factory=Future)
    unwanted: threading.Event = field(default_factory=threading.Event)


class Batches:
    """A queue of jobs, and the thread that parses them.

    The first job in the queue is always next. Other jobs that can be parsed together with it join
    its batch, up to `batch_words`. So no job overtakes another more than once, and batches grow
    with the load.

    Args:
        parser: the parser, used only by this thread.
        settings: the limits of the queue.
        parsed: called with the jobs of each batch.
    """

    def __init__(
        self,
        parser: Parser,
        settings: Settings,
        *,
        parsed: Callable[[Sequence[Job]], None] = lambda jobs: None,
    ) -> None:
        self.parser = parser
        self.settings = settings
        self._parsed = parsed
        self._line: deque[Ticket] = deque()
        self._words = 0  # in the queue
        self._inside = 0  # requests with a place
        self._end: float | None = None  # when waiting requests are refused, while closing
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    @property
    def waiting(self) -> int:
        """The number of jobs in the queue."""
        return len(self._line)

    @property
    def is_closing(self) -> bool:
        """Whether new jobs are refused."""
        return self._end is not None

    @property
    def is_over(self) -> bool:
        """Whether waiting jobs are refused."""
        return self._end is not None and time.monotonic() > self._end

    @property
    def is_busy(self) -> bool:
        """Whether the parsing thread is running."""
        return self._thread is not None and self._thread.is_alive()

    def open(self) -> None:
        """Accept jobs, also after `close`."""
        with self._changed:
            self._end = None

    @contextmanager
    def place(self) -> Iterator[None]:
        """A place for a request, from its arrival to its answer.

        Raises:
            RefusedError: all places are taken.
        """
        with self._changed:
            self._refuse_when_closing()
            if self._inside >= self.settings.queue:
                raise busy(
                    f"{self.settings.queue} requests are here already; try again later",
                    reason="queue",
                )
            self._inside += 1
        try:
            yield
        finally:
            with self._changed:
                self._inside -= 1

    def submit(self, job: Job) -> Ticket:
        """Add a job to the queue.

        Raises:
            RefusedError: too many words are waiting.
        """
        ticket = Ticket(job, time.monotonic())
        with self._changed:
            self._refuse_when_closing()
            if self._line and self._words + job.size > self.settings.queue_words:
                raise busy(
                    f"{self._words:,} words are waiting already; try again later", reason="words"
                )
            self._line.append(ticket)
            self._words += job.size
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="fencepost", daemon=True)
                self._thread.start()
            self._changed.notify_all()
        return ticket

    def withdraw(self, ticket: Ticket) -> bool:
        """Remove a job from the queue; False if it is being parsed, or has been."""
        withdrawn = ticket.answer.cancel()
        with self._changed:
            if ticket in self._line:
                self._line.remove(ticket)
                self._words -= ticket.job.size
        return withdrawn

    def forget(self, ticket: Ticket) -> None:
        """Cancel a job for which no client waits, as far as possible."""
        ticket.unwanted.set()
        self.withdraw(ticket)

    def begin_closing(self) -> float:
        """Refuse new jobs from now on; returns the time when waiting ones will be refused."""
        with self._changed:
            if self._end is None:
                self._end = time.monotonic() + self.settings.closing
            self._changed.notify_all()
            return self._end

    def close(self) -> None:
        """Refuse new jobs, and finish waiting ones within the time limit."""
        end = self.begin_closing()
        thread = self._thread
        if thread is not None:
            thread.join(max(0.0, end - time.monotonic()))
        with self._changed:
            left, self._line, self._words = self._line, deque(), 0
        for ticket in left:
            if ticket.answer.set_running_or_notify_cancel():
                ticket.answer.set_exception(ended())

    def _refuse_when_closing(self) -> None:
        if self.is_closing:
            raise ended()

    def _work(self) -> None:
        """Parse batches until the queue is empty and closed."""
        while tickets := self._next():
            self._parse(tickets)

    def _next(self) -> list[Ticket]:
        """The next batch; empty if the thread should end."""
        with self._changed:
            while True:
                while not self._line:
                    if self.is_closing:
                        self._thread = None  # a new job starts another one
                        return []
                    self._changed.wait()
                self._gather()
                taken = self._taken()
                if taken:
                    return taken

    def _gather(self) -> None:
        """Wait a moment for other jobs, unless the next batch is full, or the queue closed."""
        while self._line and not self._line[0].job.is_alone and not self.is_closing:
            left = self._line[0].since + self.settings.gather - time.monotonic()
            if left <= 0 or self._words >= self.settings.batch_words:
                return
            self._changed.wait(left)

    def _taken(self) -> list[Ticket]:
        """Remove the first job and those that join it from the queue."""
        taken: list[Ticket] = []
        left: deque[Ticket] = deque()
        words = 0
        for ticket in self._line:
            job = ticket.job
            fits = words + job.size <= self.settings.batch_words
            if taken and not (fits and taken[0].job.goes_with(job)):
                left.append(ticket)
                continue
            if time.monotonic() > ticket.since + self.settings.max_wait:
                ticket.answer.cancel()
            if ticket.answer.set_running_or_notify_cancel():
                taken.append(ticket)
                words += job.size
        self._line = left
        self._words = sum(ticket.job.size for ticket in left)
        return taken

    def _parse(self, tickets: Sequence[Ticket]) -> None:
        """Parse a batch; a job that fails does not affect others."""
        jobs = [ticket.job for ticket in tickets]
        self._parsed(jobs)
        if len(jobs) > 1:
            try:
                answered = parse_together(self.parser, jobs, is_wanted=_wanted(tickets))
            except Exception:
                _log.warning("%d requests failed together; now one by one", len(jobs))
            else:
                for ticket, answers in zip(tickets, answered, strict=True):
                    ticket.answer.set_result(answers)
                return
        for ticket in tickets:
            try:
                ticket.answer.set_result(self._one(ticket))
            except Exception as error:
                _log.exception("a request could not be parsed")
                ticket.answer.set_exception(error)

    def _one(self, ticket: Ticket) -> list[Answered]:
        is_wanted = _wanted([ticket])
        if ticket.job.is_alone:
            return parse_alone(self.parser, ticket.job, is_wanted=is_wanted)
        (answers,) = parse_together(self.parser, [ticket.job], is_wanted=is_wanted)
        return answers


def _wanted(tickets: Sequence[Ticket]) -> Callable[[], bool]:
    """A function that tests whether any client still waits."""
    return lambda: not all(ticket.unwanted.is_set() for ticket in tickets)
