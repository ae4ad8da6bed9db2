#include "search/solvers/four_solver.h"

#include <algorithm>

#include "core/assert.h"
#include "patterns/defence.h"

namespace tengen {
namespace {

// Number of nodes between calls to should_stop, so that the cost of the calls is negligible.
constexpr std::uint64_t kNodesBetweenChecks = 256;

}  // namespace

FourMoves::FourMoves(const PatternBoard& board, Colour own, const PointSet* only) {
  const auto add = [&](Point p) {
    if (!only || only->has(p)) moves_[size_++] = p;
  };
  board.fours(own).for_each(add);
  std::sort(moves_, moves_ + size_, [&](Point a, Point b) {
    const Threat ta = board.threat(own, a);
    const Threat tb = board.threat(own, b);
    return ta != tb ? ta > tb : a < b;
  });
  if (own == kWhite || board.doubtful().empty()) return;
  // A point that looks like a foul may be a legal four.
  board.doubtful().for_each([&](Point p) {
    if (board.makes_four(kBlack, p) && board.is_legal(kBlack, p)) add(p);
  });
}

Verdict FourSolver::solve(PatternBoard& board, std::uint64_t max_nodes, const std::function<bool()>& should_stop) {
  TENGEN_ASSERT(board.board().outcome() == Outcome::kOngoing || board.board().outcome() == Outcome::kDraw);
  nodes_ = 0;
  max_nodes_ = max_nodes;
  should_stop_ = should_stop ? &should_stop : nullptr;
  interrupted_ = false;
  ends_on_foul_ = false;
  line_.clear();
  if (attack(board)) {
    std::reverse(line_.begin(), line_.end());
    return Verdict::kWin;
  }
  return interrupted_ ? Verdict::kUnknown : Verdict::kNoWin;
}

// Whether the four just made wins against all `answers`. There is only one answer, except in caro. If all answers are
// fouls, the five cannot be stopped.
bool FourSolver::wins_against_all(PatternBoard& board, const PointSet& answers) {
  const Colour defender = board.to_move();
  const std::size_t line_before = line_.size();
  bool wins = true;
  bool answered = false;
  answers.for_each([&](Point answer) {
    if (!wins || !board.is_legal(defender, answer)) return;
    answered = true;
    line_.resize(line_before);
    board.make(answer);
    wins = attack(board);
    board.unmake();
    if (wins) line_.push_back(answer);
  });
  if (!answered) ends_on_foul_ = true;
  if (!wins) line_.resize(line_before);
  return wins;
}

// Whether the side to move wins by continuous fours. If so, the moves of the win are appended to line_ in reverse.
bool FourSolver::attack(PatternBoard& board) {
  const Colour own = board.to_move();
  const Colour other = opponent(own);

  // Step 1. Make five.
  if (!board.fives(own).empty()) {
    ends_on_foul_ = false;
    line_.push_back(board.fives(own).first());
    return true;
  }

  // Step 2. Check the limits, and whether this position has failed before.
  const bool is_check_due = should_stop_ && nodes_ % kNodesBetweenChecks == kNodesBetweenChecks - 1;
  if (nodes_ >= max_nodes_ || (is_check_due && (*should_stop_)())) {
    interrupted_ = true;
    return false;
  }
  ++nodes_;
  if (failed_.has(board.hash())) return false;

  // Step 3. Try every four. The opponent's four has to be answered with a four of our own.
  const bool threatened = !board.fives(other).empty();
  const PointSet blocks = threatened ? five_defences(board, other) : PointSet{};
  for (const Point move : FourMoves(board, own, threatened ? &blocks : nullptr)) {
    TENGEN_ASSERT(board.is_legal(own, move) && board.makes_four(own, move));
    board.make(move);
    PointSet answers = five_defences(board, own);
    // If nothing stops every five, continue with one of the blocks, so that the line ends with a five.
    if (answers.empty()) answers.add(board.fives(own).first());
    const bool wins = wins_against_all(board, answers);
    board.unmake();
    if (wins) {
      line_.push_back(move);
      return true;
    }
    if (interrupted_) return false;
  }
  failed_.add(board.hash());
  return false;
}

}  // namespace tengen
