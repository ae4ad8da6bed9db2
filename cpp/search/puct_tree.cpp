#include "search/puct_tree.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <string>

#include "search/puct_noise.h"

namespace tengen {
namespace {

constexpr float kTiny = 1e-12f;
// A look for threats costs as much as dozens of simulations: nodes have to be on the way of this part of them.
constexpr std::uint32_t kThreatShare = 8;

Result flip(Result result) {
  return result == Result::kWin ? Result::kLoss : result == Result::kLoss ? Result::kWin : result;
}

float log_prior(const PuctEdge& edge) { return std::log(std::max(edge.raw_prior, kTiny)); }

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
  begun_ = finished_ = 0;
}

void PuctTree::begin(const PuctSearchPlan& plan, Rng& rng) {
  plan_ = plan;
  begun_ = finished_ = 0;
  if (root().evaluated) prepare_root(rng);
}

void PuctTree::reserve(std::size_t bytes) {
  try {
    nodes_.reserve(bytes / sizeof(PuctNode));
    edges_.reserve(bytes / sizeof(PuctEdge));
  } catch (const std::bad_alloc&) {
    // More than there is: the tree grows as far as it can.
  }
}

// Children come after their parent, so that going up the indices what is kept moves down without overwriting anything
// that is still to be moved.
bool PuctTree::advance(Point move) {
  const PuctEdge* const first = edges_of(root());
  const PuctEdge* const last = first + root().opened;
  const PuctEdge* const taken = std::find_if(first, last, [move](const PuctEdge& edge) { return edge.move == move; });
  // A proved node has not all of its children.
  if (taken == last || !nodes_[taken->child].evaluated || nodes_[taken->child].proof != Result::kUnknown) {
    reset();
    return false;
  }

  // Step 1. Nodes, and in their edges the new places of their children.
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

  // Step 2. Edges, in their old order, which is that of evaluation.
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

double PuctTree::exploration(const PuctNode& node) const {
  const double visits = node.visits;
  return options_->c_puct +
         options_->c_puct_growth * std::log((1.0 + visits + options_->c_puct_base) / options_->c_puct_base);
}

// ---- Selection ----------------------------------------------------------------------------------------------------

// The edge with the highest Q + c * P * sqrt(sum N) / (1 + N). Among edges that were never taken the one with the
// highest prior is best, and these are sorted, so that only the opened ones and one more are looked at.
int PuctTree::select_by_puct(const PuctNode& node, bool is_root) const {
  const double loss = options_->virtual_loss;
  // Without the evaluation of the node itself and the walk that asks.
  const double total = std::max(0.0, static_cast<double>(node.visits) + node.pending - 2.0);
  const double width = exploration(node) * std::sqrt(total);
  const float reduction = is_root ? options_->fpu_reduction_root : options_->fpu_reduction;
  const double first_play = options_->fpu_from_parent ? -node.mean() - reduction * std::sqrt(node.opened_prior) : 0.0;
  const double forced = is_root && plan_.forced_playouts ? options_->forced_playouts * total : 0.0;
  const PuctEdge* const edges = edges_of(node);
  int best = -1;
  double best_score = -std::numeric_limits<double>::infinity();
  for (int i = 0; i < node.opened; ++i) {
    const PuctNode& child = nodes_[edges[i].child];
    // Proved moves need no more walks.
    if (options_->solve && (child.proof == Result::kLoss || child.proof == Result::kDraw)) continue;
    const double walks = child.visits + child.pending;
    if (forced > 0 && child.visits > 0 && walks * walks < forced * edges[i].prior) return i;
    const double count = child.visits + loss * child.pending;
    const double value = count > 0 ? options_->discount * (child.value_sum - loss * child.pending) / count : first_play;
    const double score = value + width * edges[i].prior / (1.0 + count);
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  if (node.opened < node.edge_count) {
    const double score = first_play + width * edges[node.opened].prior;
    if (score > best_score) best = node.opened;
  }
  return std::max(best, 0);
}

int PuctTree::select_by_halving(const PuctNode& node) const {
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
    const float score = gumbel_[edges[i].move] + log_prior(edges[i]) + scratch_[static_cast<std::size_t>(i)];
    if (score > best_score) {
      best_score = score;
      best = i;
    }
  }
  return best >= 0 ? best : select_by_puct(node, true);
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

std::uint32_t PuctTree::select(std::uint32_t parent) {
  const PuctNode& node = nodes_[parent];
  const bool is_root = parent == 0;
  const int edge = is_root && plan_.gumbel ? select_by_halving(node) : select_by_puct(node, is_root);
  return edge < node.opened ? edges_of(node)[edge].child : open(parent, edge);
}

PuctWalk::End PuctTree::walk(PuctBoard& board, PuctWalk& walk) {
  walk.path.assign(1, 0);
  walk.counts = root().evaluated;
  if (walk.counts) ++begun_;
  ++nodes_[0].pending;
  for (std::uint32_t index = 0;;) {
    const PuctNode& node = nodes_[index];
    if (node.proof != Result::kUnknown) return PuctWalk::End::kKnown;
    if (!node.evaluated) return node.pending > 1 ? PuctWalk::End::kCollision : PuctWalk::End::kLeaf;
    if (options_->vct_nodes > 0 && !node.examined && node.visits >= options_->vct_visits &&
        node.visits * kThreatShare >= root().visits) {
      nodes_[index].examined = true;
      return PuctWalk::End::kThreats;
    }
    index = select(index);
    ++nodes_[index].pending;
    walk.path.push_back(index);
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
  PuctEdge* const last = first + node.edge_count;
  const bool usable = std::isfinite(highest);
  float sum = 0;
  for (PuctEdge* edge = first; edge != last; ++edge)
    sum += edge->raw_prior = usable ? std::exp(edge->raw_prior - highest) : 1.0f;
  for (PuctEdge* edge = first; edge != last; ++edge) edge->prior = edge->raw_prior /= sum;
}

void PuctTree::add_noise(PuctNode& node, Rng& rng) {
  const float alpha = options_->noise_alpha > 0 ? options_->noise_alpha
                                                : options_->noise_alpha_total / static_cast<float>(node.edge_count);
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

// What a search does to its root before the first walk below it.
void PuctTree::prepare_root(Rng& rng) {
  PuctNode& node = nodes_[0];
  const bool heated = plan_.noise && options_->root_temperature != 1.0f;
  // Heat takes the noise of an expansion away.
  const bool own_noise =
      plan_.noise && (options_->noise == RootNoise::kRoot || (options_->noise == RootNoise::kEvery && heated));
  if (heated) {
    float sum = 0;
    PuctEdge* const first = edges_of(node);
    PuctEdge* const last = first + node.edge_count;
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
  if (node.proof != Result::kUnknown) return repeat_known(walk);  // it lies on a line that was proved meanwhile
  assert(!node.evaluated && !judgement.moves.empty());
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
  node.proof = flip(judgement.result);
  node.proof_plies = static_cast<std::uint16_t>(judgement.plies);
  // Only the root has to name a move.
  if (index == 0 && !node.evaluated) add_edges(node, judgement.moves, nullptr);
  open_line(index, judgement.line);
  back_up(walk, proved_value(nodes_[index]), true);
}

void PuctTree::conclude(const PuctWalk& walk, const LeafJudgement& judgement) {
  const PuctNode& node = nodes_[walk.path.back()];
  if (node.proof != Result::kUnknown) return repeat_known(walk);  // by another thread, meanwhile
  // The root may be told to leave the winning move out.
  const PuctEdge* const edges = edges_of(node);
  const bool proved = judgement.result != Result::kUnknown &&
                      std::any_of(edges, edges + node.edge_count,
                                  [&](const PuctEdge& edge) { return edge.move == judgement.line.front(); });
  proved ? settle(walk, judgement) : cancel(walk);
}

// Hang the moves that follow a proved node below it, each proved as the node is.
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
    const Result proof = flip(node.proof);
    const int plies = node.proof_plies - 1;
    const int edge = static_cast<int>(taken - edges);
    index = edge < node.opened ? taken->child : open(index, edge);
    if (nodes_[index].proof != Result::kUnknown) return;
    nodes_[index].proof = proof;
    nodes_[index].proof_plies = static_cast<std::uint16_t>(plies);
  }
}

// ---- Backing up ---------------------------------------------------------------------------------------------------

// Work out from its children whether the node is proved. True when it is, and was not before.
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

void PuctTree::back_up(const PuctWalk& walk, double value, bool newly_proved) {
  newly_proved = newly_proved && options_->solve;
  for (int i = walk.depth(); i >= 0; --i) {
    PuctNode& node = nodes_[walk.path[static_cast<std::size_t>(i)]];
    if (i < walk.depth()) {
      value *= -options_->discount;
      if (newly_proved) newly_proved = prove(node);
      // Who can draw need not lose (Cazenave and Saffidine 2010).
      if (node.has_drawing_move) value = std::min(value, 0.0);
      if (node.proof != Result::kUnknown) value = proved_value(node);
    }
    --node.pending;
    ++node.visits;
    node.value_sum += value;
  }
  if (walk.counts) ++finished_;
}

void PuctTree::repeat_known(const PuctWalk& walk) { back_up(walk, proved_value(nodes_[walk.path.back()]), false); }

void PuctTree::cancel(const PuctWalk& walk) {
  for (const std::uint32_t index : walk.path) --nodes_[index].pending;
  if (walk.counts) --begun_;
}

// ---- The root's answer --------------------------------------------------------------------------------------------

// The mean of the network's value and the values of visited moves weighted by prior (Danihelka et al. 2022, equation
// 33).
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
  return (node.evaluation_to_move + visits * weighted / std::max<double>(prior, kTiny)) / (1 + visits);
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

// Visits of the root's edges. Those that a move owes to being forced are taken away again as far as the move would not
// have deserved them (Wu 2019, section 3.2).
void PuctTree::visit_weights(std::vector<float>& weights) const {
  const PuctNode& node = root();
  const PuctEdge* const edges = edges_of(node);
  weights.assign(node.edge_count, 0.0f);
  int best = -1;
  for (int i = 0; i < node.opened; ++i) {
    weights[static_cast<std::size_t>(i)] = static_cast<float>(nodes_[edges[i].child].visits);
    if (best < 0 || weights[static_cast<std::size_t>(i)] > weights[static_cast<std::size_t>(best)]) best = i;
  }
  if (best < 0) return;
  // Drawn moves are not visited any more: they count as much as the best of the others unless that promises more.
  if (options_->solve && node.has_drawing_move && value_of(nodes_[edges[best].child]) <= 0)
    for (int i = 0; i < node.opened; ++i)
      if (nodes_[edges[i].child].proof == Result::kDraw)
        weights[static_cast<std::size_t>(i)] = weights[static_cast<std::size_t>(best)];
  if (!plan_.forced_playouts || options_->forced_playouts <= 0) return;
  const double total = std::max(0.0, node.visits - 1.0);
  const double width = exploration(node) * std::sqrt(total);
  const auto score = [&](int i, double visits) {
    return value_of(nodes_[edges[i].child]) + width * edges[i].prior / (1 + visits);
  };
  const double best_score = score(best, weights[static_cast<std::size_t>(best)]);
  for (int i = 0; i < node.opened; ++i) {
    float& weight = weights[static_cast<std::size_t>(i)];
    if (i == best || weight == 0) continue;
    const double gap = best_score - value_of(nodes_[edges[i].child]);
    if (gap <= 0) continue;
    const double deserved = std::ceil(width * edges[i].prior / gap - 1);
    const double owed = std::floor(std::sqrt(options_->forced_playouts * edges[i].prior * total));
    weight = static_cast<float>(std::min<double>(weight, std::max(deserved, weight - owed)));
    if (weight <= 1) weight = 0;
  }
}

const PuctNode* PuctTree::child_of(const PuctNode& node, std::size_t edge) const {
  return edge < node.opened ? &nodes_[edges_of(node)[edge].child] : nullptr;
}

// What is proved of a root move, for the side to move.
Result PuctTree::proof_of(std::size_t edge) const {
  const PuctNode* const child = child_of(root(), edge);
  return options_->solve && child ? child->proof : Result::kUnknown;
}

// Weights by the improved policy of Gumbel search, for which `scaled` gets the completed values.
void PuctTree::improved_weights(std::vector<float>& scaled, std::vector<float>& weights) const {
  const PuctNode& node = root();
  const PuctEdge* const edges = edges_of(node);
  scaled_values(node, scaled);
  weights.resize(node.edge_count);
  float highest = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < weights.size(); ++i) highest = std::max(highest, log_prior(edges[i]) + scaled[i]);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::exp(log_prior(edges[i]) + scaled[i] - highest);
}

// What is proved counts more: the shortest win, else no loss, else the longest. True when only proofs are left.
bool PuctTree::keep_proved(Result proof, std::vector<float>& weights) const {
  const PuctNode& node = root();
  if (proof != Result::kWin && proof != Result::kLoss) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (proof_of(i) == Result::kLoss) weights[i] = 0;
    return false;
  }
  int wanted_plies = -1;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (proof_of(i) != proof) continue;
    const int plies = child_of(node, i)->proof_plies;
    const bool better = proof == Result::kWin ? plies < wanted_plies : plies > wanted_plies;
    if (wanted_plies < 0 || better) wanted_plies = plies;
  }
  if (wanted_plies < 0) return false;
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = proof_of(i) == proof && child_of(node, i)->proof_plies == wanted_plies ? 1.0f : 0.0f;
  return true;
}

// Make the weights add up to 1. Without any, the network's word counts, and without that all moves are alike.
void PuctTree::normalise(std::vector<float>& weights) const {
  const PuctEdge* const edges = edges_of(root());
  const auto sum = [&] { return std::accumulate(weights.begin(), weights.end(), 0.0f); };
  if (!(sum() > 0))
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i] = proof_of(i) == Result::kLoss ? 0.0f : edges[i].raw_prior;
  if (!(sum() > 0)) std::fill(weights.begin(), weights.end(), 1.0f);
  const float total = sum();
  for (float& weight : weights) weight /= total;
}

