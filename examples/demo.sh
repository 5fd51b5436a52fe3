#!/bin/sh
# The main job: a text in; trees, nested entities and their probabilities out.
set -eu
cd "$(dirname "$0")"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say '$ fencepost parse harbour.txt'
cat harbour.txt
echo
fencepost parse harbour.txt --to pretty

say 'In Python:'
python - <<'PYTHON'
import fencepost

code = """parser = fencepost.load()
document = parser.parse("The director of the museum fed the cat.")
print(document.tree.pretty())
for entity in document.entities: print(entity)"""
print(code, end="\n\n")
exec(code)
PYTHON

say 'Next:'
cat <<'TEXT'
  .venv/bin/fencepost parse "Any text of yours."               trees and entities of any text or file
  .venv/bin/fencepost parse articles/ -o parsed/               a corpus, row by row; --resume after a stop
  .venv/bin/fencepost draw examples/garden.ptb -o garden.html  pictures; also .svg, .pdf and .png
  .venv/bin/fencepost serve                                    a page to explore parses with, and a server
  .venv/bin/fencepost trace examples/garden.ptb                how a tree is made, one pointing a line
  .venv/bin/fencepost train configs/gum-trees.toml -o RUN      a model from your own annotation
  .venv/bin/fencepost --help                                   everything else
TEXT
