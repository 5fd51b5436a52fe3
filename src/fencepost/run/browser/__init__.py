"""A folder of static files with a page that parses in the visitor's own browser."""

from pathlib import Path

# Nothing from elsewhere, and nothing that stands in the page itself. WebAssembly is compiled.
POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; worker-src 'self'; form-action 'none'; "
    "base-uri 'none'"
)
WORKER = "service-worker.js"
_MARK = "fencepost-page"  # in the worker of a page of ours


def is_page(folder: Path) -> bool:
    """Whether `fencepost export-web` has written a folder."""
    try:
        return _MARK in (folder / WORKER).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
