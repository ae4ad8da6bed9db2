// The alpha-beta search of "Final report for Gomoku project": a narrow fixed-depth tree based on the point scores,
// with a hash index and a checkmate search at its root.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/board.h"
#include "search/fudan/budget.h"
#include "search/fudan/checkmate.h"
#include "search/fudan/hash_index.h"
#include "search/fudan/point_scores.h"

namespace tengen::fudan {

enum class CheckmateKind : std::uint8_t {
  kOff,
  kBothSides,  // fours and open threes up to 16 plies, for both sides
  kAuthors,    // fours and double threes, for the side to move only
};

struct Options {
  ScoreOptions scores;
  bool hash_index = true;
  CheckmateKind checkmate = CheckmateKind::kBothSides;
  bool prefers_fast_wins = true;  // otherwise all wins have the same value, as in the authors' program
};

struct Limits {
  std::int64_t time_ms = -1;  // -1 for no limit
  std::uint64_t nodes = 0;    // 0 for no limit
  int depth = 0;              // 0 for no limit
  int lines = 1;              // number of best moves to report
};

// Total score of the agent's stones minus 0.9 or 1.1 times that of the enemy's stones, in tenths, from the point of
// view of the side to move.
using Value = std::int64_t;
inline constexpr Value kScoreUnit = 10;
inline constexpr Value kWinByFive = 200'000'000'000;
inline constexpr Value kWinByOpenFour = 100'000'000'000;
inline constexpr Value kWinBound = kWinByOpenFour - 1000;  // lowest value that means a win

struct Line {
  Value value = 0;
  std::vector<Point> moves;  // never empty
};

struct Report {
  std::vector<Line> lines;  // best first, never empty
  int depth = 0;            // of the last completed iteration
  std::uint64_t nodes = 0;
  double elapsed_ms = 0;
  int win_plies = 0;  // upper bound on the plies to a proved win for the side to move; 0 if no win is proved
};

class Search {
 public:
  explicit Search(const Options& options);

  // Search a position with iterative deepening until a limit is reached or `stop` is set. `on_report` is called after
  // each depth. The game must not be over; the rules must be freestyle or standard, with win length 5.
  Report search(const Board& board, const Limits& limits, const std::function<void(const Report&)>& on_report = {},
                const StopSignal* stop = nullptr);

 private:
  Options options_;
  HashIndex index_;
};

}  // namespace tengen::fudan
