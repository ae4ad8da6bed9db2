// The tree of the network-guided search, in arrays of plain structs. search/puct/formula.h has the PUCT formula.
//
// A simulation is a walk from the root to a node without an evaluation. The evaluation is then backed up along the
// walk. Several walks can be pending at once: each adds a virtual loss to its nodes until it is finished or cancelled.
// The tree has no locks: to share it between threads, hold a lock around every call.
//
// A node's values are from the point of view of the side that moved there, so the side to move selects the child with
// the highest value.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/rng.h"
#include "search/puct/leaf.h"
#include "search/puct/options.h"
#include "search/rollout/search.h"

namespace tengen {

// Lower bound on priors in logarithms and divisions.
inline constexpr float kLeastPrior = 1e-12f;

struct PuctEdge {
  float prior = 0;      // for selection: with noise and root temperature
  float raw_prior = 0;  // from the network, normalised over the moves at the node
  std::uint32_t child = 0;
  Point move = kNoPoint;

  float log_prior() const { return std::log(std::max(raw_prior, kLeastPrior)); }
};

struct PuctNode {
  double value_sum = 0;       // over finished walks
  std::uint32_t visits = 0;   // finished walks
  std::uint32_t pending = 0;  // walks not yet finished
  std::uint32_t first_edge = 0;
  std::uint16_t edge_count = 0;
  std::uint16_t opened = 0;      // edges with a child; they come first, then the others by descending prior
  float opened_prior = 0;        // sum of the priors of opened edges
  float evaluation_to_move = 0;  // value from the network
  Point move = kNoPoint;
  std::uint16_t proof_plies = 0;  // to the end of the game
  Result proof = Result::kUnknown;
  bool evaluated = false;
  bool has_drawing_move = false;  // a child is a proved draw, so the side to move gets at least a draw
  bool examined = false;          // searched for continuous threats

  double mean() const { return visits > 0 ? value_sum / visits : 0.0; }
};

// The settings for one search. PuctSearch and SelfPlay create them; SelfPlay samples some of them for each move.
struct PuctSearchPlan {
  int simulations = 0;
  bool noise = false;
  bool forced_playouts = false;
  bool gumbel = false;
};

// One simulation. PuctTree::walk fills it; the caller keeps it and passes it back to expand, settle, conclude,
// repeat_known or cancel.
struct PuctWalk {
  enum class End : std::uint8_t {
    kLeaf,       // at a node without an evaluation: expand or settle it
    kKnown,      // at a proved node, or at a leaf of a full tree: repeat_known
    kCollision,  // at a node whose evaluation is pending: cancel the walk
    kThreats,    // at a node to search for continuous threats: conclude
  };
  std::vector<std::uint32_t> path;  // nodes, root first
  bool counts = false;              // whether it is a simulation; the walk that evaluates the root is not
  int depth() const { return static_cast<int>(path.size()) - 1; }
};

// Statistics for one root move, from the point of view of the side to move.
struct PuctMove {
  Point move = kNoPoint;
  std::uint32_t visits = 0;
  float prior = 0;  // from the network
  double value_to_move = 0;
  Result proof = Result::kUnknown;
  int proof_plies = 0;      // from the root
  std::vector<Point> line;  // begins with `move`
};

struct PuctDecision {
  Point move = kNoPoint;
  double value_to_move = 0;         // mean of the move values weighted by the policy, or the proved value
  float surprise = 0;               // Kullback-Leibler divergence of the policy from the network's policy, in nats
  Result proof = Result::kUnknown;  // of the root, for the side to move
  int proof_plies = 0;
};

class PuctTree {
 public:
  // `options` must outlive the tree.
  explicit PuctTree(const PuctOptions& options, int area);

  // Discard the tree and start with an unevaluated root.
  void reset();
  // Start a search from the current root.
  void begin(const PuctSearchPlan& plan, Rng& rng);
  // Make the child reached by `move` the root and keep the tree below it. If there is no such child, reset the tree and
  // return false. No walk may be pending.
  bool advance(Point move);
  // Limit the tree to about this many bytes, and reserve address space for them, so that the tree is not copied while
  // it grows. A full tree opens no more nodes: its walks choose among existing nodes and end at leaves.
  void limit(std::size_t bytes);
  bool is_full() const { return bytes() >= max_bytes_; }

  // Number of walks in this search, not counting the one that evaluates the root.
  int begun() const { return begun_; }
  int finished() const { return finished_; }
  bool is_proved() const { return options_->solve && root().proof != Result::kUnknown; }
  bool has_root() const { return root().evaluated; }

