#include "search/puct/tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <string>

#include "core/assert.h"
#include "patterns/legality.h"
#include "search/puct/formula.h"
#include "search/puct/noise.h"

namespace tengen {
namespace {

// A search for threats costs as much as dozens of simulations. It is worth this cost only at nodes with at least
// 1 / kThreatShare of the root's visits.
constexpr std::uint32_t kThreatShare = 8;

}  // namespace

std::vector<int> plan_halving(int candidates, int simulations) {
  std::vector<int> plan;
  plan.reserve(static_cast<std::size_t>(simulations));
  int phases = 0;
  while ((1 << phases) < candidates) ++phases;
  int visits = 0;
  for (int left = candidates; static_cast<int>(plan.size()) < simulations; left = std::max(2, left / 2)) {
    const int rounds = phases == 0 ? simulations : std::max(1, simulations / (phases * left));
    for (int round = 0; round < rounds && static_cast<int>(plan.size()) < simulations; ++round, ++visits)
      plan.insert(plan.end(), static_cast<std::size_t>(std::min(left, candidates)), visits);
  }
  plan.resize(static_cast<std::size_t>(simulations));
  return plan;
}

PuctTree::PuctTree(const PuctOptions& options, int area)
    : options_(&options), area_(area), gumbel_(static_cast<std::size_t>(area)) {
  reset();
}

void PuctTree::reset() {
  nodes_.assign(1, PuctNode{});
  edges_.clear();
  std::fill(gumbel_.begin(), gumbel_.end(), 0.0f);
  begun_ = finished_ = 0;
  has_repeats_ = false;
}

void PuctTree::begin(const PuctSearchPlan& plan, Rng& rng) {
  TENGEN_ASSERT(root().pending == 0 && plan.simulations >= 0);
  plan_ = plan;
  begun_ = finished_ = 0;
  if (root().evaluated) prepare_root(rng);
}

void PuctTree::limit(std::size_t bytes) {
  max_bytes_ = bytes;
  try {
    nodes_.reserve(bytes / sizeof(PuctNode));
    edges_.reserve(bytes / sizeof(PuctEdge));
  } catch (const std::bad_alloc&) {
    return;  // not enough memory: the tree grows as far as it can
  }
}

// Compacts the arrays in place. Children come after their parents, so moving nodes down in index order never overwrites
// a node that has not been moved yet.
bool PuctTree::advance(Point move) {
  TENGEN_ASSERT(root().pending == 0);
  const PuctEdge* const first = edges_of(root());
  const PuctEdge* const last = first + root().opened;
  const PuctEdge* const taken = std::find_if(first, last, [move](const PuctEdge& edge) { return edge.move == move; });
  // The search stops at proved nodes, so they are incomplete and cannot become the root.
  if (taken == last || !nodes_[taken->child].evaluated || nodes_[taken->child].proof != Result::kUnknown) {
    reset();
    return false;
  }

  // Step 1. Move the nodes below the new root, and record their new indices.
  constexpr std::uint32_t kDropped = 0;
  std::vector<std::uint32_t> place(nodes_.size(), kDropped);  // 1 + the new index
  std::vector<std::uint32_t> with_edges;                      // new indices
  std::uint32_t kept = 0;
  place[taken->child] = 1;
  for (std::uint32_t old = taken->child; old < nodes_.size(); ++old) {
    if (place[old] == kDropped) continue;
    place[old] = ++kept;
    const PuctNode& node = nodes_[kept - 1] = nodes_[old];
    const PuctEdge* const edges = edges_of(node);
    for (int i = 0; i < node.opened; ++i) place[edges[i].child] = 1;
    if (node.edge_count > 0) with_edges.push_back(kept - 1);
  }
  nodes_.resize(kept);

  // Step 2. Move their edges in the old order, and update the child indices.
  std::sort(with_edges.begin(), with_edges.end(),
            [this](std::uint32_t a, std::uint32_t b) { return nodes_[a].first_edge < nodes_[b].first_edge; });
  std::uint32_t edge_count = 0;
  for (const std::uint32_t index : with_edges) {
    PuctNode& node = nodes_[index];
    const PuctEdge* const edges = edges_of(node);
    for (int i = 0; i < node.edge_count; ++i) {
      PuctEdge& moved = edges_[edge_count + static_cast<std::uint32_t>(i)] = edges[i];
      if (i < node.opened) moved.child = place[moved.child] - 1;
    }
    node.first_edge = edge_count;
    edge_count += node.edge_count;
  }
  edges_.resize(edge_count);
  return true;
}

// ---- Values -------------------------------------------------------------------------------------------------------

double PuctTree::proved_value(const PuctNode& node) const {
  if (node.proof == Result::kDraw) return 0.0;
  const double size = options_->discount == 1.0f ? 1.0 : std::pow(options_->discount, node.proof_plies);
  return node.proof == Result::kWin ? size : -size;
}

double PuctTree::value_of(const PuctNode& child) const {
  return options_->discount * (child.proof != Result::kUnknown ? proved_value(child) : child.mean());
}

// The mean of the network's value and the values of the visited moves, which are weighted by their priors (Danihelka et
// al. 2022, equation 33).
double PuctTree::mixed_value(const PuctNode& node) const {
  const PuctEdge* const edges = edges_of(node);
  double visits = 0;
  double prior = 0;
  double weighted = 0;
  for (int i = 0; i < node.opened; ++i) {
    const PuctNode& child = nodes_[edges[i].child];
    if (child.visits == 0) continue;
    visits += child.visits;
    prior += edges[i].raw_prior;
    weighted += edges[i].raw_prior * value_of(child);
  }
  if (visits == 0) return node.evaluation_to_move;
  return (node.evaluation_to_move + visits * weighted / std::max<double>(prior, kLeastPrior)) / (1 + visits);
}

void PuctTree::scaled_values(const PuctNode& node, std::vector<float>& scaled) const {
  const PuctEdge* const edges = edges_of(node);
  const auto mixed = static_cast<float>(mixed_value(node));
  scaled.assign(node.edge_count, mixed);
  std::uint32_t most_visits = 0;
  for (int i = 0; i < node.opened; ++i) {
    const PuctNode& child = nodes_[edges[i].child];
    most_visits = std::max(most_visits, child.visits);
    if (child.visits > 0 || child.proof != Result::kUnknown)
      scaled[static_cast<std::size_t>(i)] = static_cast<float>(value_of(child));
  }
  const auto [low, high] = std::minmax_element(scaled.begin(), scaled.end());
  const float lowest = *low;
  const float factor = (options_->gumbel_visit_offset + static_cast<float>(most_visits)) *
                       options_->gumbel_value_scale / std::max(*high - lowest, 1e-8f);
  for (float& value : scaled) value = (value - lowest) * factor;
}

// ---- Selection ----------------------------------------------------------------------------------------------------

// The edge with the highest PUCT score. Edges without a child differ only in their priors and are sorted by them, so it
// is enough to look at the opened edges and the next one.
int PuctTree::select_by_puct(const PuctNode& node, bool is_root, bool may_open) const {
  TENGEN_ASSERT(node.evaluated && node.edge_count > 0 && node.pending > 0);
  const double loss = options_->virtual_loss;
  // Not counting the evaluation of the node itself and the current walk.
  const double total = std::max(0.0, static_cast<double>(node.visits) + node.pending - 2.0);
  const double width = puct_factor(*options_, node.visits) * std::sqrt(total);
  const float reduction = is_root ? options_->fpu_reduction_root : options_->fpu_reduction;
  const double first_play =
      options_->fpu_from_parent ? -node.mean() - reduction * std::sqrt(node.opened_prior) : options_->first_play_value;
  const double forced = is_root && plan_.forced_playouts ? options_->forced_playouts * total : 0.0;
  const PuctEdge* const edges = edges_of(node);
  int best = -1;
  double best_score = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < node.opened; ++i) {
    const PuctNode& child = nodes_[edges[i].child];
    // Proved losses and draws need no more visits.
    if (options_->solve && (child.proof == Result::kLoss || child.proof == Result::kDraw)) continue;
    const double walks = child.visits + child.pending;
    if (forced > 0 && child.visits > 0 && walks * walks < forced * edges[i].prior) return i;
    const double count = child.visits + loss * child.pending;
    const double value = count > 0 ? options_->discount * (child.value_sum - loss * child.pending) / count : first_play;
    const double score = puct_score(value, edges[i].prior, count, width);
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  if (!may_open) return best;
  if (node.opened < node.edge_count) {
    const double score = puct_score(first_play, edges[node.opened].prior, 0, width);
    if (score > best_score) best = node.opened;
  }
  return std::max(best, 0);
}

// The best candidate among those with the visit count that the halving plan requires.
int PuctTree::select_by_halving(const PuctNode& node) const {
  TENGEN_ASSERT(begun_ > 0 && begun_ <= static_cast<int>(halving_plan_.size()));
  const int wanted = halving_plan_[static_cast<std::size_t>(begun_ - 1)];
  scaled_values(node, scratch_);
  const PuctEdge* const edges = edges_of(node);
  int best = -1;
  float best_score = -std::numeric_limits<float>::infinity();
  for (int i = 0; i < node.edge_count; ++i) {
    int walks = 0;
    if (i < node.opened) {
      const PuctNode& child = nodes_[edges[i].child];
      walks = static_cast<int>(child.visits + child.pending);
    }
    if (walks != wanted) continue;
    const float score = gumbel_[edges[i].move] + edges[i].log_prior() + scratch_[static_cast<std::size_t>(i)];
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  return best >= 0 ? best : select_by_puct(node, true, true);
}

std::uint32_t PuctTree::open(std::uint32_t parent, int edge) {
  const auto child = static_cast<std::uint32_t>(nodes_.size());
  nodes_.emplace_back();
  PuctNode& node = nodes_[parent];
  PuctEdge* const edges = edges_of(node);
  std::rotate(edges + node.opened, edges + edge, edges + edge + 1);
  PuctEdge& opened = edges[node.opened++];
  opened.child = child;
  node.opened_prior += opened.prior;
  nodes_[child].move = opened.move;
  return child;
}

int PuctTree::select(const PuctNode& node, bool is_root, bool may_open) const {
  if (is_root && plan_.gumbel) {
    const int edge = select_by_halving(node);
    if (may_open || edge < node.opened) return edge;
  }
  return select_by_puct(node, is_root, may_open);
}

PuctWalk::End PuctTree::walk(PuctBoard& board, PuctWalk& walk) {
  walk.path.assign(1, 0);
  walk.counts = root().evaluated;
  if (walk.counts) ++begun_;
  ++nodes_[0].pending;
  const bool may_open = !is_full();
  for (std::uint32_t index = 0;;) {
    const PuctNode& node = nodes_[index];
    if (node.proof != Result::kUnknown) return PuctWalk::End::kKnown;
    if (!node.evaluated) return node.pending > 1 ? PuctWalk::End::kCollision : PuctWalk::End::kLeaf;
    if (options_->vct_nodes > 0 && !node.examined && node.visits >= options_->vct_visits &&
        node.visits * kThreatShare >= root().visits) {
      nodes_[index].examined = true;
      return PuctWalk::End::kThreats;
    }
    const int edge = select(node, index == 0, may_open);
    if (edge < 0) return PuctWalk::End::kKnown;
    index = edge < node.opened ? edges_of(node)[edge].child : open(index, edge);
    ++nodes_[index].pending;
    walk.path.push_back(index);
    TENGEN_ASSERT(is_legal(board.board(), nodes_[index].move));
    board.make(nodes_[index].move);
  }
}

// ---- Expansion ----------------------------------------------------------------------------------------------------

void PuctTree::add_edges(PuctNode& node, const PointSet& moves, const float* log_policy) {
  node.evaluated = true;
  node.first_edge = static_cast<std::uint32_t>(edges_.size());
  node.opened = 0;
  node.opened_prior = 0;
  float highest = -std::numeric_limits<float>::infinity();
  moves.for_each([&](Point move) {
    edges_.push_back({0, log_policy ? log_policy[move] : 0, 0, move});
    highest = std::max(highest, edges_.back().raw_prior);
  });
  node.edge_count = static_cast<std::uint16_t>(edges_.size() - node.first_edge);
  PuctEdge* const first = edges_of(node);
  const PuctEdge* const last = first + node.edge_count;
  const bool usable = std::isfinite(highest);
  float sum = 0;
  for (PuctEdge* edge = first; edge != last; ++edge)
    sum += edge->raw_prior = usable ? std::exp(edge->raw_prior - highest) : 1.0f;
  for (PuctEdge* edge = first; edge != last; ++edge) edge->prior = edge->raw_prior /= sum;
}

void PuctTree::add_noise(PuctNode& node, Rng& rng) {
  const float alpha = dirichlet_alpha(node.edge_count);
  scratch_.resize(node.edge_count);
  float sum = 0;
  for (float& amount : scratch_) sum += amount = draw_gamma(rng, alpha);
  if (!(sum > 0)) return;
  const float share = options_->noise_fraction / sum;
  PuctEdge* edge = edges_of(node);
  for (const float amount : scratch_) {
    edge->prior = (1 - options_->noise_fraction) * edge->prior + share * amount;
    ++edge;
  }
}

void PuctTree::sort_unopened(PuctNode& node) {
  PuctEdge* const first = edges_of(node);
  std::sort(first + node.opened, first + node.edge_count, [](const PuctEdge& a, const PuctEdge& b) {
    return a.prior != b.prior ? a.prior > b.prior : a.move < b.move;
  });
  node.opened_prior = 0;
  for (const PuctEdge* edge = first; edge != first + node.opened; ++edge) node.opened_prior += edge->prior;
}

// Prepare the root for the first walk below it: temperature, noise, and the plan for a Gumbel search.
void PuctTree::prepare_root(Rng& rng) {
  PuctNode& node = nodes_[0];
  const bool heated = plan_.noise && options_->root_temperature != 1.0f;
  // Applying the temperature recomputes the priors and so removes the noise added at expansion.
  const bool own_noise =
      plan_.noise && (options_->noise == RootNoise::kRoot || (options_->noise == RootNoise::kEvery && heated));
  if (heated) {
    float sum = 0;
    PuctEdge* const first = edges_of(node);
    const PuctEdge* const last = first + node.edge_count;
    for (PuctEdge* edge = first; edge != last; ++edge)
      sum += edge->prior = std::pow(edge->raw_prior, 1.0f / options_->root_temperature);
    for (PuctEdge* edge = first; edge != last; ++edge) edge->prior /= sum;
  }
  if (own_noise) add_noise(node, rng);
  if (own_noise || heated) sort_unopened(node);
  if (!plan_.gumbel) return;
  for (const PuctEdge *edge = edges_of(node), *last = edge + node.edge_count; edge != last; ++edge)
    gumbel_[edge->move] = options_->gumbel_scale * draw_gumbel(rng);
  halving_plan_ = plan_halving(std::min<int>(options_->gumbel_candidates, node.edge_count), plan_.simulations);
}

void PuctTree::expand(const PuctWalk& walk, const LeafJudgement& judgement, const float* log_policy,
                      float value_to_move, Rng& rng) {
  const std::uint32_t index = walk.path.back();
  PuctNode& node = nodes_[index];
  // The node may have become part of a proved line in the meantime.
  if (node.proof != Result::kUnknown) {
    repeat_known(walk);
    return;
  }
  TENGEN_ASSERT(!node.evaluated && node.pending > 0 && !judgement.moves.empty());
  TENGEN_ASSERT(judgement.result == Result::kUnknown && std::abs(value_to_move) <= 1.0f);
  add_edges(node, judgement.moves, log_policy);
  node.evaluation_to_move = value_to_move;
  if (plan_.noise && options_->noise == RootNoise::kEvery) add_noise(node, rng);
  sort_unopened(node);
  if (index == 0) prepare_root(rng);
  back_up(walk, -value_to_move, false);
}

void PuctTree::settle(const PuctWalk& walk, const LeafJudgement& judgement) {
  const std::uint32_t index = walk.path.back();
  PuctNode& node = nodes_[index];
  TENGEN_ASSERT(judgement.result != Result::kUnknown && node.pending > 0);
  node.proof = opposite(judgement.result);
  node.proof_plies = static_cast<std::uint16_t>(judgement.plies);
  // The root needs its moves, because one of them will be played.
  if (index == 0 && !node.evaluated) add_edges(node, judgement.moves, nullptr);
  open_line(index, judgement.line);
  back_up(walk, proved_value(nodes_[index]), true);
}

void PuctTree::conclude(const PuctWalk& walk, const LeafJudgement& judgement, bool cut_short) {
  PuctNode& node = nodes_[walk.path.back()];
  if (cut_short) node.examined = false;
  // Another thread may have proved the node in the meantime.
  if (node.proof != Result::kUnknown) {
    repeat_known(walk);
    return;
  }
  // At the root, the winning move may be excluded.
  const PuctEdge* const edges = edges_of(node);
  const bool proved = judgement.result != Result::kUnknown &&
                      std::any_of(edges, edges + node.edge_count,
                                  [&](const PuctEdge& edge) { return edge.move == judgement.line.front(); });
  proved ? settle(walk, judgement) : cancel(walk);
}

// Add the line of a proof below its node. Every node on the line is proved as well.
void PuctTree::open_line(std::uint32_t index, const std::vector<Point>& line) {
  for (const Point move : line) {
    PuctNode& node = nodes_[index];
    if (!node.evaluated) {
      PointSet only;
      only.add(move);
      add_edges(node, only, nullptr);
    }
    const PuctEdge* const edges = edges_of(node);
    const PuctEdge* const taken =
        std::find_if(edges, edges + node.edge_count, [move](const PuctEdge& edge) { return edge.move == move; });
    if (taken == edges + node.edge_count) return;
    const Result proof = opposite(node.proof);
    const int plies = node.proof_plies - 1;
    const int edge = static_cast<int>(taken - edges);
    index = edge < node.opened ? taken->child : open(index, edge);
    if (nodes_[index].proof != Result::kUnknown) return;
    nodes_[index].proof = proof;
    nodes_[index].proof_plies = static_cast<std::uint16_t>(plies);
  }
}

// ---- Backing up ---------------------------------------------------------------------------------------------------

// Try to prove a node from its children. Returns true if it is now proved and was not before.
bool PuctTree::prove(PuctNode& node) {
  if (node.proof != Result::kUnknown) return false;
  const PuctEdge* const edges = edges_of(node);
  bool all_known = node.opened == node.edge_count;
  int shortest_win = std::numeric_limits<int>::max();
  int longest = 0;
  for (int i = 0; i < node.opened; ++i) {
    const PuctNode& child = nodes_[edges[i].child];
    if (child.proof == Result::kWin) shortest_win = std::min<int>(shortest_win, child.proof_plies);
    all_known = all_known && child.proof != Result::kUnknown;
    if (child.proof == Result::kDraw) node.has_drawing_move = true;
    longest = std::max<int>(longest, child.proof_plies);
  }
  if (shortest_win != std::numeric_limits<int>::max()) {
    node.proof = Result::kLoss;
    node.proof_plies = static_cast<std::uint16_t>(shortest_win + 1);
  } else if (all_known) {
    node.proof = node.has_drawing_move ? Result::kDraw : Result::kWin;
    node.proof_plies = static_cast<std::uint16_t>(longest + 1);
  }
  return node.proof != Result::kUnknown;
}

// `value` is the value of the last node, for the side that moved there.
void PuctTree::back_up(const PuctWalk& walk, double value, bool newly_proved) {
  TENGEN_ASSERT(!walk.path.empty() && walk.path.front() == 0 && std::abs(value) <= 1.0);
  newly_proved = newly_proved && options_->solve;
  for (int i = walk.depth(); i >= 0; --i) {
    PuctNode& node = nodes_[walk.path[static_cast<std::size_t>(i)]];
    if (i < walk.depth()) {
      value *= -options_->discount;
      if (newly_proved) newly_proved = prove(node);
      // A side that can draw need not lose (Cazenave and Saffidine 2010).
      if (node.has_drawing_move) value = std::min(value, 0.0);
      if (node.proof != Result::kUnknown) value = proved_value(node);
    }
    --node.pending;
    ++node.visits;
    node.value_sum += value;
  }
  if (walk.counts) ++finished_;
}

void PuctTree::repeat_known(const PuctWalk& walk) {
  const PuctNode& node = nodes_[walk.path.back()];
  if (node.proof != Result::kUnknown) {
    back_up(walk, proved_value(node), false);
    return;
  }
  TENGEN_ASSERT(is_full());
  has_repeats_ = true;
  const double value = -node.evaluation_to_move;
  back_up(walk, node.has_drawing_move ? std::min(value, 0.0) : value, false);
}

void PuctTree::cancel(const PuctWalk& walk) {
  for (const std::uint32_t index : walk.path) --nodes_[index].pending;
  if (walk.counts) --begun_;
}

// ---- Checking ------------------------------------------------------------------------------------------------------

std::string PuctTree::check() const {
  for (const PuctNode& node : nodes_) {
    if (node.pending != 0) return "a walk is still pending";
    if (std::abs(node.mean()) > 1 + 1e-6) return "a mean value is outside [-1, 1]";
    if (!node.evaluated || node.proof != Result::kUnknown) continue;
    std::uint64_t visits = 1;
    double values = -node.evaluation_to_move;
    const PuctEdge* const edges = edges_of(node);
    for (int i = 0; i < node.opened; ++i) {
      visits += nodes_[edges[i].child].visits;
      values -= options_->discount * nodes_[edges[i].child].value_sum;
    }
    if (has_repeats_ ? visits > node.visits : visits != node.visits)
      return "the visits of a node and of its children do not add up";
    if (!options_->solve && !has_repeats_ && std::abs(values - node.value_sum) > 1e-6 * node.visits)
      return "the values of a node and of its children do not add up";
    for (int i = node.opened + 1; i < node.edge_count; ++i)
      if (edges[i].prior > edges[i - 1].prior) return "unvisited moves are not sorted by prior";
  }
  return {};
}

}  // namespace tengen
