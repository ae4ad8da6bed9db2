#include "play/game_batch.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "core/checked.h"
#include "patterns/legality.h"
#include "patterns/planes.h"

namespace tengen {

GameBatch::GameBatch(const Rules& rules, int games, PlaneLayout layout)
    : layout_(layout),
      symmetries_(rules.width, rules.height),
      empty_(Board(rules), needs_patterns(layout)),
      games_(static_cast<std::size_t>(std::max(games, 0)), Game{empty_, Rng(0)}),
      outcomes_(games_.size()),
      plies_(games_.size()) {
  if (games < 1) throw std::invalid_argument("a batch needs at least one game, not " + std::to_string(games));
}

const Board& GameBatch::board(std::int64_t game) const {
  return games_[static_cast<std::size_t>(checked_index(game, games(), "game"))].seen.board();
}

void GameBatch::begin(std::uint64_t seed, int max_random_moves) {
  if (max_random_moves < 0 || max_random_moves > most_opening_moves(rules()))
    throw std::invalid_argument(std::to_string(max_random_moves) + " random moves are outside the range 0–" +
                                std::to_string(most_opening_moves(rules())) + ": more moves could already end a game");
  std::ranges::fill(outcomes_, static_cast<std::uint8_t>(Outcome::kOngoing));
  std::ranges::fill(plies_, std::int16_t{0});
  Rng seeds(seed);
  for (std::size_t i = 0; i < games_.size(); ++i) {
    Game& game = games_[i];
    game = {empty_, Rng(seeds.next())};
    const auto opening = game.rng.below(static_cast<std::uint32_t>(max_random_moves) + 1);
    for (std::uint32_t move = 0; move < opening; ++move)
      make(i, choose_move(PolicyKind::kRandom, game.seen.board(), game.rng));
  }
}

void GameBatch::write(const std::int64_t* rows, const std::int8_t* turns, int count, float* planes, bool* legal) const {
  for (int row = 0; row < count; ++row) {
    checked_index(rows[row], games(), "game");
    checked_index(turns[row], symmetries_.count(), "symmetry");
  }
  const std::ptrdiff_t area = rules().area();
  const std::ptrdiff_t size = plane_count(layout_) * area;
  for (int row = 0; row < count; ++row, planes += size, legal += area) {
    const PuctBoard& seen = games_[static_cast<std::size_t>(rows[row])].seen;
    const Board& board = seen.board();
    const Point* const where = symmetries_.table(turns[row]);
    write_planes(board, seen.patterns(), layout_, board.to_move(), where, planes);
    std::array<Foul, kMaxArea> fouls{};
    if (has_fouls(board)) find_fouls(board, fouls.data());
    for (Point p = 0; p < area; ++p) legal[where[p]] = board.is_empty(p) && fouls[p] == Foul::kNone;
  }
}

void GameBatch::choose(const std::int8_t* policies, std::int64_t* actions) {
  for (int game = 0; game < games(); ++game)
    if (policies[game] >= 0) checked_index(policies[game], kPolicyKinds, "policy");
  for (std::size_t i = 0; i < games_.size(); ++i) {
    if (policies[i] < 0 || outcomes_[i] != static_cast<std::uint8_t>(Outcome::kOngoing)) continue;
    actions[i] = choose_move(static_cast<PolicyKind>(policies[i]), games_[i].seen.board(), games_[i].rng);
  }
}

void GameBatch::play(const std::int64_t* actions) {
  for (std::size_t i = 0; i < games_.size(); ++i) {
    if (actions[i] < 0 || outcomes_[i] != static_cast<std::uint8_t>(Outcome::kOngoing)) continue;
    const Board& board = games_[i].seen.board();
    if (actions[i] < board.rules().area() && is_legal(board, static_cast<Point>(actions[i]))) {
      make(i, static_cast<Point>(actions[i]));
    } else {
      outcomes_[i] = static_cast<std::uint8_t>(win_for(opponent(board.to_move())));
    }
  }
}

void GameBatch::make(std::size_t game, Point point) {
  PuctBoard& seen = games_[game].seen;
  seen.make(point);
  outcomes_[game] = static_cast<std::uint8_t>(game_outcome(seen.board()));
  plies_[game] = static_cast<std::int16_t>(seen.board().ply());
}

}  // namespace tengen
