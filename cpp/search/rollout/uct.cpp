#include "search/rollout/uct.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <utility>

#include "core/assert.h"

namespace tengen {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// Playout limit if there is only one move: enough to estimate its value.
constexpr std::uint64_t kPlayoutsOfOnlyMove = 256;

// The outcome of a game in which `colour` gets `result`.
Outcome outcome_of(Result result, Colour colour) {
  if (result == Result::kDraw) return Outcome::kDraw;
  return win_for(result == Result::kWin ? colour : opponent(colour));
}

Result result_for(Outcome outcome, Colour colour) {
  if (outcome == Outcome::kDraw) return Result::kDraw;
  return outcome == win_for(colour) ? Result::kWin : Result::kLoss;
}

// The moves at a node, and the proofs known before any move is visited.
struct Expansion {
  PointSet moves;
  bool complete = false;
  NodeProof proof;        // of the node, for the side that moved there
  NodeProof child_proof;  // of each child, for the side to move
};

// The moves are the candidates. With the solver, they are only the winning moves or the answers to a four, if any.
Expansion expand_moves(const Board& board, const UctOptions& options, const std::vector<Point>& excluded) {
  const PointSet legal = legal_points(board);
  if (legal.empty()) return {{}, true, {Result::kWin, true, 0}, {}};  // every empty point is forbidden for black
  Expansion expansion;
  if (options.solve) {
    PointSet allowed = legal;
    for (const Point p : excluded) allowed.remove(p);
    const Colour own = board.to_move();
    const PointSet wins = allowed & completing_points(board, own);
    if (!wins.empty()) return {wins, true, {Result::kLoss, true, 1}, {Result::kWin, true, 0}};
    const PointSet fives = completing_points(board, opponent(own));
    const PointSet answers = allowed & fives;
    // In caro an answer to one five can close another, so two threatened fives prove nothing.
    const bool too_many = !lines_can_be_closed(board.rules()) && fives.size() > 1;
    if (excluded.empty() && !fives.empty() && (answers.empty() || too_many)) {
      expansion.proof = {Result::kWin, true, 2};
      expansion.child_proof = {Result::kLoss, true, 1};
    }
    if (!answers.empty()) {
      expansion.moves = answers;
      expansion.complete = excluded.empty();
      return expansion;
    }
  }
  const PointSet near = legal & points_near_stones(board, options.radius);
  expansion.moves = without(near.empty() ? legal : near, excluded);
  expansion.complete = expansion.moves == legal;
  return expansion;
}

// A snapshot of a node's counters, which other threads may be changing.
struct Statistics {
  std::uint32_t visits;
  std::uint64_t half_points;
  NodeProof proof;

  explicit Statistics(const UctNode& node)
      : visits(node.visits.load(kRelaxed)), half_points(node.half_points.load(kRelaxed)), proof(node.proved()) {}
};

// The order of moves, best first: wins (shortest first), then unproved moves by visits and mean, then losses (longest
// first). Proved draws get no more visits, so they come either before or after all unproved moves.
struct Preference {
  bool draws_first;

  int rank(Result result) const {
    switch (result) {
      case Result::kWin:
        return 3;
      case Result::kDraw:
        return draws_first ? 2 : 1;
      case Result::kUnknown:
        return draws_first ? 1 : 2;
      case Result::kLoss:
        break;
    }
    return 0;
  }

  bool operator()(const Statistics& a, const Statistics& b) const {
    if (a.proof.result != b.proof.result) return rank(a.proof.result) > rank(b.proof.result);
    if (a.proof.result == Result::kWin && a.proof.plies != b.proof.plies) return a.proof.plies < b.proof.plies;
    if (a.proof.result == Result::kLoss && a.proof.plies != b.proof.plies) return a.proof.plies > b.proof.plies;
    if (a.visits != b.visits) return a.visits > b.visits;
    return a.half_points > b.half_points;
  }
};

RolloutMove describe(Point point, const Statistics& statistics) {
  RolloutMove move;
  move.move = point;
  move.visits = statistics.visits;
  const NodeProof& proof = statistics.proof;
  if (proof.result != Result::kUnknown) {
    move.value_to_move = proof.result == Result::kWin ? 1 : proof.result == Result::kLoss ? -1 : 0;
  } else if (statistics.visits > 0) {
    move.value_to_move = static_cast<double>(statistics.half_points) / statistics.visits - 1;
  }
  if (proof.solid) {
    move.proof = proof.result;
    move.proof_plies = proof.plies + 1;
  }
  return move;
}

// One search: the tree that all threads share, and the reports.
class TreeSearch {
 public:
  TreeSearch(UctArena& arena, const UctOptions& options, const Board& board, const RolloutLimits& limits)
      : arena_(arena), options_(options), limits_(limits), start_(board, options.policy), root_(arena.reset()) {}

