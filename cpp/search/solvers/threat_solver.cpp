#include "search/solvers/threat_solver.h"

#include <algorithm>

#include "core/assert.h"
#include "patterns/defence.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

// Set by hand. docs/how/engine.md describes the puzzles used to measure the solver.
constexpr int kMaxDepth = 120;                   // longest line in plies
constexpr std::uint64_t kFourNodes = 200;        // node limit for the search for continuous fours at each node
constexpr std::size_t kMaxExpansions = 200'000;  // maximum number of cached expansions
constexpr std::uint64_t kLineNodes = 10'000;     // minimum node limit for reconstructing the line of a proof
constexpr int kLog2Fours = 20;                   // largest table size of the four solver
constexpr std::uint32_t kQuietProof = 4;         // initial proof number of quiet threats: try fours and threes first

}  // namespace

ThreatSolver::ThreatSolver(int log2_table)
    : table_(std::size_t{1} << log2_table), fours_(std::min(log2_table, kLog2Fours)), stack_(kMaxDepth + 2) {}

void ThreatSolver::clear() {
  std::fill(table_.begin(), table_.end(), Entry{});
  expansions_.clear();
  fours_.clear();
}

const ThreatSolver::Entry* ThreatSolver::find(std::uint64_t key) const {
  const std::size_t first = key & (table_.size() - 1) & ~std::size_t{3};
  for (std::size_t i = first; i < first + 4; ++i)
    if (table_[i].key == key) return &table_[i];
  return nullptr;
}

void ThreatSolver::store(std::uint64_t key, Numbers numbers) {
  const std::size_t first = key & (table_.size() - 1) & ~std::size_t{3};
  Entry* target = &table_[first];
  for (std::size_t i = first; i < first + 4; ++i) {
    Entry& entry = table_[i];
    if (entry.key == key || entry.key == 0) {
      target = &entry;
      break;
    }
    // Keep proved and refuted nodes. Of the others, replace the one with the smallest numbers: it took the least work.
    const auto worth = [](const Entry& e) {
      return e.numbers.proof == 0 || e.numbers.disproof == 0 ? kInfinity : e.numbers.proof + e.numbers.disproof;
    };
    if (worth(entry) < worth(*target)) target = &entry;
  }
  *target = {key, numbers};
}

bool ThreatSolver::out_of_budget() {
  if (exhausted_) return true;
  if (nodes_ >= limits_.nodes || (*should_stop_ && (*should_stop_)())) exhausted_ = true;
  if ((nodes_ & 63) != 0) return exhausted_;
  if (limits_.time_ms >= 0) {
    const auto elapsed = std::chrono::steady_clock::now() - start_;
    if (std::chrono::duration_cast<std::chrono::milliseconds>(elapsed).count() >= limits_.time_ms) exhausted_ = true;
  }
  return exhausted_;
}

Verdict ThreatSolver::solve(PatternBoard& board, const ThreatLimits& limits, const std::function<bool()>& should_stop) {
  TENGEN_ASSERT(!board.board().is_over());
  attacker_ = board.to_move();
  limits_ = limits;
  should_stop_ = &should_stop;
  nodes_ = 0;
  exhausted_ = false;
  start_ = std::chrono::steady_clock::now();
  line_.clear();
  plies_ = 0;
  const Numbers result = search(board, true, {kInfinity - 1, kInfinity - 1}, 0);
  if (result.proof == 0) {
    exhausted_ = false;
    limits_.nodes = nodes_ + std::max(kLineNodes, limits.nodes);
    extract_line(board, true, 0);
    return Verdict::kWin;
  }
  return result.disproof == 0 ? Verdict::kNoWin : Verdict::kUnknown;
}

Verdict ThreatSolver::solve_fours(PatternBoard& board, std::uint64_t max_nodes,
                                  const std::function<bool()>& should_stop) {
  const Verdict verdict = fours_.solve(board, max_nodes, should_stop);
  nodes_ = fours_.nodes();
  line_ = fours_.line();
  plies_ = fours_.plies();
  return verdict;
}

