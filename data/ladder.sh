#!/bin/sh
# Play the ladder and write its rating lists: data/ladder.sh [PART…]. Without parts, all of data/ladder/.
#
# The parts are tournaments that share players, so that `tengen ratings` can rate everybody of a ruleset together while
# no game is wasted on pairs of very different strength. An interrupted ladder continues when the script is run again.
set -eu
cd "$(dirname "$0")/.."
tengen=${TENGEN:-.venv/bin/tengen}
parts=${*:-weak middle strong networks-15x15 networks-9x9 networks-8x8 networks-6x6}
mkdir -p runs/ladder
for part in $parts; do
  resume=$(test -e "runs/ladder/$part.db" && echo --resume || true)
  # shellcheck disable=SC2086
  "$tengen" tournament "data/ladder/$part.toml" $resume
done
"$tengen" ratings runs/ladder/*.db --anchor rule-based=600 --report runs/ladder/report
