#include "search/alphabeta/move_picker.h"

#include <algorithm>

#include "core/assert.h"
#include "patterns/defence.h"

namespace tengen {

Pressure pressure_on(const PatternBoard& board) {
  const Colour other = opponent(board.to_move());
  if (board.count(other, threat::kFive)) return Pressure::kFour;
  if (board.count(other, threat::kOpenFour)) return Pressure::kOpenThree;
  return Pressure::kNone;
}

PointSet forced_moves(const PatternBoard& board, Pressure pressure) {
  TENGEN_ASSERT(pressure != Pressure::kNone);
  const Colour own = board.to_move();
  const Colour other = opponent(own);
  if (pressure == Pressure::kFour) return five_defences(board, other);
  PointSet moves = open_four_defences(board, other) | board.fours(own);
  if (own == kBlack) moves |= board.doubtful();
  return moves;
}

MovePicker::MovePicker(const PatternBoard& board, const Weights& weights, const SearchOptions& options,
                       const History& history, Point table_move, Point last_move)
    : board_(board),
      weights_(weights),
      options_(options),
      history_(history),
      own_(board.to_move()),
      counter_(options.has(kCounterMove) ? history.counter(board.to_move(), last_move) : kNoPoint),
      table_move_(table_move) {
  const bool playable = table_move < board.rules().area() && board.is_empty(table_move);
  if (!playable) table_move_ = kNoPoint;
}

Point MovePicker::next() {
  if (!table_move_tried_) {
    table_move_tried_ = true;
    // Against a four, accept the table move only if it stops the five.
    const Colour other = opponent(own_);
    const bool refused =
        table_move_ != kNoPoint && board_.count(other, threat::kFive) && !five_defences(board_, other).has(table_move_);
    if (table_move_ != kNoPoint && !refused && board_.is_legal(own_, table_move_)) return table_move_;
    table_move_ = kNoPoint;
  }
  if (!generated_) generate();
  while (size_ > 0) {
    Scored best = moves_[0];
    for (int i = 1; i < size_; ++i) best = std::max(best, moves_[i]);
    *std::find(moves_.begin(), moves_.begin() + size_, best) = moves_[size_ - 1];
    --size_;
    const auto move = static_cast<Point>(kPointRange - 1 - (best & (kPointRange - 1)));
    if (move != table_move_ && board_.is_legal(own_, move)) return move;
  }
  return kNoPoint;
}

void MovePicker::generate() {
  generated_ = true;
  const Pressure pressure = pressure_on(board_);
  const bool forced = pressure == Pressure::kFour || (pressure == Pressure::kOpenThree && options_.has(kDefenceSets));
  add_all(forced ? forced_moves(board_, pressure) : board_.candidates());
}

bool MovePicker::add_rest() {
  TENGEN_ASSERT(generated_ && size_ == 0);
  PointSet rest;
  for (Point p = 0; p < board_.rules().area(); ++p)
    if (board_.is_empty(p) && !listed_.has(p)) rest.add(p);
  if (rest.empty()) return false;
  add_all(rest);
  return true;
}

void MovePicker::add_all(const PointSet& moves) {
  listed_ |= moves;
  moves.for_each([this](Point p) { moves_[size_++] = score(p) * kPointRange + (kPointRange - 1 - p); });
}

int MovePicker::score(Point move) const {
  const Colour other = opponent(own_);
  int score = weights_.attack[own_][board_.code(own_, move)] + weights_.defence[own_][board_.code(other, move)];
  if (options_.has(kHistory)) {
    const SearchParameters& parameters = options_.parameters;
    score += (history_.score(own_, move) * parameters.order_history +
              history_.score(own_, kind_of(board_, move)) * parameters.order_kind) /
             History::kLimit;
  }
  if (move == counter_) score += options_.parameters.order_counter;
  return score;
}

}  // namespace tengen
