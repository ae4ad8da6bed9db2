#!/bin/sh
# Create a shipped model from scratch: train it, play the matches of its card, write its folder.
#
#     models/make.sh NAME [more options of tengen train]
#
# NAME is one of
#     6x6x4, 8x8, 9x9, 15x15             AlphaZero, our recipe for that board
#     renju-9x9, renju-15x15,            the same under other rules, starting from the networks of freestyle
#     standard-9x9, standard-15x15
#     zero9-i, zero9-ii                  AlphaZero as in the paper zero9
#     pg-9x9, ppo-9x9, dqn-9x9           the other learners, our recipe for 9x9
#     pg-9x9-paper                       policy gradient as in the paper pg9
#     adp, adp-fudan                     adaptive dynamic programming: ours for any size, and as in the paper fudan
#     cnn-15x15, mdrnn-15x15             supervised, from engine games that data/make-games.sh generates first
# A stopped run is resumed. Runs, games and matches go to runs/ in the current folder, the model to models/ of this
# repository. Environment variables: TENGEN is the program (default: .venv/bin/tengen of the repository); with ONLY=train
# the script ends after the training, with ONLY=ship it plays the matches and writes the folder of a finished run.
set -eu
name=$1
shift
[ "$name" = pg9 ] && name=pg-9x9-paper # its former name
repository=$(cd "$(dirname "$0")/.." && pwd)
tengen=${TENGEN:-$repository/.venv/bin/tengen}
only=${ONLY:-}
run=runs/models/$name
number=0
algorithm=alphazero preset=$name
before= # commands that created its training data or initial network, for the card
case $name in
  adp) algorithm=adp preset=15x15 ;;
  adp-fudan) algorithm=adp preset=fudan ;;
  pg-9x9-paper) algorithm=pg preset=pg9-self-play-level-3 ;;
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

# train FOLDER OPTIONS-OF-TENGEN-TRAIN: start a run, or resume an existing one
train() {
  folder=$1
  shift
  if [ -d "$folder" ]; then
    "$tengen" train "$algorithm" --run "$folder" --resume
  else
    "$tengen" train "$algorithm" --seed 1 --run "$folder" "$@"
  fi
}

# quoted WORDS: print them for a command line, each after a space
quoted() {
  for word in "$@"; do
    case $word in
      *[\'\"\ \[]*) printf ' "%s"' "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
}

if [ "$only" = ship ]; then
  : # the run is finished
elif [ -d "$run" ]; then
  train "$run"
else
  mkdir -p runs/models
  if [ "$name" = 9x9 ]; then
    # The half-hour recipe, then a longer one that starts from its network.
    first=runs/models/9x9-first
    train $first --preset 9x9
    before="tengen train alphazero --preset 9x9 --seed 1 --run $first
"
    preset=9x9-longer
    set -- --init-from $first "$@"
  fi
  if [ "$name" = 15x15 ]; then
    # Games that stop at a proof, for difficult positions, and complete games, for endings.
    games=runs/games/freestyle15.jsonl
    proved="--proved --nodes 2000 --noise 0.1"
    mkdir -p runs/games
    # shellcheck disable=SC2086 # several options in one variable
    "$tengen" data generate runs/games/three.jsonl $proved --games 16556 --seed 61
    # shellcheck disable=SC2086
    "$tengen" data generate runs/games/four.jsonl $proved --games 41630 --seed 62
    TENGEN=$tengen "$repository/data/make-games.sh" freestyle
    cat runs/games/three.jsonl runs/games/four.jsonl runs/data/freestyle15.jsonl > "$games"
    before="tengen data generate runs/games/three.jsonl $proved --games 16556 --seed 61
tengen data generate runs/games/four.jsonl $proved --games 41630 --seed 62
data/make-games.sh freestyle
cat runs/games/three.jsonl runs/games/four.jsonl runs/data/freestyle15.jsonl > $games
"
    set -- --set learner.precision=bf16 --set learner.threads=2 "$@"
    set -- --init-from 9x9 --set "warm_start.games=$games" --set minutes=75 "$@"
  fi
  case $name in
    # These start from the networks of freestyle. Processor time limits them, so that other work on the machine does
    # not matter.
    renju-9x9 | standard-9x9) set -- --minutes 0 --set cpu_minutes=10 --set learner.precision=bf16 "$@" ;;
    renju-15x15 | standard-15x15) set -- --minutes 0 --set cpu_minutes=25 --set learner.precision=bf16 "$@" ;;
    8x8) set -- --set minutes=20 "$@" ;;
    adp) set -- --set minutes=0 --set cpu_minutes=1.5 "$@" ;;
    adp-fudan) set -- --set minutes=0 --set cpu_minutes=0.9 "$@" ;;
    pg-9x9) set -- --set minutes=0 --set cpu_minutes=3 "$@" ;;
    ppo-9x9 | dqn-9x9) set -- --set minutes=0 --set cpu_minutes=4 "$@" ;;
    zero9-*)
      # The presets follow the code of the authors. These networks are from an earlier form, after the paper alone, with
      # cheaper number formats.
      set -- --set learner.batch=256 --set learner.epochs=24 --set learner.clip=1 --set learner.fresh_optimizer=false "$@"
      set -- --set learner.l2_penalty=0 --set learner.value_weight=1 --set search.noise_alpha=0.3 "$@"
      set -- --set self_play.precision=int8 --set search.cache_entries=262144 "$@"
      set -- --set learner.precision=bf16 --set learner.threads=2 "$@"
      ;;
    cnn-*) set -- --set learner.precision=bf16 "$@" ;;
  esac
  case $name in
    zero9-i) set -- --set net.channels=32 "$@" ;;
    zero9-ii)
      set -- --set search.first_play_value=0 --set window.only_newest=false "$@"
      set -- --set window.first=16_500 --set window.largest=16_500 --set window.exponent=0 "$@"
      ;;
  esac
  if [ "$name" = pg-9x9-paper ]; then
    # The presets follow the code of the author. This network is from an earlier form, after the paper alone: sampled
    # moves, raw returns, straight from self-play to level 3. The learning rate of the second part is five times larger.
    described="--set choice=sampled --set net.kind=dense --set learner.credit=result --set learner.reduction=mean"
    described="$described --set learner.epsilon=1e-8 --set learner.masked=true --set play.full_board=draw"
    described="$described --set guards.min_policy_entropy=1e-4 --set past_starts_random=false"
    described="$described --set running_reward.stop_at=0"
    # shellcheck disable=SC2086 # several options in one variable
    set -- $described "$@"
    train runs/models/pg9-self-play --preset pg9 "$@" --set iterations=123
    before="tengen train pg --preset pg9 --seed 1$(quoted "$@") --set iterations=123 --run runs/models/pg9-self-play