void ThreatSolver::attacks(const PatternBoard& board, std::vector<Child>& children) const {
  const Colour other = opponent(attacker_);
  const auto add = [&](Point p) { children.push_back({p, {}}); };
  const auto is_threat = [&](Point p) { return board.threat(attacker_, p) >= threat::kThree; };
  if (!board.fives(other).empty()) {
    five_defences(board, other).for_each([&](Point p) {
      if (board.is_legal(attacker_, p)) add(p);
    });
    return;
  }
  for (const Point p : FourMoves(board, attacker_)) add(p);
  if (board.count(other, threat::kOpenFour)) {
    // The defender is one move away from an open four. Only fours, or a three that also stops the open four, keep the
    // initiative.
    open_four_defences(board, other).for_each([&](Point p) {
      if (is_threat(p) && board.threat(attacker_, p) < threat::kFour && board.is_legal(attacker_, p)) add(p);
    });
    return;
  }
  std::vector<Child>& list = children;
  const std::size_t first = list.size();
  board.threes(attacker_).for_each(add);
  std::stable_sort(list.begin() + static_cast<std::ptrdiff_t>(first), list.end(), [&](const Child& a, const Child& b) {
    return board.threat(attacker_, a.move) > board.threat(attacker_, b.move);
  });
  if (attacker_ == kBlack) {
    // A point that looks like a double three may in fact be a legal single three.
    board.doubtful().for_each([&](Point p) {
      if (!board.makes_four(kBlack, p) && board.is_legal(kBlack, p)) add(p);
    });
  }
  // Points that make a closed three or an open two may threaten continuous fours.
  board.candidates().for_each([&](Point p) {
    const Threat t = board.threat(attacker_, p);
    if (t >= threat::kTwo && t < threat::kThree) list.push_back({p, {kQuietProof, 1}});
  });
}

// The defender faces neither a four nor an open three. Returns whether the attacker would win by continuous fours if
// the defender passed. The answers are then the points that prevent such a win. Points far from all stones and
// from the fours found cannot matter: any line of five that a stone can block or build is within four steps of one of
// them.
bool ThreatSolver::defences_against_fours(PatternBoard& board, std::vector<Child>& children) {
  board.pass();
  const bool threatened = fours_.solve(board, kFourNodes) == Verdict::kWin;
  board.pass();
  if (!threatened) return false;
  PointSet answers = board.candidates();
  if (lines_can_be_closed(board.rules())) {
    // In caro a four has several answers, and the line shows only one of them.
    answers = legal_points(board.board());
  } else {
    for (const Point p : fours_.line()) answers |= board.neighbourhood(p);
  }
  answers.remove_all(board.occupied());
  const Colour own = opponent(attacker_);
  answers.for_each([&](Point p) {
    if (!board.is_legal(own, p)) return;
    board.make(p);
    const bool still_lost = board.fives(own).empty() && fours_.solve(board, kFourNodes) == Verdict::kWin;
    board.unmake();
    if (!still_lost) children.push_back({p, {}});
  });
  return true;
}

void ThreatSolver::defences(const PatternBoard& board, std::vector<Child>& children) const {
  const Colour own = opponent(attacker_);
  if (!board.fives(attacker_).empty()) {
    five_defences(board, attacker_).for_each([&](Point p) {
      if (board.is_legal(own, p)) children.push_back({p, {}});
    });
    return;
  }
  const PointSet answers = open_four_defences(board, attacker_);
  answers.for_each([&](Point p) {
    if (board.is_legal(own, p)) children.push_back({p, {}});
  });
  for (const Point p : FourMoves(board, own))
    if (!answers.has(p)) children.push_back({p, {}});
}

ThreatSolver::Numbers ThreatSolver::expand(PatternBoard& board, bool attacking, std::vector<Child>& children) {
  const std::uint64_t key = key_of(board);
  if (const auto known = expansions_.find(key); known != expansions_.end()) {
    children = known->second;
    return {};
  }
  const Numbers settled = find_children(board, attacking, children);
  if (children.empty()) return settled;
  if (expansions_.size() >= std::min(kMaxExpansions, table_.size())) expansions_.clear();
  expansions_.emplace(key, children);
  return settled;
}

ThreatSolver::Numbers ThreatSolver::find_children(PatternBoard& board, bool attacking, std::vector<Child>& children) {
  constexpr Numbers kProved{0, kInfinity};
  constexpr Numbers kRefuted{kInfinity, 0};
  const Colour own = board.to_move();
  const Colour other = opponent(own);
  children.clear();
  if (attacking) {
    if (!board.fives(own).empty()) return kProved;
    if (board.fives(other).empty() && board.count(own, threat::kOpenFour)) return kProved;
    if (fours_.solve(board, kFourNodes) == Verdict::kWin) return kProved;
    attacks(board, children);
    return children.empty() ? kRefuted : Numbers{};
  }
  if (!board.fives(own).empty()) return kRefuted;
  if (board.count(other, threat::kFive) || board.count(other, threat::kOpenFour))
    defences(board, children);
  else if (!defences_against_fours(board, children))
    return kRefuted;
  return children.empty() ? kProved : Numbers{};
}

