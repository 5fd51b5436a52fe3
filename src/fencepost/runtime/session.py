"""Graphs in onnxruntime, with threads that sleep while there is nothing to do."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fencepost.batching.arrays import Floats
from fencepost.errors import ModelError

_FOLDER = "session.model_external_initializers_file_folder_path"
_ERRORS_ONLY = 3
_abandoned: list[Any] = []


class Session:
    """A graph that is ready to run, also in a process that was forked.

    Args:
        graph: as ONNX.
        weights: the file of its weights.
        threads: at most.
    """

    def __init__(self, graph: bytes, weights: Path, *, threads: int) -> None:
        self._graph, self._weights, self._threads = graph, weights.resolve(), threads
        self._file = self._weights.stat()
        self._open()

    def _open(self) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        options.add_session_config_entry(_FOLDER, str(self._weights.parent))
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Batches have ever other shapes: what is kept for one is of no use to the next.
        options.enable_cpu_mem_arena = False
        options.enable_mem_pattern = False
        self._session: Any = onnxruntime.InferenceSession(
            self._graph, options, providers=["CPUExecutionProvider"]
        )
        self._names = {one.name for one in self._session.get_inputs()}
        self._process = os.getpid()

    def __call__(self, **inputs: Any) -> Floats:
        """The output of the graph; inputs that it does not have are left out."""
        if self._process != os.getpid():
            # Threads do not come along when a process forks, and to let the old session go would
            # be to wait for them.
            _abandoned.append(self._session)
            self._check_file()
            self._open()
        some = {name: value for name, value in inputs.items() if name in self._names}
        output: Floats = self._session.run(None, some)[0]
        return output

    def _check_file(self) -> None:
        """Refuse another file of weights than the one that was checked when it was loaded."""
        try:
            now = self._weights.stat()
        except OSError as error:
            raise ModelError(f"{self._weights}: cannot be read: {error.strerror}") from error
        if (now.st_ino, now.st_size, now.st_mtime_ns) != (
            self._file.st_ino,
            self._file.st_size,
            self._file.st_mtime_ns,
        ):
            raise ModelError(f"{self._weights}: changed since it was loaded; load the model again")
