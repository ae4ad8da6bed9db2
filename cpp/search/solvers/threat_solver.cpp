#include "search/solvers/threat_solver.h"

#include <algorithm>

#include "patterns/defence.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

constexpr int kMaxDepth = 120;
constexpr std::uint64_t kFourNodes = 200;  // a look for continuous fours at each node
constexpr std::size_t kMaxExpansions = 200'000;
constexpr std::uint64_t kLineNodes = 10'000;  // to read a proved line off the tables, or as many as the proof may take
constexpr int kLog2Fours = 16;
constexpr std::uint32_t kQuietProof = 4;  // a quiet threat is tried after fours and threes

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
    // Settled nodes are worth keeping; of the others the least worked on goes.
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
    // He is one move from an open four: only fours, or a three that stops him on the way, keep the initiative.
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
    // What looks like a double three may be one three and legal.
    board.doubtful().for_each([&](Point p) {
      if (!board.makes_four(kBlack, p) && board.is_legal(kBlack, p)) add(p);
    });
  }
  // Points that add a closed three or an open two may prepare continuous fours.
  board.candidates().for_each([&](Point p) {
    const Threat t = board.threat(attacker_, p);
    if (t >= threat::kTwo && t < threat::kThree) list.push_back({p, {kQuietProof, 1}});
  });
}

// The defender faces no four and no three. If he passed, would continuous fours win? Then his answers are the points
// after which they no longer do. Points away from all stones and from the fours found cannot matter: whatever line of
// five a defending stone is to disturb or to build lies within four steps of one of them.
bool ThreatSolver::defences_against_fours(PatternBoard& board, std::vector<Child>& children) {
  board.pass();
  const bool threatened = fours_.solve(board, kFourNodes) == Verdict::kWin;
  board.pass();
  if (!threatened) return false;
  PointSet answers = board.candidates();
  if (lines_can_be_closed(board.rules())) {
    // A four has several answers, of which the line shows one.
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
  const Numbers settled = expand_anew(board, attacking, children);
  if (children.empty()) return settled;
  if (expansions_.size() >= std::min(kMaxExpansions, table_.size())) expansions_.clear();
  expansions_.emplace(key, children);
  return settled;
}

ThreatSolver::Numbers ThreatSolver::expand_anew(PatternBoard& board, bool attacking, std::vector<Child>& children) {
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
  ++nodes_;
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
  // At the attacker's nodes the smallest proof number counts and the disproof numbers add up; at the defender's nodes
  // the other way round. `first` and `sum` name the two roles.
  const auto first = [attacking](const Numbers& n) { return attacking ? n.proof : n.disproof; };
  const auto sum = [attacking](const Numbers& n) { return attacking ? n.disproof : n.proof; };
  const auto numbers = [attacking](std::uint32_t smallest, std::uint32_t total) {
    return attacking ? Numbers{smallest, total} : Numbers{total, smallest};
  };
  for (Child& child : children) {
    board.make(child.move);
    if (const Entry* known = find(key_of(board))) child.numbers = known->numbers;
    board.unmake();
  }
  while (true) {
    Child* best = &children[0];
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
    const Numbers here = numbers(first(best->numbers), total);
    if (first(here) >= first(limits) || sum(here) >= sum(limits) || first(here) == 0 || sum(here) == 0 ||
        out_of_budget()) {
      store(key, here);
      return here;
    }
    // 1 + a quarter: a little past the second best, so that the search does not jump between equals.
    const std::uint32_t child_first = std::min(first(limits), second + second / 4 + 1);
    const std::uint32_t child_sum = std::min(kInfinity - 1, sum(limits) - total + sum(best->numbers));
    board.make(best->move);
    best->numbers = search(board, !attacking, numbers(child_first, child_sum), depth + 1);
    board.unmake();
  }
}

// Nothing is left to try: fours win, after any answer of the defender if he is to move.
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

// Walk the proved tree from the root. Entries that the table has lost are searched again.
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
    // The defender's replies are all lost: the first will do. The attacker needs a proved one.
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
  // The table has lost the attacker's move itself.
  search(board, true, {kInfinity - 1, kInfinity - 1}, depth);
  return std::ranges::any_of(children, follow);
}

}  // namespace tengen
