// The moves of a node, one at a time, most promising first.
#pragma once

#include <array>
#include <cstdint>

#include "eval/weights.h"
#include "search/alphabeta/history.h"
#include "search/alphabeta/options.h"

namespace tengen {

// The opponent's threat that the side to move has to answer.
enum class Pressure : std::uint8_t {
  kNone,
  kOpenThree,  // the opponent threatens to make an open four
  kFour,       // the opponent threatens to make five
};

Pressure pressure_on(const PatternBoard& board);

// The moves that answer the opponent's threat; all others lose. Against a four, these are the points that stop every
// five. Against an open three, they are the points that stop every open four, and those that make a four, which keeps
// the initiative. For black in renju, doubtful points are included, because they may be legal fours. The set can
// contain illegal points. `pressure` must not be kNone.
PointSet forced_moves(const PatternBoard& board, Pressure pressure);

// The history kind of a move by the side to move.
inline History::Kind kind_of(const PatternBoard& board, Point move) {
  return {board.threat(board.to_move(), move), board.threat(opponent(board.to_move()), move)};
}

class MovePicker {
 public:
  // All references must outlive the picker. The board must be in the same state at every call to next().
  // `table_move` need not be legal or even empty: a key collision in the table can supply any move.
  MovePicker(const PatternBoard& board, const Weights& weights, const SearchOptions& options, const History& history,
             Point table_move, Point last_move);

  // The next legal move, or kNoPoint if there are no more.
  Point next();
  // Continue with all other empty points, so that next() returns every legal move. Call this only after next() has
  // returned kNoPoint. Returns false if there are no such points: the moves were complete.
  bool add_rest();

 private:
  // A move and its score packed into one integer, so that the best move is simply the maximum. Ties go to the lower
  // point.
  using Scored = std::int32_t;
  static constexpr int kPointRange = 512;
  static_assert(kMaxArea <= kPointRange);

  void generate();
  void add_all(const PointSet& moves);
  int score(Point move) const;

  const PatternBoard& board_;
  const Weights& weights_;
  const SearchOptions& options_;
  const History& history_;
  Colour own_;
  Point counter_;
  Point table_move_;
  bool table_move_tried_ = false;
  bool generated_ = false;
  PointSet listed_;  // the moves generated so far
  int size_ = 0;     // moves not yet returned
  std::array<Scored, kMaxArea> moves_;
};

}  // namespace tengen
