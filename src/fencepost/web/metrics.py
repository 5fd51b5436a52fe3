"""Metrics of a server for Prometheus."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    exposition,
)

CONTENT_TYPE = exposition.CONTENT_TYPE_LATEST

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64)
_WORDS = (10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000)


class Metrics:
    """The metrics of one server, in a registry of its own.

    Args:
        waiting: returns the number of waiting requests.
    """

    def __init__(self, waiting: Callable[[], float]) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "fencepost_requests",
            "Requests that were answered.",
            ("route", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "fencepost_request_seconds",
            "Seconds until a request was answered.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self.refused = Counter(
            "fencepost_refused",
            "Requests that were refused.",
            ("reason",),
            registry=self.registry,
        )
        self.words = Counter("fencepost_words", "Words parsed.", registry=self.registry)
        self.sentences = Counter("fencepost_sentences", "Sentences parsed.", registry=self.registry)
        self.batch_requests = Histogram(
            "fencepost_batch_requests",
            "Requests that were parsed together.",
            buckets=_REQUESTS,
            registry=self.registry,
        )
        self.batch_words = Histogram(
            "fencepost_batch_words",
            "Words that were parsed together.",
            buckets=_WORDS,
            registry=self.registry,
        )
        gauge = Gauge("fencepost_waiting", "Requests that wait.", registry=self.registry)
        gauge.set_function(waiting)

    def text(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return exposition.generate_latest(self.registry)
