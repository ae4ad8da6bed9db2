#!/bin/sh
# Makes a shipped model from nothing: trains it, plays the matches of its card, writes its folder.
#
#     models/make.sh NAME [more options of tengen train]
#
# NAME is 6x6x4, 8x8, 9x9, 15x15, zero9-i or zero9-ii (AlphaZero), pg-9x9, ppo-9x9, dqn-9x9 or pg9 (the other learners),
# adp (for every size) or adp-fudan (adaptive dynamic programming), cnn-15x15 or mdrnn-15x15 (supervised, from games of
# the engine that data/make-games.sh makes first).
# A run that was stopped goes on. TENGEN names the program.
set -eu
name=$1
shift
tengen=${TENGEN:-.venv/bin/tengen}
run=runs/models/$name
number=0
algorithm=alphazero preset=$name
before= # the commands that made what it learns from
case $name in
  adp) algorithm=adp preset=15x15 ;;
  adp-fudan) algorithm=adp preset=fudan ;;
  pg9) algorithm=pg preset=pg9-self-play-level-3 ;;
  pg-* | ppo-* | dqn-*) algorithm=${name%%-*} preset=${name#*-} ;;
  cnn-* | mdrnn-*) algorithm=supervised preset=${name%%-*} ;;
esac
player=$algorithm

# match RULES OWN-PARAMETERS-AFTER-A-COMMA OPPONENT [options of tengen match]
match() {
  rules=$1 own=$2 opponent=$3
  shift 3
  number=$((number + 1))
  "$tengen" match "$player:run=$run$own" "$opponent" --rules "$rules" --seed 1 --json "$run/match-$number.json" "$@"
}

# train FOLDER options of tengen train: a run that is there goes on
train() {
  folder=$1
  shift
  if [ -d "$folder" ]; then
    "$tengen" train "$algorithm" --run "$folder" --resume
  else
    "$tengen" train "$algorithm" --seed 1 --run "$folder" "$@"
  fi
}

if [ -d "$run" ]; then
  train "$run"
else
  mkdir -p runs/models
  if [ "$name" = 9x9 ]; then
    # The recipe of half an hour, then one that goes on from there.
    first=runs/models/9x9-first
    train $first --preset 9x9
    before="tengen train alphazero --preset 9x9 --seed 1 --run $first
"
    preset=9x9-longer
    set -- --init-from $first "$@"
  fi
  if [ "$name" = 15x15 ]; then
    # Games that end when they are proved, for what is hard, and whole ones, for how they end.
    games=runs/games/freestyle15.jsonl
    proved="--proved --nodes 2000 --noise 0.1"
    mkdir -p runs/games
    # shellcheck disable=SC2086 # several options
    "$tengen" data generate runs/games/three.jsonl $proved --games 16556 --seed 61
    # shellcheck disable=SC2086
    "$tengen" data generate runs/games/four.jsonl $proved --games 41630 --seed 62
    TENGEN=$tengen data/make-games.sh freestyle
    cat runs/games/three.jsonl runs/games/four.jsonl runs/data/freestyle15.jsonl > "$games"
    before="tengen data generate runs/games/three.jsonl $proved --games 16556 --seed 61
tengen data generate runs/games/four.jsonl $proved --games 41630 --seed 62
data/make-games.sh freestyle
cat runs/games/three.jsonl runs/games/four.jsonl runs/data/freestyle15.jsonl > $games
"
    set -- --set learner.precision=bf16 --set learner.threads=2 "$@"
    set -- --init-from 9x9 --set "warm_start.games=$games" "$@"
  fi
  case $name in
    zero9-*) # the same algorithm, for less
      set -- --set self_play.precision=int8 --set search.cache_entries=262144 "$@"
      set -- --set learner.precision=bf16 --set learner.threads=2 "$@"
      ;;
    cnn-*) set -- --set learner.precision=bf16 "$@" ;;
  esac
  if [ "$name" = pg9 ]; then
    train runs/models/pg9-self-play --preset pg9
    before="tengen train pg --preset pg9 --seed 1 --run runs/models/pg9-self-play
"
    set -- --init-from runs/models/pg9-self-play "$@"
  fi
  if [ "$algorithm" = supervised ]; then
    TENGEN=$tengen data/make-games.sh freestyle
    before="data/make-games.sh freestyle
"
  fi
  echo "${before}tengen train $algorithm --preset $preset --seed 1${*:+ $*}" > "$run.command"
  train "$run" --preset "$preset" "$@"
fi

case $name in
  6x6x4)
    match 6x6:4 ,simulations=400 rule-based --games 100 --stones 0
    match 6x6:4 ,simulations=400 rule-based --games 100
    ;;
  8x8)
    match 8x8 ,simulations=500 rule-based --games 40 --stones 0
    match 8x8 ,simulations=500 rule-based --games 100
    ;;
  9x9)
    match 9x9 ,simulations=500 chains --games 80
    match 9x9 ,simulations=500 alphazero:model=zero9-ii,simulations=500,preset=zero9 --games 200
    ;;
  zero9-i | zero9-ii) match 9x9 ,simulations=500,preset=zero9 chains --games 40 ;;
  pg9) match 9x9 ,temperature=1 naive:level=3 --games 2000 --stones 0 ;;
  pg-9x9 | ppo-9x9 | dqn-9x9)
    for opponent in naive:level=2 naive:level=3 chains; do match 9x9 "" "$opponent" --games 400; done
    ;;
  adp)
    for rules in 9x9 15x15; do
      for opponent in naive:level=3 rule-based chains; do match "$rules" "" "$opponent" --games 100; done
    done
    match 20x20 "" adp:model=adp-fudan --games 100
    ;;
  adp-fudan)
    for opponent in random naive:level=1 naive:level=3 rule-based chains; do match 20x20 "" "$opponent" --games 100; done
    ;;
  cnn-15x15 | mdrnn-15x15)
    match 15x15 ,average=true alphabeta:preset=stanford15 --games 200 --openings data/openings/freestyle15.txt
    player=alphazero
    match 15x15 ,simulations=100 alphabeta:preset=stanford15 --games 200 --openings data/openings/freestyle15.txt
    ;;
  15x15)
    openings="--openings data/openings/freestyle15.txt --transform --shuffle"
    # shellcheck disable=SC2086 # several options
    match 15x15 ,seconds=1 alphabeta:preset=fudan --games 40 --time-ms 1000 $openings
    ;;
esac

set -- "$run" "models/$name" --command "$(cat "$run.command")"
for result in "$run"/match-*.json; do set -- "$@" --match "$result"; done
"$tengen" ship "$@"
