// Checks on external arguments. They throw std::out_of_range (IndexError in Python) or std::invalid_argument
// (ValueError). Searches avoid the cost of these checks by calling Board directly.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/board.h"

namespace tengen {

// Return `index` if it is in the range 0 … count - 1. `what` is the noun for the error message: "game", "board", …
inline int checked_index(std::int64_t index, int count, const char* what) {
  if (index < 0 || index >= count)
    throw std::out_of_range("no " + std::string(what) + ' ' + std::to_string(index) + ": there are " +
                            std::to_string(count));
  return static_cast<int>(index);
}

inline Colour checked_colour(int colour) {
  if (colour != kBlack && colour != kWhite)
    throw std::invalid_argument("a colour must be 0 (black) or 1 (white), not " + std::to_string(colour));
  return static_cast<Colour>(colour);
}

// Return `index` as a point; it must be on the board.
inline Point checked_point(const Board& board, int index) {
  const Rules& rules = board.rules();
  if (index < 0 || index >= rules.area())
    throw std::out_of_range("point " + std::to_string(index) + " is off the " + std::to_string(rules.width) + 'x' +
                            std::to_string(rules.height) + " board");
  return static_cast<Point>(index);
}

// Return `index` as a point; it must be on the board and empty.
inline Point checked_empty_point(const Board& board, int index) {
  const Point point = checked_point(board, index);
  if (!board.is_empty(point)) throw std::invalid_argument("point " + std::to_string(index) + " is occupied");
  return point;
}

inline void check_ongoing(const Board& board) {
  if (board.is_over()) throw std::invalid_argument("the game is over");
}

// Return `index` as a point that Board::make accepts. Renju fouls are not checked.
inline Point checked_move(const Board& board, int index) {
  check_ongoing(board);
  return checked_empty_point(board, index);
}

inline void check_has_moves(const Board& board) {
  if (board.ply() == 0) throw std::invalid_argument("no move to undo");
}

}  // namespace tengen
