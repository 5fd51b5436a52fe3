#!/bin/sh
# The main job: a text in; trees, nested entities and their probabilities out.
set -eu
cd "$(dirname "$0")"

if [ -t 1 ]; then bold='\033[1m' plain='\033[0m'; else bold='' plain=''; fi
say() { printf "\n$bold%s$plain\n" "$*"; }

say '$ fencepost parse demo.txt'
cat demo.txt
echo
fencepost parse demo.txt --to pretty

say 'In Python:'
python - <<'PYTHON'
code = """import fencepost

parser = fencepost.load()
document = parser.parse("The president of France visited Berlin on Monday.")
print(document)
for entity in document.entities:
    print(entity.text, entity.label, entity.start_char, entity.end_char)
"""
print(code)
exec(code)
PYTHON

say 'Next:'
cat <<'TEXT'
  .venv/bin/fencepost parse "Any text of yours."                    trees and entities of any text or file
  .venv/bin/fencepost parse examples/harbour.txt -o harbour.html    a page with pictures; or .jsonl, .ptb, .tsv
  .venv/bin/fencepost draw examples/garden.ptb -o garden.html       pictures of annotated sentences
  .venv/bin/fencepost trace examples/garden.ptb                     how a tree is made, one pointing a line
  .venv/bin/fencepost --help                                        everything else
After .venv/bin/pip install -c constraints.txt -e '.[serve,train]':
  .venv/bin/fencepost serve                                         a page to explore parses with, and a server
  .venv/bin/fencepost train examples/kitchen.toml -o runs/kitchen   a model of your own, here from 72 sentences
TEXT
