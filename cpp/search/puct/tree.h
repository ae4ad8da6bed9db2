// The tree of a search guided by a network (PUCT: Rosin 2011, Silver et al. 2017), in an arena of plain structs.
//
// A simulation is a walk from the root to a node that has no evaluation yet; the evaluation goes back along the walk.
// Walks may be under way while others are begun: each counts as losses (virtual loss) on its nodes until it is finished
// or cancelled. Nothing here locks; who shares a tree between threads holds a lock around every call.
//
// Values of a node are seen by the side that moved there, so that a side to move picks the child with the highest.
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

// Less than this counts as this much.
inline constexpr float kLeastPrior = 1e-12f;

struct PuctEdge {
  float prior = 0;      // what selection goes by: noise and root temperature included
  float raw_prior = 0;  // what the network said, over the moves of the node
  std::uint32_t child = 0;
  Point move = kNoPoint;

  float log_prior() const { return std::log(std::max(raw_prior, kLeastPrior)); }
};

struct PuctNode {
  double value_sum = 0;       // over finished walks
  std::uint32_t visits = 0;   // finished walks
  std::uint32_t pending = 0;  // walks under way
  std::uint32_t first_edge = 0;
  std::uint16_t edge_count = 0;
  std::uint16_t opened = 0;      // so many edges have a child; they come first, the others follow by falling prior
  float opened_prior = 0;        // sum of the priors of opened edges
  float evaluation_to_move = 0;  // the network's word
  Point move = kNoPoint;
  std::uint16_t proof_plies = 0;  // to the end of the game
  Result proof = Result::kUnknown;
  bool evaluated = false;
  bool has_drawing_move = false;  // a child is proved drawn: the side to move gets at least that
  bool examined = false;          // for threats

  double mean() const { return visits > 0 ? value_sum / visits : 0.0; }
};

// How one search of a root goes about it: what self-play draws anew for each move.
struct PuctSearchPlan {
  int simulations = 0;
  bool noise = false;
  bool forced_playouts = false;
  bool gumbel = false;
};

// The nodes of one simulation, root first.
struct PuctWalk {
  enum class End : std::uint8_t {
    kLeaf,       // wants an evaluation
    kKnown,      // ends in a node whose value is proved, or in a leaf of a full tree: repeat its value
    kCollision,  // ran into a node that waits for its evaluation: cancel it
    kThreats,    // came to a node that is worth a look for continuous threats: conclude it
  };
  std::vector<std::uint32_t> path;
  bool counts = false;  // as a simulation; the walk that evaluates the root does not
  int depth() const { return static_cast<int>(path.size()) - 1; }
};

// What a finished search says of one root move, seen by the side to move.
struct PuctMove {
  Point move = kNoPoint;
  std::uint32_t visits = 0;
  float prior = 0;  // the network's
  double value_to_move = 0;
  Result proof = Result::kUnknown;
  int proof_plies = 0;      // from the root
  std::vector<Point> line;  // begins with `move`
};

struct PuctDecision {
  Point move = kNoPoint;
  double value_to_move = 0;         // sum of policy times value, or the proved value
  float surprise = 0;               // Kullback-Leibler divergence of the policy from the network's, in nats
  Result proof = Result::kUnknown;  // of the root, for the side to move
  int proof_plies = 0;
};

class PuctTree {
 public:
  explicit PuctTree(const PuctOptions& options, int area);

  // Forget everything: a single root without evaluation.
  void reset();
  // Begin a search of the root as it is.
  void begin(const PuctSearchPlan& plan, Rng& rng);
  // Make the child reached by `move` the root, with all that hangs below it, in the same memory. False when there is
  // none: then the tree is reset. No walk may be under way.
  bool advance(Point move);
  // Limit the tree to about this many bytes, and reserve addresses for them, so that it is not copied while it grows. A
  // full tree opens no more nodes. Its walks choose among the nodes that it has, and repeat the evaluation of the leaf
  // where they end.
  void limit(std::size_t bytes);
  bool is_full() const { return bytes() >= max_bytes_; }

  // Walks of this search, begun and finished. The one that evaluates the root does not count.
  int begun() const { return begun_; }
  int finished() const { return finished_; }
  bool is_proved() const { return options_->solve && root().proof != Result::kUnknown; }
  bool has_root() const { return root().evaluated; }

