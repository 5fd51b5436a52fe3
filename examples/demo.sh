#!/bin/sh
# The main job of the core, on a text of our own: trees, how they are made, and a score.
set -eu
cd "$(dirname "$0")"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

say '$ fencepost convert garden.ptb - --to pretty    # a small treebank, tree by tree'
fencepost convert garden.ptb - --to pretty --quiet

say '$ fencepost trace garden.ptb --limit 1          # the pointings that make its first tree'
fencepost trace garden.ptb --limit 1

say '$ fencepost trace museum.data --limit 1         # nested entities are made in the same way'
fencepost trace museum.data --limit 1

say '$ fencepost score garden.ptb garden.predicted.ptb'
fencepost score garden.ptb garden.predicted.ptb

say 'Next: .venv/bin/fencepost --help, or point it at a treebank of yours:'
echo '  .venv/bin/fencepost inspect YOUR.ptb'
