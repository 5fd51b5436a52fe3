"""onnxruntime-web: the two files of it that a page needs, from npm or from a folder."""

from __future__ import annotations

import hashlib
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from fencepost.errors import ConfigError

VERSION = "1.30.0"
FILES = {  # by their names in `dist`, with the checksums of this version
    "ort.wasm.bundle.min.mjs": "11e64bd8ffe11bd1a2a2f0d6275fdfbbba7262f0b76b99b53d228a8a22ef3d90",
    "ort-wasm-simd-threaded.wasm": "3398c10d07d229bd91b364548e130e0e"
    "51a8e5704b88c7c083ebbeb78842dee2",
}
_PACKAGE = f"onnxruntime-web@{VERSION}"
_SECONDS = 600  # that npm may take


def copy_runtime(source: Path | None, folder: Path) -> None:
    """Put the files of onnxruntime-web into a folder.

    Args:
        source: the package, unpacked or as npm packs it; None: npm gets it.
        folder: which is there.

    Raises:
        ConfigError: the package is not there, or of another version; the message says what to do.
    """
    with _fetched(source) as package:
        for name, checksum in FILES.items():
            data = _read(package, name)
            if hashlib.sha256(data).hexdigest() != checksum:
                raise ConfigError(
                    f"{package}: dist/{name} is not that of {_PACKAGE}: npm pack {_PACKAGE} "
                    "makes the file that --runtime takes"
                )
            (folder / name).write_bytes(data)


@contextmanager
def _fetched(source: Path | None) -> Iterator[Path]:
    if source is not None:
        if not source.exists():
            raise ConfigError(f"--runtime {source}: there is no such file or folder")
        yield source
        return
    with TemporaryDirectory(prefix="fencepost-") as folder:
        command = ["npm", "pack", "--silent", "--ignore-scripts", _PACKAGE]
        advice = (
            f"Where npm works, `npm pack {_PACKAGE}` makes a file that --runtime takes elsewhere."
        )
        try:
            ended = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
        except FileNotFoundError as error:
            raise ConfigError(
                f"the page needs {_PACKAGE}, and npm is not here to get it: install Node.js "
                f"(nodejs.org). {advice}"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise ConfigError(f"npm has not found {_PACKAGE} in {_SECONDS} s. {advice}") from error
        archives = list(Path(folder).glob("*.tgz"))
        if ended.returncode or not archives:
            said = " ".join(ended.stderr.split())[:300]
            raise ConfigError(f"npm cannot get {_PACKAGE}: {said}. {advice}")
        yield archives[0]


def _read(package: Path, name: str) -> bytes:
    """A file of the package."""
    try:
        if package.is_dir():
            return (package / "dist" / name).read_bytes()
        with tarfile.open(package) as archive:
            file = archive.extractfile(f"package/dist/{name}")
            return b"" if file is None else file.read()
    except (OSError, KeyError, tarfile.TarError) as error:
        raise ConfigError(
            f"{package}: no package of onnxruntime-web with dist/{name}: {error}"
        ) from error
