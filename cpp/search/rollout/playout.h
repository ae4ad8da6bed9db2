// Playouts: games played to the end by a fast policy. Rollout searches evaluate positions by their results.
//
// The heuristic policy comes from "Final report for Gomoku project" (algorithm 1, function HEURISTIC): complete a four,
// block a four, extend a three, block a three, otherwise play any point. For each colour, the paper keeps a table of
// the longest row next to each empty point. This implementation keeps sets of the points next to a sufficiently long
// row; a move changes only a few of their members.
#pragma once

#include <array>
#include <cstdint>

#include "core/board.h"
#include "core/point_set.h"
#include "core/rng.h"
#include "patterns/empty_points.h"

namespace tengen {

enum class PlayoutPolicy : std::uint8_t { kRandom, kHeuristic };

// For each colour, the empty points where a stone completes a winning line, and those where it makes an unbroken row
// one stone short of the win length (a "four"), regardless of its ends. Filling a gap counts as well: filling the gap
// in XX.XX completes a line, and filling the gap in XX.X makes a four.
class RowPoints {
 public:
  // Examine all points on the board.
  explicit RowPoints(const Board& board);

  // Update the sets after a stone of `colour` has been placed on `point`. Only the nearest empty points along its lines
  // change.
  void add_stone(const Board& board, Point point, Colour colour);

  const PointSet& completing(Colour colour) const { return completing_[colour]; }
  const PointSet& four_making(Colour colour) const { return four_making_[colour]; }
  bool has_completing(Colour colour) const { return completing_count_[colour] > 0; }
  bool has_four_making(Colour colour) const { return four_making_count_[colour] > 0; }

 private:
  void refresh_ends(const Board& board, Colour colour, int direction, std::uint64_t line, int offset, Point point);
  void refresh(const Board& board, Colour colour, int direction, std::uint64_t line, int offset, Point point);
  void forget(Colour colour, Point point);

  std::array<PointSet, 2> completing_;
  std::array<PointSet, 2> four_making_;
  std::array<int, 2> completing_count_{};
  std::array<int, 2> four_making_count_{};
  // Bit d: a stone completes a line in direction d; bit 4 + d: it makes a four there.
  std::array<std::array<std::uint8_t, kMaxArea>, 2> rows_{};
};

// A board with the state that its policy needs, updated incrementally. Copies are cheap: a search keeps one for the
// root and copies it for each playout.
class PlayoutBoard {
 public:
  PlayoutBoard(const Board& board, PlayoutPolicy policy);

  const Board& board() const { return board_; }

  // Play on `point` for the side to move. The move must not be a renju foul.
  void make(Point point) {
    const Colour mover = board_.to_move();
    board_.make(point);
    empties_.remove(point);
    if (policy_ == PlayoutPolicy::kHeuristic) rows_.add_stone(board_, point, mover);
  }

  // Sample a move from the policy; the game must not be over. Ties are broken at random. Never returns a renju foul:
  // returns kNoPoint if black has no other move.
  Point draw(Rng& rng);

  // Play the game to the end. Afterwards, board() contains the moves.
  Outcome play_out(Rng& rng);

 private:
  Board board_;
  EmptyPoints empties_;
  RowPoints rows_;
  PlayoutPolicy policy_;
};

// The results of many playouts and their total number of moves.
struct PlayoutTally {
  std::array<std::uint64_t, 4> outcomes{};  // by Outcome; kOngoing stays 0
  std::uint64_t moves = 0;
};

PlayoutTally tally_playouts(const Board& board, PlayoutPolicy policy, std::uint64_t count, std::uint64_t seed);

}  // namespace tengen
