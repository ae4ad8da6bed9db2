// A board with make and unmake: stones, line keys, hash, history and the result of the game.
//
// It detects winning lines and full boards, but not renju fouls: the caller first checks black's moves in renju with
// patterns/legality.h. Arguments are validated only by assertions: see core/checked.h.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "core/geometry.h"
#include "core/prefetch.h"
#include "core/rules.h"
#include "core/types.h"

namespace tengen {

// An unbroken run of one colour through a cell of a line, and the cells at its two ends.
struct Run {
  int length;  // including the cell itself
  int below;   // stones before the cell
  Cell low_end;
  Cell high_end;
};

// A word with bits 2c and 2c + 1 set for every cell c that holds a stone of `colour`.
inline std::uint64_t stones_in_line(std::uint64_t line, Colour colour) {
  constexpr std::uint64_t kLow = 0x5555555555555555ull;
  const std::uint64_t low = colour == kBlack ? line & ~(line >> 1) & kLow : (line >> 1) & ~line & kLow;
  return low | (low << 1);
}

inline Cell cell_in_line(std::uint64_t line, int offset) { return static_cast<Cell>((line >> (2 * offset)) & 3); }

// The run of `colour` through the cell `offset`, as if that cell held a stone of `colour`.
inline Run run_through(std::uint64_t line, int offset, Colour colour) {
  const std::uint64_t own = stones_in_line(line, colour);
  const int above = std::countr_one(own >> (2 * (offset + 1))) / 2;
  const int below = std::countl_one(own << (64 - 2 * offset)) / 2;
  return {above + below + 1, below, cell_in_line(line, offset - below - 1), cell_in_line(line, offset + above + 1)};
}

class Board {
 public:
  explicit Board(const Rules& rules);

  const Rules& rules() const { return rules_; }
  const Geometry& geometry() const { return *geometry_; }
  Cell at(Point point) const { return cells_[point]; }
  bool is_empty(Point point) const { return cells_[point] == kEmpty; }
  Colour to_move() const { return to_move_; }
  Outcome outcome() const { return outcome_; }
  bool is_over() const { return outcome_ != Outcome::kOngoing; }
  int stones() const { return stones_; }
  int empties() const { return rules_.area() - stones_; }
  int ply() const { return ply_; }  // moves made; set-up stones do not count
  Point move(int index) const { return moves_[index]; }
  std::vector<Point> moves() const { return {moves_.begin(), moves_.begin() + ply_}; }
  Point last_move() const { return ply_ > 0 ? moves_[ply_ - 1] : kNoPoint; }

  // Hash of the stones and the side to move. The order of the moves does not matter.
  std::uint64_t hash() const { return hash_; }

  std::uint64_t line(int direction, int index) const { return lines_[direction][index]; }
  std::uint64_t line_at(int direction, Point point) const {
    return lines_[direction][geometry_->place(direction, point).line];
  }

  // Play on the empty `point` for the side to move. The game must not be over, and the move must not be a renju foul.
  void make(Point point);

  // Undo the last move.
  void unmake();

  // Switch the side to move without playing a stone; a second pass switches back. A pass is not a move in the game; it
  // creates hypothetical positions. Between the two passes, do not unmake moves made before the first pass.
  void pass();

  // Whether a stone of `colour` on the empty `point` would complete a winning line.
  bool would_win(Point point, Colour colour) const;

  // Place stones on an empty board without adding them to the history, and set the side to move. Throws
  // std::out_of_range or std::invalid_argument if the board is not empty, if a point is off the board or given twice,
  // or if both colours have a winning line.
  void set_up(const std::vector<int>& black, const std::vector<int>& white, Colour to_move);

  // The points of a winning line, in full if it is longer than the win length; empty if neither side has won.
  std::vector<Point> winning_line() const;

  // Fetch the memory that `make(point)` will access into the cache, in two steps: the addresses of the second step
  // depend on what the first one fetches.
  void prefetch_state() const { prefetch(this); }
  void prefetch_move(Point point) const {
    for (int d = 0; d < kDirections; ++d) prefetch(&lines_[d][geometry_->place(d, point).line]);
    prefetch(&cells_[point]);
    prefetch(&moves_[ply_]);
  }

  // Compare the redundant parts of the state with the stones. Returns an empty string, or a description of the error.
  std::string check() const;

 private:
  void add_stone(Point point, Colour colour);
  // Set the side to move and the outcome after the last set-up stone. Returns false if both colours have won.
  bool finish_setup(Colour to_move);
  void toggle(Point point, Colour colour);
  bool wins_through(Point point, Colour colour) const;

  // The members that every move accesses come first, in one cache line.
  Rules rules_;
  const Geometry* geometry_;
  std::uint64_t hash_ = 0;
  int stones_ = 0;
  int ply_ = 0;
  Colour to_move_ = kBlack;
  Outcome outcome_ = Outcome::kOngoing;
  std::array<std::array<std::uint64_t, kMaxLines>, kDirections> lines_;
  std::array<Cell, kMaxArea> cells_{};
  std::array<Point, kMaxArea> moves_{};
};

}  // namespace tengen
