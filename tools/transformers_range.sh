#!/bin/sh
# Run the tests that need transformers with the lowest version that we support, and the newest.
#
#   tools/transformers_range.sh [PLACE [VERSION...]]
#
# Each version gets an environment of its own in PLACE (or one that is deleted at the end). All
# else is as pinned, torch above all; only what transformers itself decides on may differ.
set -eu
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
  place=$1
  shift
else
  place=$(mktemp -d)
  trap 'rm -rf "$place"' EXIT
fi
lowest=$(sed -n 's/.*"transformers>=\([0-9.]*\)".*/\1/p' pyproject.toml)
newest=$(sed -n 's/^transformers==//p' constraints.txt)
if [ $# -eq 0 ]; then
  set -- "$lowest" "$newest"
fi
mkdir -p "$place"
# transformers says which of these it goes with, and older ones want older ones.
grep -v -E '^(transformers|tokenizers|huggingface_hub|hf-xet|safetensors)==' constraints.txt >"$place/constraints.txt"
grep -q '^torch==' "$place/constraints.txt"
tests=$(grep -rlE 'tiny_transformer|tests\.tiny|import transformers|from transformers' tests --include='test_*.py' | sort)
status=0
for version in "$@"; do
  venv="$place/$version"
  if [ ! -x "$venv/bin/pytest" ]; then
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" --disable-pip-version-check install --quiet --constraint "$place/constraints.txt" \
      hatchling editables
    "$venv/bin/pip" --disable-pip-version-check install --quiet --constraint "$place/constraints.txt" \
      --no-build-isolation --editable '.[serve,parquet,train]' "transformers==$version" \
      httpx2 hypothesis pytest psutil
  fi
  "$venv/bin/python" -c '
import importlib.metadata as m
print(", ".join(f"{name} {m.version(name)}" for name in ("transformers", "tokenizers", "huggingface-hub", "torch")))'
  # What older versions warn of is not ours to mend.
  # shellcheck disable=SC2086
  OMP_WAIT_POLICY=PASSIVE "$venv/bin/python" -m pytest -q -p no:cacheprovider -W default --disable-warnings $tests ||
    status=1
done
exit $status