"
    set -- --set learner.learning_rate=5e-4 --set learner.final_learning_rate=5e-4 "$@"
    set -- --set iterations=273 --set "play.opponents=['naive:level=3']" "$@"
    set -- --init-from runs/models/pg9-self-play "$@"
  fi
  if [ "$algorithm" = supervised ]; then
    TENGEN=$tengen "$repository/data/make-games.sh" freestyle
    before="data/make-games.sh freestyle
"
  fi
  echo "${before}tengen train $algorithm --preset $preset --seed 1$(quoted "$@")" > "$run.command"
  train "$run" --preset "$preset" "$@"
fi

[ "$only" = train ] && exit

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
  pg-9x9-paper)
    for opponent in naive:level=3 naive:level=4 tree; do match 9x9 "" "$opponent" --games 400 --stones 0; done
    match 9x9 ,temperature=1 naive:level=3 --games 2000 --stones 0
    for opponent in naive:level=3 naive:level=4; do match 9x9 "" "$opponent" --games 400; done
    ;;
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
    match 15x15 ,average=true alphabeta:preset=stanford15 --games 200 --openings "$repository/data/openings/freestyle15.txt"
    player=alphazero
    match 15x15 ,simulations=100 alphabeta:preset=stanford15 --games 200 --openings "$repository/data/openings/freestyle15.txt"
    ;;
  renju-9x9 | standard-9x9) match "9x9:5:${name%-*}" ,seconds=1 alphabeta:preset=fudan --games 40 --time-ms 1000 ;;
  renju-15x15 | standard-15x15)
    openings="--openings $repository/data/openings/${name%-*}15.txt --transform --shuffle"
    # shellcheck disable=SC2086 # several options in one variable
    match "15x15:5:${name%-*}" ,seconds=1 alphabeta:preset=fudan --games 40 --time-ms 1000 $openings
    ;;
  15x15)
    openings="--openings $repository/data/openings/freestyle15.txt --transform --shuffle"
    # shellcheck disable=SC2086 # several options in one variable
    match 15x15 ,seconds=1 alphabeta:preset=fudan --games 40 --time-ms 1000 $openings
    ;;
esac

set -- "$run" "$repository/models/$name" --command "$(cat "$run.command")"
for result in "$run"/match-*.json; do set -- "$@" --match "$result"; done
"$tengen" ship "$@"
