#include "search/four_solver.h"

#include <algorithm>

namespace tengen {

FourMoves::FourMoves(const PatternBoard& board, Colour own, Point only) {
  const auto add = [&](Point p) {
    if (only == kNoPoint || p == only) moves_[size_++] = p;
  };
  board.fours(own).for_each(add);
  std::sort(moves_, moves_ + size_, [&](Point a, Point b) {
    const Threat ta = board.threat(own, a);
    const Threat tb = board.threat(own, b);
    return ta != tb ? ta > tb : a < b;
  });
  if (own == kWhite || board.doubtful().empty()) return;
  // A point that looks like a foul may be a legal four after all.
  board.doubtful().for_each([&](Point p) {
    for (int d = 0; d < kDirections; ++d) {
      const LineShape s = board.shape(kBlack, d, p);
      if (s != shape::kFour && s != shape::kOpenFour) continue;
      if (board.is_legal(kBlack, p)) add(p);
      return;
    }
  });
}

Verdict FourSolver::solve(PatternBoard& board, std::uint64_t max_nodes) {
  nodes_ = 0;
  max_nodes_ = max_nodes;
  out_of_nodes_ = false;
  ends_on_foul_ = false;
  line_.clear();
  if (attack(board)) {
    std::reverse(line_.begin(), line_.end());
    return Verdict::kWin;
  }
  return out_of_nodes_ ? Verdict::kUnknown : Verdict::kNoWin;
}

bool FourSolver::attack(PatternBoard& board) {
  const Colour own = board.to_move();
  const Colour other = opponent(own);
  if (!board.fives(own).empty()) {
    line_.push_back(board.fives(own).first());
    return true;
  }
  const int enemy_fives = board.count(other, threat::kFive);
  if (enemy_fives >= 2) return false;
  if (nodes_ >= max_nodes_) {
    out_of_nodes_ = true;
    return false;
  }
  ++nodes_;
  if (failed_.has(board.hash())) return false;

  // A four against us has to be answered with a four of our own.
  const Point only = enemy_fives ? board.fives(other).first() : kNoPoint;
  for (const Point move : FourMoves(board, own, only)) {
    board.make(move);
    const PointSet& completions = board.fives(own);
    bool wins = false;
    if (board.fives(other).empty()) {
      const Point answer = completions.first();
      if (!board.is_legal(other, answer)) {
        wins = ends_on_foul_ = true;
      } else {
        board.make(answer);
        wins = attack(board);
        board.unmake();
        if (wins) line_.push_back(answer);
      }
    }
    board.unmake();
    if (wins) {
      line_.push_back(move);
      return true;
    }
    if (out_of_nodes_) return false;
  }
  failed_.add(board.hash());
  return false;
}

}  // namespace tengen
