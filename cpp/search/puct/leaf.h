// Judges positions without a network: finished games, dead draws, fives, answers to fours, and wins by continuous fours
// and threats.
#pragma once

#include <functional>
#include <memory>
#include <variant>
#include <vector>

#include "core/point_set.h"
#include "patterns/pattern_board.h"
#include "search/puct/options.h"
#include "search/rollout/search.h"
#include "search/solvers/four_solver.h"
#include "search/solvers/threat_solver.h"

namespace tengen {

// The working board for walks through a tree. It maintains patterns only if they are needed.
class PuctBoard {
 public:
  PuctBoard(const Board& board, bool with_patterns);

  const Board& board() const { return patterns() ? patterns()->board() : *std::get_if<Board>(&board_); }
  // Null if the board has no patterns.
  const PatternBoard* patterns() const { return std::get_if<PatternBoard>(&board_); }
  PatternBoard* patterns() { return std::get_if<PatternBoard>(&board_); }

  void make(Point point) { patterns() ? patterns()->make(point) : std::get_if<Board>(&board_)->make(point); }
  void unmake() { patterns() ? patterns()->unmake() : std::get_if<Board>(&board_)->unmake(); }
  void unmake(int count) {
    for (; count > 0; --count) unmake();
  }

 private:
  std::variant<Board, PatternBoard> board_;
};

// Simulation limit if there is only one move: enough to estimate its value.
inline constexpr int kSimulationsOfOnlyMove = 16;

// LeafJudge's judgement of a position, passed to PuctTree::expand or settle.
struct LeafJudgement {
  Result result = Result::kUnknown;  // for the side to move
  int plies = 0;                     // to the end of the game
  PointSet moves;                    // the legal moves, except those known to lose
  std::vector<Point> line;           // for a proof: the moves to the end of the game, as far as known
};

class LeafJudge {
 public:
  explicit LeafJudge(const PuctOptions& options) : tactics_(options.tactics) {}

  // Judge a position; the board is restored. `vcf_nodes` limits the search for continuous fours; 0 disables it. The
  // excluded points are left out, unless there are no other moves. `should_stop` can end the search for fours early.
  LeafJudgement judge(PuctBoard& leaf, std::uint32_t vcf_nodes, const PointSet& excluded = {},
                      const std::function<bool()>& should_stop = {});
  // Search for a win by continuous threats, with at most `vct_nodes` nodes. Returns the win, or an empty judgement. The
  // board must have patterns.
  LeafJudgement find_threats(PuctBoard& board, std::uint32_t vct_nodes, const std::function<bool()>& should_stop = {});
  // Clear the solvers' tables, so that later searches do not depend on earlier ones.
  void clear();

 private:
  bool tactics_;
  FourSolver solver_{12};
  std::unique_ptr<ThreatSolver> threats_;  // created when first needed
};

// Whether neither side can win any more: every possible winning line has stones of both colours.
bool is_dead(const Board& board);

// Disable the search for continuous threats (vct_nodes), unless needs_patterns() is true.
PuctOptions playable(PuctOptions options, const Rules& rules);

// Whether a search with these options needs patterns, and patterns exist for the rules.
bool needs_patterns(const PuctOptions& options, const Rules& rules);

}  // namespace tengen