ThreatSolver::Numbers ThreatSolver::search(PatternBoard& board, bool attacking, Numbers limits, int depth) {
  TENGEN_ASSERT(attacking == (board.to_move() == attacker_) && !board.board().is_over());
  TENGEN_ASSERT(0 < limits.proof && limits.proof < kInfinity && 0 < limits.disproof && limits.disproof < kInfinity);
  TENGEN_ASSERT(0 <= depth && depth <= kMaxDepth);
  ++nodes_;

  // Step 1. Find the moves, or return if the node needs no search.
  const std::uint64_t key = key_of(board);
  std::vector<Child>& children = stack_[static_cast<std::size_t>(depth)];
  const Numbers settled = expand(board, attacking, children);
  if (children.empty()) {
    store(key, settled);
    return settled;
  }
  if (depth >= kMaxDepth || board.board().empties() <= 2) {
    const Numbers refuted{kInfinity, 0};
    store(key, refuted);
    return refuted;
  }
  // At the attacker's nodes, the smallest proof number counts and the disproof numbers add up. At the defender's nodes
  // it is the other way round. `first` and `sum` name the two roles.
  const auto first = [attacking](const Numbers& n) { return attacking ? n.proof : n.disproof; };
  const auto sum = [attacking](const Numbers& n) { return attacking ? n.disproof : n.proof; };
  const auto numbers = [attacking](std::uint32_t smallest, std::uint32_t total) {
    return attacking ? Numbers{smallest, total} : Numbers{total, smallest};
  };

  // Step 2. Read the numbers of the children from the table.
  for (Child& child : children) {
    TENGEN_ASSERT(board.is_empty(child.move) && board.is_legal(board.to_move(), child.move));
    board.make(child.move);
    if (const Entry* known = find(key_of(board))) child.numbers = known->numbers;
    board.unmake();
  }
  while (true) {
    // Step 3. Find the most promising child and the numbers of this node.
    Child* best = children.data();
    std::uint32_t second = kInfinity;
    std::uint32_t total = 0;
    for (Child& child : children) {
      total = std::min(kInfinity, total + sum(child.numbers));
      if (&child == best) continue;
      if (first(child.numbers) < first(best->numbers)) {
        second = first(best->numbers);
        best = &child;
      } else {
        second = std::min(second, first(child.numbers));
      }
    }

    // Step 4. Return when a limit is reached.
    const Numbers here = numbers(first(best->numbers), total);
    if (first(here) >= first(limits) || sum(here) >= sum(limits) || first(here) == 0 || sum(here) == 0 ||
        out_of_budget()) {
      store(key, here);
      return here;
    }

    // Step 5. Search the child until it is clearly worse than the second-best child (the 1 + epsilon trick of Pawlewicz
    // and Lew), so that the search does not alternate between children of equal rank.
    const std::uint32_t child_first = std::min(first(limits), second + second / 4 + 1);
    const std::uint32_t child_sum = std::min(kInfinity - 1, sum(limits) - total + sum(best->numbers));
    board.make(best->move);
    best->numbers = search(board, !attacking, numbers(child_first, child_sum), depth + 1);
    board.unmake();
  }
}

// Append the continuous fours that end the line. If the defender is to move, append one of its answers first.
void ThreatSolver::finish_line(PatternBoard& board, bool attacking) {
  Point answer = kNoPoint;
  if (!attacking) {
    const Colour own = board.to_move();
    const PointSet fives = board.fives(attacker_);
    (fives.empty() ? board.candidates() : fives).for_each([&](Point p) {
      if (answer == kNoPoint && board.is_legal(own, p)) answer = p;
    });
    plies_ = static_cast<int>(line_.size()) + 2;
    if (answer == kNoPoint) return;
    line_.push_back(answer);
    board.make(answer);
  }
  plies_ = static_cast<int>(line_.size());
  if (fours_.solve(board, kLineNodes) == Verdict::kWin) {
    plies_ += fours_.plies();
    line_.insert(line_.end(), fours_.line().begin(), fours_.line().end());
  }
  if (answer != kNoPoint) board.unmake();
}

// Append one line through the proved tree to line_; return whether it is complete. Nodes whose table entries were
// overwritten are searched again.
bool ThreatSolver::extract_line(PatternBoard& board, bool attacking, int depth) {
  std::vector<Child> children;
  const Numbers settled = expand(board, attacking, children);
  if (children.empty()) {
    if (settled.proof == 0) finish_line(board, attacking);
    return settled.proof == 0;
  }
  if (depth >= kMaxDepth) return false;
  const auto follow = [&](const Child& child) {
    board.make(child.move);
    const Entry* entry = find(key_of(board));
    Numbers known = entry ? entry->numbers : child.numbers;
    // All of the defender's replies lose, so the first one is enough. The attacker needs a proved move.
    if (!attacking && known.proof != 0) known = search(board, true, {kInfinity - 1, kInfinity - 1}, depth + 1);
    bool found = false;
    if (known.proof == 0) {
      line_.push_back(child.move);
      found = extract_line(board, !attacking, depth + 1);
      if (!found) line_.pop_back();
    }
    board.unmake();
    return found;
  };
  if (std::ranges::any_of(children, follow)) return true;
  if (!attacking) return false;
  // The table entry of the attacker's winning move was overwritten: search again.
  search(board, true, {kInfinity - 1, kInfinity - 1}, depth);
  return std::ranges::any_of(children, follow);
}

}  // namespace tengen
