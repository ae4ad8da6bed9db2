#include "search/puct_tree.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <string>

#include "search/puct_noise.h"

namespace tengen {
namespace {

constexpr float kTiny = 1e-12f;

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

bool PuctTree::advance(Point move, PuctTree& scratch) {
  const PuctEdge* const first = edges_of(root());
  const PuctEdge* const last = first + root().opened;
  const PuctEdge* const taken = std::find_if(first, last, [move](const PuctEdge& edge) { return edge.move == move; });
  // A proved node has not all of its children.
  if (taken == last || !nodes_[taken->child].evaluated || nodes_[taken->child].proof != Result::kUnknown) {
    reset();
    return false;
  }
  scratch.nodes_.clear();
  scratch.edges_.clear();
  scratch.nodes_.push_back(nodes_[taken->child]);
  for (std::size_t i = 0; i < scratch.nodes_.size(); ++i) {
    const PuctEdge* const old_edges = edges_of(scratch.nodes_[i]);
    const std::size_t first_edge = scratch.edges_.size();
    const auto [count, opened] = std::pair{scratch.nodes_[i].edge_count, scratch.nodes_[i].opened};
    scratch.edges_.insert(scratch.edges_.end(), old_edges, old_edges + count);
    scratch.nodes_[i].first_edge = static_cast<std::uint32_t>(first_edge);
    for (std::size_t e = first_edge; e < first_edge + opened; ++e) {
      const PuctNode& child = nodes_[scratch.edges_[e].child];
      scratch.edges_[e].child = static_cast<std::uint32_t>(scratch.nodes_.size());
      scratch.nodes_.push_back(child);
    }
  }
  nodes_.swap(scratch.nodes_);
  edges_.swap(scratch.edges_);
  return true;
}

// ---- Values
// ----------------------------------------------------------------------------------------------------------

double PuctTree::proved_value(const PuctNode& node) const {
  if (node.proof == Result::kDraw) return 0.0;
  const double size = options_->discount == 1.0f ? 1.0 : std::pow(options_->discount, node.proof_plies);
  return node.proof == Result::kWin ? size : -size;
}

double PuctTree::value_of(const PuctNode& child) const {
  return child.proof != Result::kUnknown ? proved_value(child) : child.mean();
}

double PuctTree::exploration(const PuctNode& node) const {
  const double visits = node.visits;
  return options_->c_puct +
         options_->c_puct_growth * std::log((1.0 + visits + options_->c_puct_base) / options_->c_puct_base);
}

// ---- Selection
// -------------------------------------------------------------------------------------------------------

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
    const double value = count > 0 ? (child.value_sum - loss * child.pending) / count : first_play;
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
    index = select(index);
    ++nodes_[index].pending;
    walk.path.push_back(index);
    board.make(nodes_[index].move);
  }
}

// ---- Expansion
// -------------------------------------------------------------------------------------------------------

