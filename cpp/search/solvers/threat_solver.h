// Wins by continuous threats (VCT): every move by the attacker makes a four, an open three or a threat to win by
// continuous fours.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "patterns/pattern_board.h"
#include "search/solvers/four_solver.h"

namespace tengen {

struct ThreatLimits {
  std::uint64_t nodes = 1'000'000;
  std::int64_t time_ms = -1;  // -1 for no limit
};

// Depth-first proof-number search (Nagai 2002) over threats. The attacker plays fours, open threes, and moves that
// threaten to win by continuous fours. The defender tries every point that can answer the threat, and every four of its
// own. A proved win holds against every defence. "No win" only means that threats of these kinds do not force one.
class ThreatSolver {
 public:
  explicit ThreatSolver(int log2_table = 20);

  // Search for a win for the side to move. The game must not be over; the board is restored. Returns kUnknown if a
  // limit is reached or `should_stop` returns true; `should_stop` is called at every node.
  Verdict solve(PatternBoard& board, const ThreatLimits& limits, const std::function<bool()>& should_stop = {});

  // Search for a win by continuous fours only, which is far cheaper. Positions without such a win are remembered, and
  // later calls of both functions skip them.
  Verdict solve_fours(PatternBoard& board, std::uint64_t max_nodes, const std::function<bool()>& should_stop = {});

  // A winning line against one of the defences, usually up to the five.
  const std::vector<Point>& line() const { return line_; }
  // Plies from the root to the five in that line.
  int plies() const { return plies_; }
  std::uint64_t nodes() const { return nodes_; }
  void clear();

 private:
  static constexpr std::uint32_t kInfinity = 100'000'000;
  struct Numbers {
    std::uint32_t proof = 1;     // lower bound on the number of leaves left to prove for a win; 0 if proved
    std::uint32_t disproof = 1;  // the same for a refutation
  };
  struct Entry {
    std::uint64_t key = 0;
    Numbers numbers;
  };
  struct Child {
    Point move;
    Numbers numbers;  // an estimate until the child has been searched
  };

  // Numbers depend on the attacker, so the key does as well.
  std::uint64_t key_of(const PatternBoard& board) const {
    return board.hash() ^ (attacker_ == kBlack ? 0 : 0xD1B54A32D192ED03ull);
  }
  const Entry* find(std::uint64_t key) const;  // null if the key is not in the table
  void store(std::uint64_t key, Numbers numbers);

  // Fill `children` with the moves to try, or leave it empty and return the numbers for a node that needs no search.
  // Nodes are visited many times and finding the moves is expensive, so expand caches the result of find_children.
  Numbers expand(PatternBoard& board, bool attacking, std::vector<Child>& children);
  Numbers find_children(PatternBoard& board, bool attacking, std::vector<Child>& children);
  void attacks(const PatternBoard& board, std::vector<Child>& children) const;
  void defences(const PatternBoard& board, std::vector<Child>& children) const;
  bool defences_against_fours(PatternBoard& board, std::vector<Child>& children);
  // Search a node until one of its numbers reaches its limit (df-pn), and return its numbers.
  Numbers search(PatternBoard& board, bool attacking, Numbers limits, int depth);
  bool out_of_budget();
  bool extract_line(PatternBoard& board, bool attacking, int depth);
  void finish_line(PatternBoard& board, bool attacking);

  std::vector<Entry> table_;
  std::unordered_map<std::uint64_t, std::vector<Child>> expansions_;
  FourSolver fours_;
  std::vector<std::vector<Child>> stack_;
  Colour attacker_ = kBlack;
  std::vector<Point> line_;
  int plies_ = 0;
  std::uint64_t nodes_ = 0;
  ThreatLimits limits_;
  const std::function<bool()>* should_stop_ = nullptr;
  std::chrono::steady_clock::time_point start_;
  bool exhausted_ = false;
};

}  // namespace tengen
