// Wins by continuous fours (VCF): every move by the attacker makes a four, so every answer is forced.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "patterns/pattern_board.h"

namespace tengen {

enum class Verdict : std::uint8_t { kUnknown, kWin, kNoWin };

// A set of positions in which no win was found. A new position replaces an older one in the same slot.
class FailedPositions {
 public:
  explicit FailedPositions(int log2_size) : keys_(std::size_t{1} << log2_size, 0) {}
  bool has(std::uint64_t key) const { return keys_[key & (keys_.size() - 1)] == key; }
  void add(std::uint64_t key) { keys_[key & (keys_.size() - 1)] = key; }
  void clear() { keys_.assign(keys_.size(), 0); }

 private:
  std::vector<std::uint64_t> keys_;
};

class FourSolver {
 public:
  explicit FourSolver(int log2_table = 16) : failed_(log2_table) {}

  // Search for a win for the side to move by continuous fours. Neither side may have won yet; the board is restored.
  // Returns kUnknown if `max_nodes` is reached or `should_stop` returns true; `should_stop` is called every few hundred
  // nodes. If the defender's answer makes a four, the attacker has to block it with a four. Renju fouls are respected:
  // black may not attack with a foul, and white wins with a four that black can stop only with a foul.
  Verdict solve(PatternBoard& board, std::uint64_t max_nodes, const std::function<bool()>& should_stop = {});

  // The winning line: attacker and defender in turn, up to the five or up to a four that only a foul could stop.
  const std::vector<Point>& line() const { return line_; }
  // Plies from the root to the five.
  int plies() const { return static_cast<int>(line_.size()) + (ends_on_foul_ ? 2 : 0); }
  std::uint64_t nodes() const { return nodes_; }
  void clear() { failed_.clear(); }

 private:
  bool attack(PatternBoard& board);
  bool wins_against_all(PatternBoard& board, const PointSet& answers);

  FailedPositions failed_;
  std::vector<Point> line_;  // in reverse order until solve returns
  std::uint64_t nodes_ = 0;
  std::uint64_t max_nodes_ = 0;
  const std::function<bool()>* should_stop_ = nullptr;
  bool interrupted_ = false;
  bool ends_on_foul_ = false;
};

// The legal points where a stone of `own` makes a four, most promising first. If `only` is given, the list is limited
// to its points.
struct FourMoves {
  FourMoves(const PatternBoard& board, Colour own, const PointSet* only = nullptr);
  const Point* begin() const { return moves_; }
  const Point* end() const { return moves_ + size_; }

 private:
  int size_ = 0;
  Point moves_[kMaxArea];
};

}  // namespace tengen
