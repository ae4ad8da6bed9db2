// A board with make and unmake: stones, line keys, hash, history and the result of the game.
//
// It knows when a line wins and when the board is full. It does not know renju fouls (patterns/legality.h does): a
// caller who plays black in renju asks there first.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "core/geometry.h"
#include "core/rules.h"
#include "core/types.h"

namespace tengen {

// The unbroken run of one colour through a cell of a line, and what stands at its two ends.
struct Run {
  int length;  // the cell itself included
  int below;   // stones before the cell
  Cell low_end;
  Cell high_end;
};

// Bits 2c and 2c + 1 set for every cell c that holds exactly a stone of `colour`.
inline std::uint64_t stones_in_line(std::uint64_t line, Colour colour) {
  constexpr std::uint64_t kLow = 0x5555555555555555ull;
  const std::uint64_t low = colour == kBlack ? line & ~(line >> 1) & kLow : (line >> 1) & ~line & kLow;
  return low | (low << 1);
}

inline Cell cell_in_line(std::uint64_t line, int offset) { return static_cast<Cell>((line >> (2 * offset)) & 3); }

// The run of `colour` through `offset`, as if a stone of that colour stood there.
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
  int ply() const { return ply_; }  // moves made, set-up stones not counted
  Point move(int index) const { return moves_[index]; }
  Point last_move() const { return ply_ > 0 ? moves_[ply_ - 1] : kNoPoint; }

  // Depends on the stones and the side to move, not on the order of moves.
  std::uint64_t hash() const { return hash_; }

  std::uint64_t line(int direction, int index) const { return lines_[direction][index]; }
  std::uint64_t line_at(int direction, Point point) const {
    return lines_[direction][geometry_->place(direction, point).line];
  }

  // Play `point` for the side to move. The game must go on and the point be empty; black's fouls are the caller's duty.
  void make(Point point);

  // Take back the last move made.
  void unmake();

  // Give the turn to the other side without a stone; a second pass takes it back. Not a move of the game: only for
  // asking what would happen. Nothing may be unmade in between that was made before.
  void pass();

  // Whether a stone of `colour` on the empty `point` would complete a winning line.
  bool would_win(Point point, Colour colour) const;

  // Put a set-up stone, outside the history. Only before the first move; call finish_setup afterwards.
  void add_stone(Point point, Colour colour);
  // Say who moves next and work out whether a colour has already won. False when both colours have.
  bool finish_setup(Colour to_move);

  // The points of a winning line on the board (more than the win length if the line is longer); their number, or 0.
  int winning_line(std::array<Point, kMaxSize>& points) const;

  // Empty text when the redundant parts of the state agree with the stones, else what does not.
  std::string check() const;

 private:
  void toggle(Point point, Colour colour);
  bool wins_through(Point point, Colour colour) const;

  Rules rules_;
  const Geometry* geometry_;
  std::array<std::array<std::uint64_t, kMaxLines>, kDirections> lines_;
  std::array<Cell, kMaxArea> cells_{};
  std::array<Point, kMaxArea> moves_{};
  std::uint64_t hash_ = 0;
  int stones_ = 0;
  int ply_ = 0;
  Colour to_move_ = kBlack;
  Outcome outcome_ = Outcome::kOngoing;
};

}  // namespace tengen
