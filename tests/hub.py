"""A hub on this machine: a small server that speaks what `huggingface_hub` asks for.

It keeps repositories with their commits in memory. Files go up within commits, and come down as
they are. What was asked for is written down, so that tests can tell what was not.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

from huggingface_hub import constants

Files = Mapping[str, bytes]


@dataclass
class Repository:
    """What one repository holds."""

    private: bool = False
    gated: bool = False
    commits: dict[str, Files] = field(default_factory=dict)  # the newest comes last
    branches: dict[str, str] = field(default_factory=dict)  # tags, too

    def commit(self, files: Files, branch: str = "main") -> str:
        """Add a commit, and return its name."""
        told = json.dumps([len(self.commits), *sorted(files)]).encode() + b"".join(files.values())
        name = hashlib.sha1(told).hexdigest()
        self.commits[name] = dict(files)
        self.branches[branch] = name
        return name


@dataclass
class Hub:
    """The repositories by name, and what was asked for."""

    url: str = ""
    repositories: dict[str, Repository] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)  # that are told instead of the real ones
    is_broken: bool = False

    def put(self, name: str, folder: Path, **more: bytes) -> str:
        """Add a commit with the files of a folder, and return its name."""
        files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        return self.repositories.setdefault(name, Repository()).commit({**files, **more})

    @property
    def fetched(self) -> set[str]:
        """The names of the files that were downloaded."""
        return {
            one.rpartition("/")[2]
            for one in self.asked
            if one.startswith("GET /") and "/resolve/" in one
        }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub: Hub

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = [unquote(part) for part in urlsplit(self.path).path.split("/")[1:]]
        self.hub.asked.append(f"{self.command} {urlsplit(self.path).path}")
        if self.hub.is_broken:
            self._send(503, {})
        elif parts[:3] == ["api", "repos", "create"]:
            self._create(json.loads(body))
        elif parts == ["api", "validate-yaml"]:
            self._send(200, {"errors": [], "warnings": []})
        elif parts[:2] == ["api", "models"]:
            self._api("/".join(parts[2:4]), parts[4:], body)
        elif parts[2:3] == ["resolve"]:
            self._file("/".join(parts[:2]), parts[3], "/".join(parts[4:]))
        else:
            self._send(404, {})

    def _create(self, data: dict[str, Any]) -> None:
        name = (
            f"{data['organization']}/{data['name']}" if data.get("organization") else data["name"]
        )
        status = 409 if name in self.hub.repositories else 200
        found = self.hub.repositories.setdefault(name, Repository(_is_private(data)))
        if not found.commits:
            found.commit({})
        self._send(status, {"url": f"{self.hub.url}/{name}"})

    def _api(self, name: str, rest: list[str], body: bytes) -> None:
        found = self._repository(name)
        if found is None:
            return
        kind, revision = (*rest, "main")[:2] if rest else ("revision", "main")
        if kind == "branch":
            found.branches.setdefault(revision, found.branches["main"])
            self._send(200, {})
            return
        commit = found.branches.get(revision, revision)
        if commit not in found.commits:
            self._send(404, {}, {"X-Error-Code": "RevisionNotFound"})
        elif kind == "revision":
            files = found.commits[commit]
            siblings = [{"rfilename": file, "size": self._size(file, files)} for file in files]
            self._send(200, {"id": name, "sha": commit, "siblings": siblings, "private": False})
        elif kind == "tree":
            files = found.commits[commit]
            self._send(
                200,
                [
                    {"type": "file", "path": file, "size": len(data), "oid": _etag(data)}
                    for file, data in files.items()
                ],
            )
        elif kind == "preupload":
            asked = json.loads(body)["files"]
            self._send(
                200,
                {
                    "files": [
                        {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False}
                        for one in asked
                    ]
                },
            )
        elif kind == "commit":
            new = found.commit(_changed(found.commits[commit], body), revision)
            self._send(200, {"commitUrl": f"{self.hub.url}/{name}/commit/{new}", "commitOid": new})

    def _repository(self, name: str) -> Repository | None:
        found = self.hub.repositories.get(name)
        if found is None:
            self._send(401, {}, {"X-Error-Code": "RepoNotFound"})
        elif found.gated:
            self._send(403, {}, {"X-Error-Code": "GatedRepo"})
            return None
        return found

    def _size(self, file: str, files: Files) -> int:
        return self.hub.sizes.get(file, len(files[file]))

    def _file(self, name: str, revision: str, file: str) -> None:
        found = self._repository(name)
        if found is None:
            return
        commit = found.branches.get(revision, revision)
        data = found.commits.get(commit, {}).get(file)
        if data is None:
            self._send(404, {}, {"X-Error-Code": "EntryNotFound"})
            return
        self._send(200, data, {"X-Repo-Commit": commit, "ETag": f'"{_etag(data)}"'})

    def _send(self, status: int, data: Any, headers: Mapping[str, str] | None = None) -> None:
        body = data if isinstance(data, bytes) else json.dumps(data).encode()
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        if not isinstance(data, bytes):
            self.send_header("Content-Type", "application/json")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _is_private(data: dict[str, Any]) -> bool:
    return bool(data.get("private")) or data.get("visibility") == "private"


def _etag(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _changed(files: Files, body: bytes) -> Files:
    """The files after a commit."""
    found = dict(files)
    for line in body.splitlines():
        told = json.loads(line)
        value = told["value"]
        if told["key"] == "file":
            found[value["path"]] = base64.b64decode(value["content"])
        elif told["key"] == "deletedFile":
            del found[value["path"]]
    return found


@contextmanager
def serving(cache: Path) -> Iterator[Hub]:
    """A hub that `huggingface_hub` of this process asks, with a cache of its own."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        hub.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        with (
            patch.object(constants, "ENDPOINT", hub.url),
            patch.object(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template),
            patch.object(constants, "HF_HUB_CACHE", str(cache)),
        ):
            try:
                yield hub
            finally:
                server.shutdown()
                thread.join()
