// UCT: Monte Carlo tree search that selects moves by UCB1 (Kocsis and Szepesvári 2006).
//
// All threads share one tree, with atomic counters. A playout counts as a visit as soon as it enters a node, and adds
// its result at the end. Until then, it counts as a loss (virtual loss), so that the threads spread out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numbers>
#include <vector>

#include "core/board.h"
#include "search/rollout/playout.h"
#include "search/rollout/search.h"

namespace tengen {

struct UctOptions {
  double exploration = std::numbers::sqrt2;  // the factor c in UCB1, for results between 0 and 1
  PlayoutPolicy policy = PlayoutPolicy::kHeuristic;
  int radius = 1;  // largest distance of a move from a stone; 0 for no limit
  // Visits before a node is expanded. With 1, each playout expands one node, as in textbook UCT. A few more visits save
  // most of the memory, because an expansion adds a child for every move.
  std::uint32_t expand_after = 4;
  bool solve = true;  // prove wins and losses in the tree; against a four, try only the answers
  std::size_t memory_bytes = std::size_t{256} << 20;
};

// The proof status of a node, from the point of view of the side that moved there. It fits into one word, so that
// threads can read it atomically.
struct NodeProof {
  Result result = Result::kUnknown;
  bool solid = false;  // false if the proof ignores moves far from all stones
  int plies = 0;       // to the end of the game

  std::uint32_t pack() const {
    return static_cast<std::uint32_t>(result) | (solid ? 4u : 0u) | (static_cast<std::uint32_t>(plies) << 3);
  }
  static NodeProof unpack(std::uint32_t word) {
    return {static_cast<Result>(word & 3), (word & 4) != 0, static_cast<int>(word >> 3)};
  }
};

enum class NodeState : std::uint8_t { kLeaf, kExpanding, kExpanded };

struct UctNode {
  std::atomic<std::uint64_t> half_points;  // for the side that played `move`
  std::atomic<std::uint32_t> visits;       // playouts that have entered the node
  std::atomic<std::uint32_t> proof;        // a NodeProof
  // The children are consecutive nodes. The members below may be read once the state is kExpanded.
  std::uint32_t first_child;
  std::uint16_t child_count;
  Point move;
  bool complete;  // every legal move without a child loses in two plies
  std::atomic<NodeState> state;

  NodeProof proved() const { return NodeProof::unpack(proof.load(std::memory_order_relaxed)); }
};

// Memory for nodes, in chunks that never move. Nodes are freed all at once; the chunks are kept for the next tree.
class UctArena {
 public:
  static constexpr std::uint32_t kFull = 0;  // node 0 is the root, which is never a child

  explicit UctArena(std::size_t memory_bytes);

  // Free all nodes and create the root, node 0.
  UctNode& reset();
  // Create `count` consecutive nodes. Returns the index of the first, or kFull.
  std::uint32_t allocate(int count);
  UctNode& at(std::uint32_t index) { return chunks_[index >> kLog2Chunk][index & (kChunk - 1)]; }
  std::uint64_t size() const { return allocated_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kLog2Chunk = 15;
  static constexpr std::uint32_t kChunk = 1u << kLog2Chunk;

  std::mutex mutex_;
  std::vector<std::unique_ptr<UctNode[]>> chunks_;  // of fixed size; null until needed
  std::uint32_t next_ = 0;
  std::atomic<std::uint64_t> allocated_{0};
};

class Uct {
 public:
  explicit Uct(const UctOptions& options) : options_(options), arena_(options.memory_bytes) {}

  // Search a position; the game must not be over. With one thread and no time limit, the same seed produces the same
  // report. `on_report` is called on this thread. The search ends early if the root is proved or has only one move.
  // `stop` ends it after the playouts in progress.
  RolloutReport search(const Board& board, const RolloutLimits& limits, std::uint64_t seed,
                       const OnRolloutReport& on_report = {}, const StopSignal* stop = nullptr);

 private:
  UctOptions options_;
  UctArena arena_;
};

}  // namespace tengen