// The most visited candidate, of those with as many visits the best by Gumbel's score.
std::size_t PuctTree::choose_by_halving(const std::vector<float>& weights, const std::vector<float>& scaled) const {
  const PuctEdge* const edges = edges_of(root());
  std::size_t chosen = 0;
  std::int64_t most_visits = -1;
  float best_score = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const PuctNode* const child = child_of(root(), i);
    const std::int64_t visits = child ? child->visits : 0;
    const float score = gumbel_[edges[i].move] + log_prior(edges[i]) + scaled[i];
    if (visits > most_visits || (visits == most_visits && score > best_score)) {
      most_visits = visits;
      best_score = score;
      chosen = i;
    }
  }
  return chosen;
}

// A move drawn in proportion to its weight to the power of 1 / temperature.
std::size_t PuctTree::choose_by_chance(std::vector<float> weights, float temperature, Rng& rng) const {
  const float highest = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (float& weight : weights) sum += weight = weight > 0 ? std::pow(weight / highest, 1 / temperature) : 0.0f;
  double left = rng.uniform() * sum;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    chosen = i;
    left -= weights[i];
    if (left < 0) break;
  }
  return chosen;
}

// The move of the highest weight, of those alike that of the highest value.
std::size_t PuctTree::choose_best(const std::vector<float>& weights) const {
  const auto value_at = [&](std::size_t i) {
    const PuctNode* const child = child_of(root(), i);
    return child ? value_of(*child) : -2;
  };
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < weights.size(); ++i)
    if (weights[i] > weights[chosen] || (weights[i] == weights[chosen] && value_at(i) > value_at(chosen))) chosen = i;
  return chosen;
}

