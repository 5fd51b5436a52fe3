#!/bin/sh
# Build the sdist and a wheel from it, install that where nothing else is, and use it there.
set -eu
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
build() {
  .venv/bin/python -m build --no-isolation "$@" . >"$place/build.log" 2>&1 || {
    cat "$place/build.log"
    exit 1
  }
}
build --outdir "$place/sdist" # first the sdist, and then a wheel from it
build --wheel --outdir "$place/tree"
# What is installed below stands for both: they hold the same.
.venv/bin/python - "$place" <<'PYTHON'
import sys, zipfile
from pathlib import Path

sdist, tree = (
    {(one.filename, one.CRC) for one in zipfile.ZipFile(next(Path(sys.argv[1], name).glob("*.whl"))).infolist()}
    for name in ("sdist", "tree")
)
if sdist != tree:
    sys.exit(f"the wheel from the sdist differs from that of the checkout: {sorted(sdist ^ tree)[:8]}")
PYTHON
.venv/bin/python -m venv "$place/venv"
install() {
  "$place/venv/bin/pip" --disable-pip-version-check install --quiet --constraint constraints.txt "$@"
}
install "$place"/sdist/*.whl
"$place/venv/bin/fencepost" --version
"$place/venv/bin/fencepost" score examples/garden.ptb examples/garden.predicted.ptb >/dev/null
"$place/venv/bin/python" -c 'import fencepost, pathlib; assert (pathlib.Path(fencepost.__file__).parent / "py.typed").is_file()'
(cd "$place" && HF_HUB_OFFLINE=1 venv/bin/fencepost parse "The cat sat on the mat." --task tree) | grep -q "(NN cat)"
echo "the sdist and the wheel work in an empty environment of $(du -sm "$place/venv" | cut -f1) MB"
# All that one does with a model works there, without torch.
install "$(ls "$place"/sdist/*.whl)[nltk,serve,spacy]" pytest
cp tests/test_small_install.py "$place"
(cd "$place" && venv/bin/python -c 'import importlib.util as u; assert not u.find_spec("torch")' &&
  venv/bin/python -m pytest -q -W error -p no:cacheprovider test_small_install.py)
