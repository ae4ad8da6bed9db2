// The results that PuctTree reports for its root: policy, value, move, lines.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/assert.h"
#include "search/puct/formula.h"
#include "search/puct/noise.h"
#include "search/puct/tree.h"

namespace tengen {

// The visits of the root moves. Forced playouts are subtracted, unless the PUCT formula would have given the move these
// visits anyway (policy target pruning, Wu 2019, section 3.2).
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

  // Proved draws get no more visits. They get the weight of the best move, unless that move is better than a draw.
  if (options_->solve && node.has_drawing_move && value_of(nodes_[edges[best].child]) <= 0)
    for (int i = 0; i < node.opened; ++i)
      if (nodes_[edges[i].child].proof == Result::kDraw)
        weights[static_cast<std::size_t>(i)] = weights[static_cast<std::size_t>(best)];

  if (!plan_.forced_playouts || options_->forced_playouts <= 0) return;
  const double total = std::max(0.0, node.visits - 1.0);
  const double width = puct_factor(*options_, node.visits) * std::sqrt(total);
  const double best_score = puct_score(value_of(nodes_[edges[best].child]), edges[best].prior,
                                       weights[static_cast<std::size_t>(best)], width);
  for (int i = 0; i < node.opened; ++i) {
    float& weight = weights[static_cast<std::size_t>(i)];
    if (i == best || weight == 0) continue;
    const double gap = best_score - value_of(nodes_[edges[i].child]);
    if (gap <= 0) continue;
    // The visit count at which this move's score falls to the best move's score: the PUCT formula solved for N(a).
    const double deserved = std::ceil(width * edges[i].prior / gap - 1);
    const double forced = std::floor(std::sqrt(options_->forced_playouts * edges[i].prior * total));
    weight = static_cast<float>(std::min<double>(weight, std::max(deserved, weight - forced)));
    if (weight <= 1) weight = 0;
  }
}

const PuctNode* PuctTree::child_of(const PuctNode& node, std::size_t edge) const {
  return edge < node.opened ? &nodes_[edges_of(node)[edge].child] : nullptr;
}

// The proved result of a root move, for the side to move.
Result PuctTree::proof_of(std::size_t edge) const {
  const PuctNode* const child = child_of(root(), edge);
  return options_->solve && child ? child->proof : Result::kUnknown;
}

// The improved policy of Gumbel search as unnormalised weights. Writes the scaled completed values to `scaled`.
void PuctTree::improved_weights(std::vector<float>& scaled, std::vector<float>& weights) const {
  const PuctNode& node = root();
  const PuctEdge* const edges = edges_of(node);
  scaled_values(node, scaled);
  weights.resize(node.edge_count);
  float highest = -std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < weights.size(); ++i) highest = std::max(highest, edges[i].log_prior() + scaled[i]);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::exp(edges[i].log_prior() + scaled[i] - highest);
}

// Apply proofs to the weights. If the root is won or lost, keep only the shortest wins or the longest losses and return
// true. Otherwise, drop proved losses.
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

// Normalise the weights to a sum of 1. If all are 0, use the network's priors; if these are 0 too, use a uniform
// policy.
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

// The most visited candidate of a Gumbel search. Ties go to the highest Gumbel score.
std::size_t PuctTree::choose_by_halving(const std::vector<float>& weights, const std::vector<float>& scaled) const {
  const PuctEdge* const edges = edges_of(root());
  std::size_t chosen = 0;
  std::int64_t most_visits = -1;
  float best_score = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const PuctNode* const child = child_of(root(), i);
    const std::int64_t visits = child ? child->visits : 0;
    const float score = gumbel_[edges[i].move] + edges[i].log_prior() + scaled[i];
    if (visits > most_visits || (visits == most_visits && score > best_score)) {
      most_visits = visits;
      best_score = score;
      chosen = i;
    }
  }
  return chosen;
}