  // Create the children of the root. Returns false if it has no children.
  bool expand_root(Rng& rng) { return try_expand(root_, start_.board(), rng, limits_.excluded); }
  bool has_only_move() const { return root_.child_count == 1; }

  // Run one simulation. `board` is a copy of start().
  void simulate(PlayoutBoard& board, Rng& rng);
  const PlayoutBoard& start() const { return start_; }
  bool is_solved() const { return root_.proved().result != Result::kUnknown; }
  std::uint64_t playouts() const { return root_.visits.load(kRelaxed); }
  RolloutReport report(double elapsed_ms);

 private:
  UctNode* children(const UctNode& node) { return &arena_.at(node.first_child); }
  bool try_expand(UctNode& node, const Board& board, Rng& rng, const std::vector<Point>& excluded);
  UctNode& select(const UctNode& node);
  bool prove(UctNode& node);
  std::vector<std::pair<const UctNode*, Statistics>> ranked_children(const UctNode& node);
  std::vector<Point> line_through(const UctNode& child);

  UctArena& arena_;
  const UctOptions& options_;
  const RolloutLimits& limits_;
  PlayoutBoard start_;
  UctNode& root_;
};

// Create the children of a node. Returns false if another thread is doing it, if the memory is used up, or if there is
// no legal move.
bool TreeSearch::try_expand(UctNode& node, const Board& board, Rng& rng, const std::vector<Point>& excluded) {
  NodeState state = NodeState::kLeaf;
  if (!node.state.compare_exchange_strong(state, NodeState::kExpanding, kRelaxed)) return false;
  const Expansion expansion = expand_moves(board, options_, excluded);
  if (options_.solve) node.proof.store(expansion.proof.pack(), kRelaxed);
  const int count = expansion.moves.size();
  const std::uint32_t first = count > 0 ? arena_.allocate(count) : UctArena::kFull;
  if (first == UctArena::kFull) {
    node.state.store(NodeState::kLeaf, kRelaxed);
    return false;
  }
  UctNode* child = &arena_.at(first);
  UctNode* const first_child = child;
  expansion.moves.for_each([&](Point move) {
    child->move = move;
    child->proof.store(expansion.child_proof.pack(), kRelaxed);
    ++child;
  });
  // Unvisited children are tried in order. Shuffle them, so that no side of the board is preferred.
  for (int i = count - 1; i > 0; --i)
    std::swap(first_child[i].move, first_child[rng.below(static_cast<std::uint32_t>(i + 1))].move);
  node.first_child = first;
  node.child_count = static_cast<std::uint16_t>(count);
  node.complete = expansion.complete;
  node.state.store(NodeState::kExpanded, std::memory_order_release);
  return true;
}

// The child with the highest UCB1 = mean + c * sqrt(ln n / n_i); unvisited children come first. Proved children need no
// exploration: a win is always selected, draws and losses only if there is nothing else.
UctNode& TreeSearch::select(const UctNode& node) {
  TENGEN_ASSERT(node.child_count > 0);
  const double log_visits = std::log(static_cast<double>(std::max(1u, node.visits.load(kRelaxed))));
  const double width = options_.exploration * std::sqrt(log_visits);
  UctNode* const first = children(node);
  UctNode* best = nullptr;
  UctNode* draw = nullptr;
  UctNode* longest_loss = first;
  double best_score = -std::numeric_limits<double>::infinity();
  for (UctNode* child = first; child != first + node.child_count; ++child) {
    if (const NodeProof proof = child->proved(); proof.result != Result::kUnknown) {
      if (proof.result == Result::kWin) return *child;
      if (proof.result == Result::kDraw) draw = child;
      if (proof.result == Result::kLoss && proof.plies > longest_loss->proved().plies) longest_loss = child;
      continue;
    }
    const std::uint32_t visits = child->visits.load(kRelaxed);
    if (visits == 0) return *child;
    const auto count = static_cast<double>(visits);
    const double mean = static_cast<double>(child->half_points.load(kRelaxed)) / (2 * count);
    const double score = mean + width / std::sqrt(count);
    if (score > best_score) {
      best_score = score;
      best = child;
    }
  }
  if (best) return *best;
  return draw ? *draw : *longest_loss;
}

// Try to prove a node from its children. Returns true if it is now proved and was not before.
bool TreeSearch::prove(UctNode& node) {
  if (node.proved().result != Result::kUnknown || node.state.load(std::memory_order_acquire) != NodeState::kExpanded)
    return false;
  NodeProof all{Result::kWin, node.complete, 0};
  bool all_known = true;
  for (const UctNode *child = children(node), *end = child + node.child_count; child != end; ++child) {
    const NodeProof proof = child->proved();
    if (proof.result == Result::kWin) {
      node.proof.store(NodeProof{Result::kLoss, proof.solid, proof.plies + 1}.pack(), kRelaxed);
      return true;
    }
    all_known = all_known && proof.result != Result::kUnknown;
    if (proof.result == Result::kDraw) all.result = Result::kDraw;
    all.solid = all.solid && proof.solid;
    all.plies = std::max(all.plies, proof.plies + 1);
  }
  if (all_known) node.proof.store(all.pack(), kRelaxed);
  return all_known;
}

void TreeSearch::simulate(PlayoutBoard& board, Rng& rng) {
  TENGEN_ASSERT(board.board().hash() == start_.board().hash());
  std::array<UctNode*, kMaxArea + 1> path;
  const Colour root_mover = opponent(board.board().to_move());
  int depth = 0;
  path[0] = &root_;
  root_.visits.fetch_add(1, kRelaxed);
  Outcome outcome = Outcome::kOngoing;
  bool newly_proved = false;

  // Step 1. Selection: walk down the tree to a node without children.
  for (UctNode* node = &root_; node->state.load(std::memory_order_acquire) == NodeState::kExpanded;) {
    node = &select(*node);
    path[++depth] = node;
    const std::uint32_t earlier_visits = node->visits.fetch_add(1, kRelaxed);
    TENGEN_ASSERT(is_legal(board.board(), node->move));
    board.make(node->move);
    const Colour mover = opponent(board.board().to_move());
    if (board.board().is_over()) {
      outcome = board.board().outcome();
      newly_proved =
          options_.solve && node->proof.exchange(NodeProof{result_for(outcome, mover), true, 0}.pack(), kRelaxed) == 0;
      break;
    }
    // Step 2. Expansion, after a number of visits.
    if (earlier_visits >= options_.expand_after && node->state.load(kRelaxed) == NodeState::kLeaf) {
      try_expand(*node, board.board(), rng, {});
      newly_proved = node->proved().result != Result::kUnknown;
    }
    if (const NodeProof proof = node->proved(); proof.result != Result::kUnknown) {
      outcome = outcome_of(proof.result, mover);
      break;
    }
  }

  // Step 3. Playout.
  if (outcome == Outcome::kOngoing) outcome = board.play_out(rng);

  // Step 4. Back up proofs, then results.
  for (int i = depth - 1; i >= 0 && newly_proved; --i) newly_proved = prove(*path[i]);
  for (int i = 0; i <= depth; ++i) {
    const Colour mover = i % 2 == 0 ? root_mover : opponent(root_mover);
    path[i]->half_points.fetch_add(half_points(outcome, mover), kRelaxed);
  }
}

// The children of an expanded node, best first.
std::vector<std::pair<const UctNode*, Statistics>> TreeSearch::ranked_children(const UctNode& node) {
  std::vector<std::pair<const UctNode*, Statistics>> ranked;
  const UctNode* const first = children(node);
  for (const UctNode* child = first; child != first + node.child_count; ++child)
    ranked.emplace_back(child, Statistics(*child));
  const auto sort = [&ranked](Preference preference) {
    std::stable_sort(ranked.begin(), ranked.end(),
                     [&](const auto& a, const auto& b) { return preference(a.second, b.second); });
  };
  sort({.draws_first = false});
  const auto unproved = std::find_if(ranked.begin(), ranked.end(),
                                     [](const auto& entry) { return entry.second.proof.result == Result::kUnknown; });
  if (unproved != ranked.end() && unproved->second.half_points < unproved->second.visits) sort({.draws_first = true});
  return ranked;
}

std::vector<Point> TreeSearch::line_through(const UctNode& child) {
  std::vector<Point> line{child.move};
  for (const UctNode* node = &child; node->state.load(std::memory_order_acquire) == NodeState::kExpanded;) {
    const auto best = ranked_children(*node).front();
    if (best.second.visits == 0) break;
    node = best.first;
    line.push_back(node->move);
  }
  return line;
}

RolloutReport TreeSearch::report(double elapsed_ms) {
  RolloutReport report;
  report.playouts = playouts();
  report.nodes = arena_.size();
  report.elapsed_ms = elapsed_ms;
  for (const auto& [child, statistics] : ranked_children(root_)) {
    report.moves.push_back(describe(child->move, statistics));
    if (report.moves.size() <= static_cast<std::size_t>(limits_.lines)) report.moves.back().line = line_through(*child);
  }
  // The caller treats the proof of the best move as the proof of the position. For a loss or a draw, this is valid only
  // if no move has been ignored.
  if (report.moves[0].proof != Result::kWin && !root_.proved().solid) report.moves[0].proof = Result::kUnknown;
  return report;
}

}  // namespace

