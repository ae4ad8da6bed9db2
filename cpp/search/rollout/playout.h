// Playouts: a game played to its end by a quick policy, the measure of a position in rollout searches.
//
// The heuristic policy is that of "Final report for Gomoku project" (algorithm 1, function HEURISTIC): complete a four,
// block a four, extend a three, block a three, else any point. The paper keeps a table for each colour with the longest
// row that a stone on each empty point would have beside it; here the points where that row is long enough are kept as
// sets, of which a move changes at most a few members.
#pragma once

#include <array>
#include <cstdint>

#include "core/board.h"
#include "core/point_set.h"
#include "core/rng.h"
#include "patterns/empty_points.h"

namespace tengen {

enum class PlayoutPolicy : std::uint8_t { kRandom, kHeuristic };

// For each colour, the empty points where its stone would complete a winning line, and those where it would make an
// unbroken row one short of the win length ("four"), whatever stands at its ends. Split rows count as the row they
// become: the gap of XX.XX completes, that of XX.X makes a four.
class RowPoints {
 public:
  // All points of the board, from scratch.
  explicit RowPoints(const Board& board);

  // A stone of `colour` was put on `point` of the board. Only the nearest empty points beyond its rows can change.
  void add_stone(const Board& board, Point point, Colour colour);

  const PointSet& completing(Colour colour) const { return completing_[colour]; }
  const PointSet& four_making(Colour colour) const { return four_making_[colour]; }
  bool has_completing(Colour colour) const { return completing_count_[colour] > 0; }
  bool has_four_making(Colour colour) const { return four_making_count_[colour] > 0; }

 private:
  void refresh(const Board& board, Colour colour, int direction, std::uint64_t line, int offset, Point point);
  void forget(Colour colour, Point point);

  std::array<PointSet, 2> completing_;
  std::array<PointSet, 2> four_making_;
  std::array<int, 2> completing_count_{};
  std::array<int, 2> four_making_count_{};
  // Bit d: the row along direction d completes; bit 4 + d: it becomes a four.
  std::array<std::array<std::uint8_t, kMaxArea>, 2> rows_{};
};

// A board with what its policy needs, kept move by move. Copying one is cheap: searches keep one for the root and copy
// it for each playout.
class PlayoutBoard {
 public:
  PlayoutBoard(const Board& board, PlayoutPolicy policy);

  const Board& board() const { return board_; }

  // Play `point` for the side to move; black's fouls are the caller's duty.
  void make(Point point) {
    const Colour mover = board_.to_move();
    board_.make(point);
    empties_.remove(point);
    if (policy_ == PlayoutPolicy::kHeuristic) rows_.add_stone(board_, point, mover);
  }

  // The policy's move for the side to move of a game that is not over: equal choices are drawn. Fouls of renju are
  // never played; kNoPoint when black has nothing else.
  Point draw(Rng& rng);

  // Play to the end. The moves are board().move(i) afterwards.
  Outcome play_out(Rng& rng);

 private:
  Board board_;
  EmptyPoints empties_;
  RowPoints rows_;
  PlayoutPolicy policy_;
};

// How many playouts ended how, and how many moves all of them had.
struct PlayoutTally {
  std::array<std::uint64_t, 4> outcomes{};  // by Outcome; kOngoing stays 0
  std::uint64_t moves = 0;
};

PlayoutTally tally_playouts(const Board& board, PlayoutPolicy policy, std::uint64_t count, std::uint64_t seed);

}  // namespace tengen
