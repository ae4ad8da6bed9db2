// Moves of a node, best guess first, each handed out once.
#pragma once

#include <array>
#include <cstdint>

#include "eval/weights.h"
#include "search/alphabeta/history.h"
#include "search/alphabeta/options.h"

namespace tengen {

// What forces the side to move.
enum class Pressure : std::uint8_t {
  kNone,
  kOpenThree,  // the opponent makes an open four next unless answered
  kFour,       // the opponent makes five next unless answered
};

Pressure pressure_on(const PatternBoard& board);

// The kind of a move of the side to move.
inline History::Kind kind_of(const PatternBoard& board, Point move) {
  return {board.threat(board.to_move(), move), board.threat(opponent(board.to_move()), move)};
}

class MovePicker {
 public:
  MovePicker(const PatternBoard& board, const Weights& weights, const SearchOptions& options, const History& history,
             Point table_move, Point last_move);

  // The next legal move, or kNoPoint when there are no more.
  Point next();

 private:
  // A move and its score in one number, so that the best is a plain maximum; of equals the lower point wins.
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
  int size_ = 0;  // moves not handed out yet
  std::array<Scored, kMaxArea> moves_;
};

}  // namespace tengen