// Sample a move with a probability proportional to its weight to the power of 1 / temperature.
std::size_t PuctTree::sample(std::vector<float> weights, float temperature, Rng& rng) {
  const float highest = *std::ranges::max_element(weights);
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

// Mix Dirichlet noise into the probabilities of all moves at `temperature`, as AlphaZero_Gomoku does.
void PuctTree::add_choice_noise(std::vector<float>& weights, float temperature, Rng& rng) const {
  const float alpha = dirichlet_alpha(weights.size());
  const float highest = *std::ranges::max_element(weights);
  std::vector<float> noise(weights.size());
  float sum = 0;
  float noise_sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i] = std::pow(weights[i] / highest, 1 / temperature);
    noise_sum += noise[i] = draw_gamma(rng, alpha);
  }
  const float share = noise_sum > 0 ? options_->noise_fraction : 0.0f;
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = (1 - share) * weights[i] / sum + (share > 0 ? share * noise[i] / noise_sum : 0.0f);
}

// The move with the highest weight. Ties go to the highest value.
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
  TENGEN_ASSERT(node.edge_count > 0 && temperature >= 0);
  PuctDecision decision;
  if (options_->solve) decision.proof = opposite(node.proof);
  decision.proof_plies = node.proof_plies;

  // Step 1. Weights of the moves.
  std::vector<float> scaled;
  std::vector<float> weights;
  if (plan_.gumbel)
    improved_weights(scaled, weights);
  else
    visit_weights(weights);
  const bool by_proof = keep_proved(decision.proof, weights);
  normalise(weights);

  // Step 2. Policy, value and surprise.
  std::fill_n(policy, area_, 0.0f);
  const double mixed = mixed_value(node);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float share = weights[i];
    if (share == 0) continue;
    policy[edges[i].move] = share;
    const PuctNode* const child = child_of(node, i);
    const bool has_value = child && (child->visits > 0 || child->proof != Result::kUnknown);
    decision.value_to_move += share * (has_value ? value_of(*child) : mixed);
    decision.surprise += share * (std::log(share) - edges[i].log_prior());
  }
  if (decision.proof != Result::kUnknown) decision.value_to_move = -proved_value(node);

  // Step 3. The move.
  if (plan_.noise && options_->noise == RootNoise::kChoice && temperature > 0 && !by_proof) {
    add_choice_noise(weights, temperature, rng);
    temperature = 1;
  }
  const std::size_t chosen = plan_.gumbel && !by_proof ? choose_by_halving(weights, scaled)
                             : temperature > 0         ? sample(weights, temperature, rng)
                                                       : choose_best(weights);
  decision.move = edges[chosen].move;
  return decision;
}

// The child that continues the expected line: the most visited one. Below a proved node, only children that are part of
// the proof qualify, and those that match its length come first. Null if there is no such child.
const PuctNode* PuctTree::expected_reply(const PuctNode& node) const {
  const auto rank = [&node](const PuctNode& child) {
    if (node.proof == Result::kUnknown)
      return child.proof == Result::kWin ? 3 : child.proof == Result::kLoss ? 1 : child.visits > 0 ? 2 : 0;
    if (child.proof != opposite(node.proof)) return 0;
    return child.proof_plies + 1 == node.proof_plies ? 2 : 1;
  };
  const PuctEdge* const edges = edges_of(node);
  const PuctNode* best = nullptr;
  for (int i = 0; i < node.opened; ++i) {
    const PuctNode& child = nodes_[edges[i].child];
    if (rank(child) == 0) continue;
    if (!best || rank(child) > rank(*best) || (rank(child) == rank(*best) && child.visits > best->visits))
      best = &child;
  }
  return best;
}

std::vector<Point> PuctTree::line_through(const PuctEdge& edge) const {
  std::vector<Point> line{edge.move};
  for (const PuctNode* node = &nodes_[edge.child]; (node = expected_reply(*node));) line.push_back(node->move);
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

}  // namespace tengen
