#!/bin/sh
# Makes the games that networks learn from, and data sets of them: the engine plays itself on 15x15 from balanced random
# openings, 20,000 games of freestyle and 5,000 of renju, about half an hour of CPU time. Killed, the same command goes on.
#
#     data/make-games.sh [freestyle | renju]
#
# writes runs/data/freestyle15.jsonl and runs/data/engine-renju15.jsonl, each with the data set of the same name beside
# it, and prints the SHA-256 of each file's sorted lines, which is the same on every machine and for any number of workers
# as long as the engine is. TENGEN names the program, FOLDER another place, GAMES another number of freestyle games (renju
# are a quarter of it), WORKERS the number of processes.
set -eu
tengen=${TENGEN:-.venv/bin/tengen}
folder=${FOLDER:-runs/data}
games=${GAMES:-20000}

# make_set NAME RULES GAMES
make_set() {
  file=$folder/$1.jsonl set=$folder/$1
  "$tengen" data generate "$file" --rules "$2" --games "$3" --nodes 2000 --noise 0.1 --seed 1 \
    ${WORKERS:+--workers "$WORKERS"}
  sum=$(LC_ALL=C sort "$file" | sha256sum | cut -d ' ' -f 1)
  if [ "$(cat "$set/games.sha256" 2>/dev/null)" != "$sum" ]; then
    [ ! -f "$set/games.sha256" ] || rm -rf "$set" # made here, of fewer games
    "$tengen" data build "$set" "$file" --rules "$2" --opening-moves 12
    echo "$sum" > "$set/games.sha256"
  fi
  echo "$sum  $file, sorted"
}

what=${1:-all}
case $what in
  all | freestyle | renju) mkdir -p "$folder" ;;
  *)
    echo "$0: $what is neither freestyle nor renju" >&2
    exit 2
    ;;
esac
[ "$what" = renju ] || make_set freestyle15 15x15:5:freestyle "$games"
[ "$what" = freestyle ] || make_set engine-renju15 15x15:5:renju "$(((games + 3) / 4))"