void PuctTree::add_edges(PuctNode& node, const LeafJudgement& judgement, const float* log_policy) {
  node.evaluated = true;
  node.first_edge = static_cast<std::uint32_t>(edges_.size());
  node.opened = 0;
  node.opened_prior = 0;
  float highest = -std::numeric_limits<float>::infinity();
  judgement.moves.for_each([&](Point move) {
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
  const bool own_noise = plan_.noise && options_->noise == RootNoise::kRoot;
  const bool heated = plan_.noise && options_->root_temperature != 1.0f;
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
  assert(!node.evaluated && !judgement.moves.empty());
  add_edges(node, judgement, log_policy);
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
  // Only the root has to name a move; elsewhere the winning one serves to show the line.
  if (index == 0 || judgement.winning_move != kNoPoint) {
    add_edges(node, judgement, nullptr);
    if (judgement.winning_move != kNoPoint) {
      PuctNode& child = nodes_[open(index, 0)];
      child.proof = Result::kWin;
      child.proof_plies = static_cast<std::uint16_t>(judgement.plies - 1);
    }
  }
  back_up(walk, proved_value(nodes_[index]), true);
}

// ---- Backing up
// ------------------------------------------------------------------------------------------------------

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

// ---- The root's answer
// -----------------------------------------------------------------------------------------------

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

PuctDecision PuctTree::decide(float temperature, Rng& rng, float* policy) const {
  const PuctNode& node = root();
  const PuctEdge* const edges = edges_of(node);
  const auto count = static_cast<std::size_t>(node.edge_count);
  assert(count > 0);
  const auto child_of = [&](std::size_t i) -> const PuctNode* {
    return i < node.opened ? &nodes_[edges[i].child] : nullptr;
  };
  const auto proof_of = [&](std::size_t i) {
    const PuctNode* const child = child_of(i);
    return options_->solve && child ? child->proof : Result::kUnknown;
  };
  PuctDecision decision;
  if (options_->solve) decision.proof = flip(node.proof);
  decision.proof_plies = node.proof_plies;

  // Step 1. The weight of each move.
  std::vector<float> scaled(count, 0.0f);
  std::vector<float> weights;
  if (plan_.gumbel) {
    scaled_values(node, scaled);
    weights.resize(count);
    float highest = -std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < count; ++i) highest = std::max(highest, log_prior(edges[i]) + scaled[i]);
    for (std::size_t i = 0; i < count; ++i) weights[i] = std::exp(log_prior(edges[i]) + scaled[i] - highest);
  } else {
    visit_weights(weights);
  }

  // Step 2. What is proved counts more: the shortest win, else no loss, else the longest.
  const auto keep_only = [&](auto&& is_kept, bool alike) {
    for (std::size_t i = 0; i < count; ++i) weights[i] = is_kept(i) ? (alike ? 1.0f : weights[i]) : 0.0f;
  };
  int wanted_plies = -1;
  if (decision.proof == Result::kWin || decision.proof == Result::kLoss) {
    const Result wanted = decision.proof;
    for (std::size_t i = 0; i < count; ++i) {
      if (proof_of(i) != wanted) continue;
      const int plies = child_of(i)->proof_plies;
      const bool better = wanted == Result::kWin ? plies < wanted_plies : plies > wanted_plies;
      if (wanted_plies < 0 || better) wanted_plies = plies;
    }
    if (wanted_plies >= 0)
      keep_only([&](std::size_t i) { return proof_of(i) == wanted && child_of(i)->proof_plies == wanted_plies; }, true);
  } else {
    keep_only([&](std::size_t i) { return proof_of(i) != Result::kLoss; }, false);
  }
  float sum = 0;
  for (const float weight : weights) sum += weight;
  if (!(sum > 0)) {  // nothing visited
    sum = 0;
    for (std::size_t i = 0; i < count; ++i)
      sum += weights[i] = proof_of(i) == Result::kLoss ? 0.0f : edges[i].raw_prior;
    if (!(sum > 0)) {
      std::fill(weights.begin(), weights.end(), 1.0f);
      sum = static_cast<float>(count);
    }
  }

  // Step 3. Policy, value, surprise.
  std::fill_n(policy, area_, 0.0f);
  const double mixed = mixed_value(node);
  for (std::size_t i = 0; i < count; ++i) {
    if (weights[i] == 0) continue;
    const float share = weights[i] / sum;
    policy[edges[i].move] = share;
    const PuctNode* const child = child_of(i);
    const bool has_value = child && (child->visits > 0 || child->proof != Result::kUnknown);
    decision.value_to_move += share * (has_value ? value_of(*child) : mixed);
    decision.surprise += share * (std::log(share) - log_prior(edges[i]));
  }
  if (decision.proof != Result::kUnknown) decision.value_to_move = -proved_value(node);

  // Step 4. The move.
  std::size_t chosen = 0;
  if (plan_.gumbel && wanted_plies < 0) {
    std::int64_t most_visits = -1;
    float best_score = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (weights[i] == 0) continue;
      const std::int64_t visits = child_of(i) ? child_of(i)->visits : 0;
      const float score = gumbel_[edges[i].move] + log_prior(edges[i]) + scaled[i];
      if (visits > most_visits || (visits == most_visits && score > best_score)) {
        most_visits = visits;
        best_score = score;
        chosen = i;
      }
    }
  } else if (temperature > 0) {
    const float highest = *std::max_element(weights.begin(), weights.end());
    double heated_sum = 0;
    for (float& weight : weights)
      heated_sum += weight = weight > 0 ? std::pow(weight / highest, 1 / temperature) : 0.0f;
    double left = rng.uniform() * heated_sum;
    for (std::size_t i = 0; i < count; ++i) {
      if (weights[i] == 0) continue;
      chosen = i;
      left -= weights[i];
      if (left < 0) break;
    }
  } else {
    const auto better = [&](std::size_t a, std::size_t b) {
      if (weights[a] != weights[b]) return weights[a] > weights[b];
      const double value_a = child_of(a) ? value_of(*child_of(a)) : -2;
      const double value_b = child_of(b) ? value_of(*child_of(b)) : -2;
      return value_a > value_b;
    };
    for (std::size_t i = 1; i < count; ++i)
      if (better(i, chosen)) chosen = i;
  }
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