PuctDecision PuctTree::decide(float temperature, Rng& rng, float* policy) const {
  const PuctNode& node = root();
  const PuctEdge* const edges = edges_of(node);
  assert(node.edge_count > 0);
  PuctDecision decision;
  if (options_->solve) decision.proof = flip(node.proof);
  decision.proof_plies = node.proof_plies;

  // Step 1. The share of each move.
  std::vector<float> scaled;
  std::vector<float> weights;
  if (plan_.gumbel)
    improved_weights(scaled, weights);
  else
    visit_weights(weights);
  const bool by_proof = keep_proved(decision.proof, weights);
  normalise(weights);

  // Step 2. Policy, value, surprise.
  std::fill_n(policy, area_, 0.0f);
  const double mixed = mixed_value(node);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float share = weights[i];
    if (share == 0) continue;
    policy[edges[i].move] = share;
    const PuctNode* const child = child_of(node, i);
    const bool has_value = child && (child->visits > 0 || child->proof != Result::kUnknown);
    decision.value_to_move += share * (has_value ? value_of(*child) : mixed);
    decision.surprise += share * (std::log(share) - log_prior(edges[i]));
  }
  if (decision.proof != Result::kUnknown) decision.value_to_move = -proved_value(node);

  // Step 3. The move.
  const std::size_t chosen = plan_.gumbel && !by_proof ? choose_by_halving(weights, scaled)
                             : temperature > 0         ? choose_by_chance(weights, temperature, rng)
                                                       : choose_best(weights);
  decision.move = edges[chosen].move;
  return decision;
}

