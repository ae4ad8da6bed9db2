// What is known about a position without a network: finished and dead games, fives, fours that must be answered, wins
// by continuous fours and threats.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/point_set.h"
#include "patterns/pattern_board.h"
#include "search/puct/options.h"
#include "search/rollout/search.h"
#include "search/solvers/four_solver.h"
#include "search/solvers/threat_solver.h"

namespace tengen {

// The board on which trees are walked, with shapes only where somebody asks for them.
class PuctBoard {
 public:
  PuctBoard(const Board& board, bool with_patterns);

  const Board& board() const { return patterns_ ? patterns_->board() : *plain_; }
  const PatternBoard* patterns() const { return patterns_ ? &*patterns_ : nullptr; }
  PatternBoard* patterns() { return patterns_ ? &*patterns_ : nullptr; }

  void make(Point point) { patterns_ ? patterns_->make(point) : plain_->make(point); }
  void unmake() { patterns_ ? patterns_->unmake() : plain_->unmake(); }
  void unmake(int count) {
    for (; count > 0; --count) unmake();
  }

 private:
  std::optional<Board> plain_;
  std::optional<PatternBoard> patterns_;
};

// With a single move there is nothing to choose; so many simulations give it a value.
inline constexpr int kSimulationsOfOnlyMove = 16;

struct LeafJudgement {
  Result result = Result::kUnknown;  // for the side to move
  int plies = 0;                     // to the end of the game
  PointSet moves;                    // legal ones; those left out are known to lose
  std::vector<Point> line;           // of a proof: moves to the end of the game, as far as they are known
};

class LeafJudge {
 public:
  explicit LeafJudge(const PuctOptions& options) : tactics_(options.tactics) {}

  // The board is as before afterwards. `vcf_nodes` bounds the search for continuous fours; 0 for none. The excluded
  // points are not played while there are others: what is said then holds for those. `should_stop` may end the search
  // for fours early.
  LeafJudgement judge(PuctBoard& board, std::uint32_t vcf_nodes, const PointSet& excluded = {},
                      const std::function<bool()>& should_stop = {});
  // A win by continuous threats, found within so many nodes; otherwise nothing is said. The board needs shapes.
  LeafJudgement find_threats(PuctBoard& board, std::uint32_t vct_nodes, const std::function<bool()>& should_stop = {});
  // Forget what was searched, so that what comes does not depend on it.
  void clear();

 private:
  bool tactics_;
  FourSolver solver_{12};
  std::unique_ptr<ThreatSolver> threats_;  // made when it is first needed
};

// Whether nobody can make five (or whatever wins) any more: every line has stones of both colours or is too short.
bool is_dead(const Board& board);

// The options as far as these rules allow: threats are known for some win lengths only.
PuctOptions playable(PuctOptions options, const Rules& rules);

// Whether boards of these rules need shapes for what the options ask.
bool needs_patterns(const PuctOptions& options, const Rules& rules);

}  // namespace tengen
