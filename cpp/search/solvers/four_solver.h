// Wins by continuous fours (VCF): every move of the attacker makes a four, so every answer is forced.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "patterns/pattern_board.h"

namespace tengen {

enum class Verdict : std::uint8_t { kUnknown, kWin, kNoWin };

// A set of positions that have been searched in vain; the oldest give way.
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

  // Whether the side to move wins by continuous fours. kUnknown when `max_nodes` were not enough or `should_stop`,
  // asked now and then, said so. The board is as before afterwards. Answers that are fours themselves are met, fouls
  // respected: black may not attack with one, and a four that black could only stop on a foul wins for white.
  Verdict solve(PatternBoard& board, std::uint64_t max_nodes, const std::function<bool()>& should_stop = {});

  // The winning line: attacker and defender in turn, up to the five (or up to a four that only a foul would stop).
  const std::vector<Point>& line() const { return line_; }
  // Plies from the root to the five.
  int plies() const { return static_cast<int>(line_.size()) + (ends_on_foul_ ? 2 : 0); }
  std::uint64_t nodes() const { return nodes_; }
  void clear() { failed_.clear(); }

 private:
  bool attack(PatternBoard& board);
  bool wins_against_all(PatternBoard& board, const PointSet& answers);

  FailedPositions failed_;
  std::vector<Point> line_;  // built backwards while the win unwinds
  std::uint64_t nodes_ = 0;
  std::uint64_t max_nodes_ = 0;
  const std::function<bool()>* should_stop_ = nullptr;
  bool interrupted_ = false;
  bool ends_on_foul_ = false;
};

// Points where a stone of `own` makes a four, most promising first, fouls left out. `only` restricts them to some
// points.
struct FourMoves {
  FourMoves(const PatternBoard& board, Colour own, const PointSet* only = nullptr);
  const Point* begin() const { return moves_; }
  const Point* end() const { return moves_ + size_; }

 private:
  int size_ = 0;
  Point moves_[kMaxArea];
};

}  // namespace tengen
