// UCT: a tree grown by playouts, each of which goes where UCB1 is highest (Kocsis and Szepesvári 2006).
//
// Threads share one tree. Statistics are atomic counters; a playout counts as a visit when it enters a node and brings
// its result when it leaves, so that others see it as a loss meanwhile (virtual loss) and spread out.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/board.h"
#include "search/rollout/playout.h"
#include "search/rollout/search.h"

namespace tengen {

struct UctOptions {
  double exploration = 1.4142135623730951;  // the c of UCB1, for results between 0 and 1
  PlayoutPolicy policy = PlayoutPolicy::kHeuristic;
  int radius = 1;  // moves of the tree lie at most so far from a stone; 0 for no bound
  // A node gets children once it has been visited so often. With 1, each playout visits one new node, as in the
  // textbook; a few more save most of the memory, since a node has as many children as there are moves.
  std::uint32_t expand_after = 4;
  bool solve = true;  // prove wins and losses in the tree, and answer fours as one must
  std::size_t memory_bytes = std::size_t{256} << 20;
};

// What is proved about a node, seen by the side that moved there. Fits one word, so that threads read it whole.
struct NodeProof {
  Result result = Result::kUnknown;
  bool solid = false;  // false when moves far from all stones were left out of the proof
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
  std::atomic<std::uint64_t> half_points;  // of the side that played `move`
  std::atomic<std::uint32_t> visits;       // playouts that have entered
  std::atomic<std::uint32_t> proof;        // a NodeProof
  // The children lie side by side. These may be read once the state is kExpanded.
  std::uint32_t first_child;
  std::uint16_t child_count;
  Point move;
  bool complete;  // the children not there are lost in two plies
  std::atomic<NodeState> state;

  NodeProof proved() const { return NodeProof::unpack(proof.load(std::memory_order_relaxed)); }
};

// Nodes in chunks that never move. Everything is given back at once; the memory is kept for the next tree.
class UctArena {
 public:
  static constexpr std::uint32_t kFull = 0;  // node 0 is the root, nobody's child

  explicit UctArena(std::size_t memory_bytes);

  // Forget all nodes and make the root, node 0.
  UctNode& reset();
  // `count` fresh nodes side by side; the number of the first, or kFull.
  std::uint32_t allocate(int count);
  UctNode& at(std::uint32_t index) { return chunks_[index >> kLog2Chunk][index & (kChunk - 1)]; }
  std::uint64_t size() const { return allocated_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kLog2Chunk = 15;
  static constexpr std::uint32_t kChunk = 1u << kLog2Chunk;

  std::mutex mutex_;
  std::vector<std::unique_ptr<UctNode[]>> chunks_;  // never grows; null until needed
  std::uint32_t next_ = 0;
  std::atomic<std::uint64_t> allocated_{0};
};

class Uct {
 public:
  explicit Uct(const UctOptions& options) : options_(options), arena_(options.memory_bytes) {}

  // Search a game that is not over. The same seed, one thread and no time limit give the same report. `on_report` is
  // called from this thread. Ends before its limits when the root is proved, and soon when there is only one move.
  // `stop` ends it after the running playouts.
  RolloutReport search(const Board& board, const RolloutLimits& limits, std::uint64_t seed,
                       const OnRolloutReport& on_report = {}, const StopSignal* stop = nullptr);

 private:
  UctOptions options_;
  UctArena arena_;
};

}  // namespace tengen