  // Walk to a leaf, making the moves on `board`, which the caller takes back: walk.depth() of them.
  PuctWalk::End walk(PuctBoard& board, PuctWalk& walk);
  // Give a leaf its children and send its value back. `log_policy` [area] need not be normalised.
  void expand(const PuctWalk& walk, const LeafJudgement& judgement, const float* log_policy, float value_to_move,
              Rng& rng);
  // The judgement itself decides: a finished game, or a proof.
  void settle(const PuctWalk& walk, const LeafJudgement& judgement);
  // A look for threats is done: what it proved goes back, otherwise the walk is cancelled. One that was cut short may
  // be repeated.
  void conclude(const PuctWalk& walk, const LeafJudgement& judgement, bool cut_short = false);
  // Back up the value of the walk's last node: the proved one, else its evaluation.
  void repeat_known(const PuctWalk& walk);
  void cancel(const PuctWalk& walk);

  // Decide the root. policy [area] becomes the policy target: shares of the visits (forced ones pruned), or the
  // improved policy of Gumbel search. The move is drawn at `temperature`, 0 for the best.
  PuctDecision decide(float temperature, Rng& rng, float* policy) const;
  // The root moves, `first` and then best first; the first `lines` of them with their continuations.
  std::vector<PuctMove> ranked_moves(int lines, Point first) const;

  const PuctNode& root() const { return nodes_[0]; }
  std::size_t bytes() const { return nodes_.size() * sizeof(PuctNode) + edges_.size() * sizeof(PuctEdge); }
  // Empty text when counts and sums of the tree agree with each other and no walk is under way, else what does not.
  std::string check() const;

 private:
  PuctEdge* edges_of(const PuctNode& node) { return edges_.data() + node.first_edge; }
  const PuctEdge* edges_of(const PuctNode& node) const { return edges_.data() + node.first_edge; }
  double proved_value(const PuctNode& node) const;
  // The value of an opened edge to the side that may play it, a ply before the child's own.
  double value_of(const PuctNode& child) const;

  // The edge to follow; -1 if the tree is full and no opened edge is worth a visit.
  int select(const PuctNode& node, bool is_root, bool may_open) const;
  // Without `may_open`, the best opened edge, -1 if there is none.
  int select_by_puct(const PuctNode& node, bool is_root, bool may_open) const;
  int select_by_halving(const PuctNode& node) const;
  std::uint32_t open(std::uint32_t parent, int edge);
  void open_line(std::uint32_t index, const std::vector<Point>& line);

  void add_edges(PuctNode& node, const PointSet& moves, const float* log_policy);
  void add_noise(PuctNode& node, Rng& rng);
  void sort_unopened(PuctNode& node);
  void prepare_root(Rng& rng);
  bool prove(PuctNode& node);
  void back_up(const PuctWalk& walk, double value, bool newly_proved);

  double mixed_value(const PuctNode& node) const;
  // Completed values of the root's edges, scaled as logits (Danihelka et al. 2022, equation 8).
  void scaled_values(const PuctNode& node, std::vector<float>& scaled) const;
  const PuctNode* child_of(const PuctNode& node, std::size_t edge) const;
  Result proof_of(std::size_t edge) const;
  void visit_weights(std::vector<float>& weights) const;
  void improved_weights(std::vector<float>& scaled, std::vector<float>& weights) const;
  bool keep_proved(Result proof, std::vector<float>& weights) const;
  void normalise(std::vector<float>& weights) const;
  std::size_t choose_by_halving(const std::vector<float>& weights, const std::vector<float>& scaled) const;
  std::size_t choose_by_chance(std::vector<float> weights, float temperature, Rng& rng) const;
  std::size_t choose_best(const std::vector<float>& weights) const;
  const PuctNode* expected_reply(const PuctNode& node) const;
  std::vector<Point> line_through(const PuctEdge& edge) const;
  double exploration(const PuctNode& node) const;

  const PuctOptions* options_;
  int area_;
  std::vector<PuctNode> nodes_;
  std::vector<PuctEdge> edges_;
  PuctSearchPlan plan_;
  std::size_t max_bytes_ = std::numeric_limits<std::size_t>::max();
  bool has_repeats_ = false;  // an evaluation was backed up more than once
  int begun_ = 0;
  int finished_ = 0;
  std::vector<float> gumbel_;      // [area], of this search
  std::vector<int> halving_plan_;  // for each simulation, how many visits its candidate must have
  mutable std::vector<float> scratch_;
};

// Sequential halving over `candidates` (at least 1): for each simulation, the number of visits that a root move must
// have to be considered. All candidates get equally many visits, then the better half of them, and so on down to two.
std::vector<int> plan_halving(int candidates, int simulations);

}  // namespace tengen
