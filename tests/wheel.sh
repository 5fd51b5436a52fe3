#!/bin/sh
# Build the wheel, install it where nothing else is, and use it there.
set -eu
cd "$(dirname "$0")/.."
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
.venv/bin/python -m build --wheel --no-isolation --outdir "$place" . >"$place/build.log" 2>&1 || {
  cat "$place/build.log"
  exit 1
}
.venv/bin/python -m venv "$place/venv"
"$place/venv/bin/pip" --disable-pip-version-check install --quiet --constraint constraints.txt "$place"/*.whl
"$place/venv/bin/fencepost" --version
"$place/venv/bin/fencepost" score examples/garden.ptb examples/garden.predicted.ptb >/dev/null
"$place/venv/bin/python" -c 'import fencepost, pathlib; assert (pathlib.Path(fencepost.__file__).parent / "py.typed").is_file()'
(cd "$place" && HF_HUB_OFFLINE=1 venv/bin/fencepost parse "The cat sat on the mat." --task tree) | grep -q "(NN cat)"
echo "the wheel works in an empty environment"
