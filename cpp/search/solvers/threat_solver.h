// Wins by continuous threats (VCT): every move of the attacker makes a four, an open three or a threat of continuous
// fours. Proof-number search.
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
  std::int64_t time_ms = -1;  // -1 for none
};

// Depth-first proof-number search (Nagai 2002) over threats. The attacker plays fours, open threes, and moves after
// which he would win by continuous fours if the defender passed. The defender tries every point that can answer the
// threat, and every four of his own. What is proved is a win against every defence; "no win" means only that threats
// of these kinds do not force one.
class ThreatSolver {
 public:
  explicit ThreatSolver(int log2_table = 20);

  // `should_stop`, asked at every node, may end it as the limits do. The board is as before afterwards.
  Verdict solve(PatternBoard& board, const ThreatLimits& limits, const std::function<bool()>& should_stop = {});

  // A winning line against one of the defences, up to the five as a rule.
  const std::vector<Point>& line() const { return line_; }
  // Plies of that line to the five.
  int plies() const { return plies_; }
  std::uint64_t nodes() const { return nodes_; }
  void clear();

 private:
  static constexpr std::uint32_t kInfinity = 100'000'000;
  struct Numbers {
    std::uint32_t proof = 1;     // how far from proving the attacker's win
    std::uint32_t disproof = 1;  // how far from refuting it
  };
  struct Entry {
    std::uint64_t key = 0;
    Numbers numbers;
  };
  struct Child {
    Point move;
    Numbers numbers;  // before it is searched: a guess
  };

  // The same stones mean something else when the other side attacks.
  std::uint64_t key_of(const PatternBoard& board) const {
    return board.hash() ^ (attacker_ == kBlack ? 0 : 0xD1B54A32D192ED03ull);
  }
  const Entry* find(std::uint64_t key) const;  // nullptr when not in the table
  void store(std::uint64_t key, Numbers numbers);

  // Settle a node at sight, or fill `children` with the moves to try. Nodes are visited many times and finding the
  // moves is the dear part, so they are remembered.
  Numbers expand(PatternBoard& board, bool attacking, std::vector<Child>& children);
  Numbers expand_anew(PatternBoard& board, bool attacking, std::vector<Child>& children);
  void attacks(const PatternBoard& board, std::vector<Child>& children) const;
  void defences(const PatternBoard& board, std::vector<Child>& children) const;
  bool defences_against_fours(PatternBoard& board, std::vector<Child>& children);
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