// ---- Arena --------------------------------------------------------------------------------------------------------

UctArena::UctArena(std::size_t memory_bytes) {
  // At least one chunk, and no more than 32-bit node numbers can address.
  constexpr std::size_t kMaxChunks = std::size_t{1} << (32 - kLog2Chunk);
  chunks_.resize(std::clamp<std::size_t>(memory_bytes / (sizeof(UctNode) * kChunk), 1, kMaxChunks));
}

UctNode& UctArena::reset() {
  next_ = 0;
  allocated_ = 0;
  allocate(1);
  return at(0);
}

std::uint32_t UctArena::allocate(int count) {
  const std::lock_guard lock(mutex_);
  const auto wanted = static_cast<std::uint32_t>(count);
  std::uint32_t first = next_;
  // All children of a node are in one chunk.
  if ((first & (kChunk - 1)) + wanted > kChunk) first = (first | (kChunk - 1)) + 1;
  const std::size_t chunk = first >> kLog2Chunk;
  if (chunk >= chunks_.size() || (first == 0 && allocated_ > 0)) return kFull;
  if (!chunks_[chunk]) chunks_[chunk].reset(new (std::nothrow) UctNode[kChunk]);
  if (!chunks_[chunk]) return kFull;
  for (UctNode *node = &at(first), *end = node + wanted; node != end; ++node) {
    node->half_points.store(0, kRelaxed);
    node->visits.store(0, kRelaxed);
    node->proof.store(0, kRelaxed);
    node->first_child = kFull;
    node->child_count = 0;
    node->move = kNoPoint;
    node->complete = false;
    node->state.store(NodeState::kLeaf, kRelaxed);
  }
  next_ = first + wanted;
  allocated_ += wanted;
  return first;
}

// ---- Search -------------------------------------------------------------------------------------------------------

RolloutReport Uct::search(const Board& board, const RolloutLimits& limits, std::uint64_t seed,
                          const OnRolloutReport& on_report, const StopSignal* stop) {
  TENGEN_ASSERT(!board.is_over() && limits.threads >= 1);
  TreeSearch tree(arena_, options_, board, limits);
  Rng root_rng(seed);
  if (!tree.expand_root(root_rng)) return {};
  PlayoutBudget budget(limits, stop, tree.has_only_move() ? kPlayoutsOfOnlyMove : PlayoutBudget::kNone);
  ReportSchedule schedule;
  run_workers(limits.threads, budget, [&](int worker) {
    Rng rng(mixed_seed(seed, static_cast<std::uint64_t>(worker) + 1));
    while (budget.take() != PlayoutBudget::kNone) {
      PlayoutBoard playout = tree.start();
      tree.simulate(playout, rng);
      if (tree.is_solved()) budget.end();
      if (worker == 0 && on_report && schedule.is_due(tree.playouts(), budget.elapsed_ms()))
        on_report(tree.report(budget.elapsed_ms()));
    }
  });
  return tree.report(budget.elapsed_ms());
}

}  // namespace tengen