std::vector<Point> PuctTree::line_through(const PuctEdge& edge) const {
  std::vector<Point> line{edge.move};
  for (const PuctNode* node = &nodes_[edge.child]; node->opened > 0;) {
    const PuctEdge* const edges = edges_of(*node);
    const PuctNode* best = nullptr;
    const auto rank = [](const PuctNode& child) {
      return child.proof == Result::kWin ? 2 : child.proof == Result::kLoss ? 0 : 1;
    };
    for (int i = 0; i < node->opened; ++i) {
      const PuctNode& child = nodes_[edges[i].child];
      if (child.visits == 0 && child.proof == Result::kUnknown) continue;
      if (!best || rank(child) > rank(*best) || (rank(child) == rank(*best) && child.visits > best->visits))
        best = &child;
    }
    if (!best) break;
    line.push_back(best->move);
    node = best;
  }
  return line;
}

std::vector<PuctMove> PuctTree::ranked_moves(int lines, Point front) const {
  const PuctNode& node = root();
  const PuctEdge* const edges = edges_of(node);
  std::vector<PuctMove> moves;
  std::vector<const PuctEdge*> opened(static_cast<std::size_t>(area_), nullptr);
  for (int i = 0; i < node.edge_count; ++i) {
    PuctMove& move = moves.emplace_back();
    move.move = edges[i].move;
    move.prior = edges[i].raw_prior;
    move.value_to_move = -node.mean();
    if (i >= node.opened) continue;
    const PuctNode& child = nodes_[edges[i].child];
    opened[edges[i].move] = &edges[i];
    move.visits = child.visits;
    if (child.visits > 0 || child.proof != Result::kUnknown) move.value_to_move = value_of(child);
    if (!options_->solve) continue;
    move.proof = child.proof;
    move.proof_plies = child.proof_plies + 1;
  }
  const auto rank = [](const PuctMove& move) {
    return move.proof == Result::kWin ? 2 : move.proof == Result::kLoss ? 0 : 1;
  };
  std::stable_sort(moves.begin(), moves.end(), [&](const PuctMove& a, const PuctMove& b) {
    if (rank(a) != rank(b)) return rank(a) > rank(b);
    if (rank(a) == 2 && a.proof_plies != b.proof_plies) return a.proof_plies < b.proof_plies;
    if (rank(a) == 0 && a.proof_plies != b.proof_plies) return a.proof_plies > b.proof_plies;
    if (a.visits != b.visits) return a.visits > b.visits;
    return a.visits > 0 ? a.value_to_move > b.value_to_move : a.prior > b.prior;
  });
  const auto in_front =
      std::find_if(moves.begin(), moves.end(), [front](const PuctMove& m) { return m.move == front; });
  std::rotate(moves.begin(), in_front, in_front == moves.end() ? in_front : in_front + 1);
  for (std::size_t i = 0; i < moves.size() && i < static_cast<std::size_t>(lines); ++i) {
    const PuctEdge* const edge = opened[moves[i].move];
    moves[i].line = edge ? line_through(*edge) : std::vector<Point>{moves[i].move};
  }
  return moves;
}

std::string PuctTree::check() const {
  for (const PuctNode& node : nodes_) {
    if (node.pending != 0) return "a walk is still under way";
    if (std::abs(node.mean()) > 1 + 1e-6) return "a mean value is outside -1 and 1";
    if (!node.evaluated || node.proof != Result::kUnknown) continue;
    std::uint64_t visits = 1;
    double values = -node.evaluation_to_move;
    const PuctEdge* const edges = edges_of(node);
    for (int i = 0; i < node.opened; ++i) {
      visits += nodes_[edges[i].child].visits;
      values -= options_->discount * nodes_[edges[i].child].value_sum;
    }
    if (visits != node.visits) return "the visits of a node and of its children do not add up";
    if (!options_->solve && std::abs(values - node.value_sum) > 1e-6 * node.visits)
      return "the values of a node and of its children do not add up";
    for (int i = node.opened + 1; i < node.edge_count; ++i)
      if (edges[i].prior > edges[i - 1].prior) return "moves never tried are not sorted by prior";
  }
  return {};
}

}  // namespace tengen