  // Walk down the tree and make the moves on `board`. The caller undoes these walk.depth() moves.
  PuctWalk::End walk(PuctBoard& board, PuctWalk& walk);
  // Create a leaf's edges and back up its value. `log_policy` [area] need not be normalised.
  void expand(const PuctWalk& walk, const LeafJudgement& judgement, const float* log_policy, float value_to_move,
              Rng& rng);
  // Back up a judgement that needs no evaluation: a finished game or a proof.
  void settle(const PuctWalk& walk, const LeafJudgement& judgement);
  // Finish a search for threats: back up its proof, or cancel the walk if it proved nothing. If `cut_short` is true, a
  // later walk may repeat the search.
  void conclude(const PuctWalk& walk, const LeafJudgement& judgement, bool cut_short = false);
  // Back up the value of the walk's last node again: the proved value, or else its evaluation.
  void repeat_known(const PuctWalk& walk);
  void cancel(const PuctWalk& walk);

  // Choose a move at the root. Writes the policy target into policy [area]: the visit distribution without forced
  // playouts, or the improved policy of Gumbel search. The move is sampled at `temperature`; 0 selects the best move.
  PuctDecision decide(float temperature, Rng& rng, float* policy) const;
  // The root moves: `front`, then the others, best first. The first `lines` include their expected continuation.
  std::vector<PuctMove> ranked_moves(int lines, Point front) const;

  const PuctNode& root() const { return nodes_[0]; }
  std::size_t bytes() const { return nodes_.size() * sizeof(PuctNode) + edges_.size() * sizeof(PuctEdge); }
  // Check that the counts and sums of the tree are consistent and that no walk is pending. Returns an empty string, or
  // a description of the error.
  std::string check() const;

 private:
  PuctEdge* edges_of(const PuctNode& node) { return edges_.data() + node.first_edge; }
  const PuctEdge* edges_of(const PuctNode& node) const { return edges_.data() + node.first_edge; }
  double proved_value(const PuctNode& node) const;
  // The value of a child for the side to move at its parent, discounted by one ply.
  double value_of(const PuctNode& child) const;

  // The edge to follow; -1 if the tree is full and no opened edge is worth a visit.
  int select(const PuctNode& node, bool is_root, bool may_open) const;
  // Without `may_open`, the best opened edge, or -1 if no edge has been opened.
  int select_by_puct(const PuctNode& node, bool is_root, bool may_open) const;
  int select_by_halving(const PuctNode& node) const;
  std::uint32_t open(std::uint32_t parent, int edge);
  void open_line(std::uint32_t index, const std::vector<Point>& line);

  void add_edges(PuctNode& node, const PointSet& moves, const float* log_policy);
  // The Dirichlet parameter for each of `moves` moves.
  float dirichlet_alpha(std::size_t moves) const {
    return options_->noise_alpha > 0 ? options_->noise_alpha : options_->noise_alpha_total / static_cast<float>(moves);
  }
  void add_noise(PuctNode& node, Rng& rng);
  void sort_unopened(PuctNode& node);
  void prepare_root(Rng& rng);
  bool prove(PuctNode& node);
  void back_up(const PuctWalk& walk, double value, bool newly_proved);

  double mixed_value(const PuctNode& node) const;
  // The completed values of the root moves, scaled to logits (Danihelka et al. 2022, equation 8).
  void scaled_values(const PuctNode& node, std::vector<float>& scaled) const;
  const PuctNode* child_of(const PuctNode& node, std::size_t edge) const;
  Result proof_of(std::size_t edge) const;
  void visit_weights(std::vector<float>& weights) const;
  void improved_weights(std::vector<float>& scaled, std::vector<float>& weights) const;
  bool keep_proved(Result proof, std::vector<float>& weights) const;
  void normalise(std::vector<float>& weights) const;
  std::size_t choose_by_halving(const std::vector<float>& weights, const std::vector<float>& scaled) const;
  static std::size_t sample(std::vector<float> weights, float temperature, Rng& rng);
  void add_choice_noise(std::vector<float>& weights, float temperature, Rng& rng) const;
  std::size_t choose_best(const std::vector<float>& weights) const;
  const PuctNode* expected_reply(const PuctNode& node) const;
  std::vector<Point> line_through(const PuctEdge& edge) const;

  const PuctOptions* options_;
  int area_;
  std::vector<PuctNode> nodes_;
  std::vector<PuctEdge> edges_;
  PuctSearchPlan plan_;
  std::size_t max_bytes_ = std::numeric_limits<std::size_t>::max();
  bool has_repeats_ = false;  // whether an evaluation was backed up more than once
  int begun_ = 0;
  int finished_ = 0;
  std::vector<float> gumbel_;      // [area], for this search
  std::vector<int> halving_plan_;  // for each simulation, the visit count that its candidate needs
  mutable std::vector<float> scratch_;
};

// The plan of sequential halving over `candidates` (at least 1): for each simulation, the visit count that a root move
// needs to be considered. All candidates get the same number of visits, then the better half of them, and so on
// down to two.
std::vector<int> plan_halving(int candidates, int simulations);

}  // namespace tengen
