#include "search/alphabeta/move_picker.h"

#include <algorithm>
#include <utility>

#include "patterns/defence.h"

namespace tengen {

Pressure pressure_on(const PatternBoard& board) {
  const Colour other = opponent(board.to_move());
  if (board.count(other, threat::kFive)) return Pressure::kFour;
  if (board.count(other, threat::kOpenFour)) return Pressure::kOpenThree;
  return Pressure::kNone;
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
  // A key collision may bring a move that cannot be played here.
  const bool playable = table_move < board.rules().area() && board.is_empty(table_move);
  if (!playable) table_move_ = kNoPoint;
}

Point MovePicker::next() {
  if (!table_move_tried_) {
    table_move_tried_ = true;
    // Under a four only the block is a move, whatever the table says.
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
  const Colour other = opponent(own_);
  switch (pressure_on(board_)) {
    case Pressure::kFour:
      add_all(five_defences(board_, other));
      return;
    case Pressure::kOpenThree:
      if (options_.has(kDefenceSets)) {
        PointSet moves = open_four_defences(board_, other) | board_.fours(own_);
        if (own_ == kBlack) moves |= board_.doubtful();
        add_all(moves);
        return;
      }
      [[fallthrough]];
    case Pressure::kNone:
      add_all(board_.candidates());
      return;
  }
}

void MovePicker::add_all(const PointSet& moves) {
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
