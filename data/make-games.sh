#!/bin/sh
# Generate training games and build data sets from them. The engine plays itself on 15x15 from balanced random openings:
# 20,000 games of freestyle and 5,000 of renju, about half an hour of CPU time. If it is killed, the same command resumes.
#
#     data/make-games.sh [freestyle | renju]
#
# It writes runs/data/freestyle15.jsonl and runs/data/engine-renju15.jsonl, each next to a data set of the same name, and
# prints the SHA-256 of the sorted lines of each file. The same version of the engine gives the same sums on every machine
# and for any number of workers. Environment variables: TENGEN is the program, FOLDER the output folder, GAMES the number
# of freestyle games (renju gets a quarter of it), WORKERS the number of processes.
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
    [ ! -f "$set/games.sha256" ] || rm -rf "$set" # an earlier data set of this script, with fewer games
    "$tengen" data build "$set" "$file" --rules "$2" --opening-moves 12
    echo "$sum" > "$set/games.sha256"
  fi
  echo "$sum  $file, sorted"
}

what=${1:-all}
case $what in
  all | freestyle | renju) mkdir -p "$folder" ;;
  *)
    echo "$0: unknown argument '$what'; give freestyle, renju or nothing" >&2
    exit 2
    ;;
esac
[ "$what" = renju ] || make_set freestyle15 15x15:5:freestyle "$games"
[ "$what" = freestyle ] || make_set engine-renju15 15x15:5:renju "$(((games + 3) / 4))"
