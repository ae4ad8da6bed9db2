// One position searched with a network, by one worker or by several that share the tree.
//
// Each worker has a board of its own and gathers a batch of leaves: `collect`, then the caller asks the network, then
// `supply`. The tree is behind one lock, held while a walk goes down or a value goes up, a microsecond or two each;
// what takes longer (tactics, continuous fours, planes, the network) happens outside of it. Virtual loss keeps the
// walks of all workers apart.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/board.h"
#include "core/plane_layout.h"
#include "core/rng.h"
#include "search/puct/evaluation.h"
#include "search/puct/leaf.h"
#include "search/puct/tree.h"
#include "search/stop_signal.h"

namespace tengen {

struct PuctReport {
  PuctDecision decision;
  std::vector<float> policy;    // [area]
  std::vector<PuctMove> moves;  // the decided one first, then best first
  int simulations = 0;
};

class PuctSearch {
 public:
  // Tree and cache stay within `memory_bytes`.
  PuctSearch(const Rules& rules, PlaneLayout layout, const PuctOptions& options, std::size_t memory_bytes);
  PuctSearch(const PuctSearch&) = delete;
  PuctSearch& operator=(const PuctSearch&) = delete;

  // Begin with a game that is not over. What the tree knows is kept when the position follows from the last one and the
  // options say so. `time_ms` is -1 for no limit. The excluded moves are left out at the root while there are others.
  // `stop` ends the search from any thread; without one only `end` does.
  void begin(const Board& board, int simulations, std::int64_t time_ms, const std::vector<Point>& excluded, int workers,
             std::uint64_t seed, std::shared_ptr<StopSignal> stop = nullptr);

  const Rules& rules() const { return rules_; }
  PlaneLayout layout() const { return layout_; }
  int workers() const { return static_cast<int>(workers_.size()); }
  // The most rows that one `collect` writes.
  int max_rows() const { return options_.leaves * evaluations_.rows_per_leaf(); }
  int waiting_rows(int worker) const {
    return static_cast<int>(at(worker).waiting.size()) * evaluations_.rows_per_leaf();
  }

  // Write planes [rows, C, area] of leaves that need an evaluation; the number of rows. With none left to find it waits
  // for the answers of other workers, or returns 0. In a full tree it returns after some walks, so that the caller can
  // report. Nothing of this worker may be waiting.
  int collect(int worker, float* planes);
  void supply(int worker, const float* log_policies, const float* values);
  // Take back the walks of a worker that will get no answers.
  void abandon(int worker);

  // Simulations or time used up, root proved, or told to end; never before the root has been evaluated.
  bool is_over() const;
  // Whether `collect` may find more leaves, or visit more nodes of a full tree.
  bool has_work() const;
  // End soon what has begun. May be called by any worker.
  void end();

  // What is known so far, the first `lines` moves with their continuations; the root must have been evaluated. The
  // decided move is drawn at `temperature`, 0 for the best.
  PuctReport report(int lines, float temperature);
  int simulations() const;
  // Forget the tree and the evaluations.
  void clear();
  // See PuctTree::check.
  std::string check() const;

 private:
  struct Leaf {
    PuctWalk walk;
    LeafJudgement judgement;
    EvaluationRequest request;
  };
  struct Worker {
    Worker(const PuctOptions& options, const Board& board, bool with_patterns, std::uint64_t seed)
        : board(board, with_patterns), judge(options), rng(seed) {}
    PuctBoard board;
    LeafJudge judge;
    Rng rng;
    std::vector<Leaf> waiting;
    PuctWalk walk;
    std::vector<float> log_policy;  // [area]
  };

  const Worker& at(int worker) const { return workers_[static_cast<std::size_t>(worker)]; }
  Worker& at(int worker) { return workers_[static_cast<std::size_t>(worker)]; }
  bool keep_tree(const Board& board);
  bool is_ended() const {
    return end_requested_.load(std::memory_order_relaxed) || (stop_ && stop_->is_set()) ||
           std::chrono::steady_clock::now() >= deadline_;
  }
  bool is_over_locked() const;
  bool may_walk() const { return !tree_.has_root() || (!is_over_locked() && tree_.begun() < simulations_); }
  int batch_size() const;
  void close_walk();
  LeafJudgement judge_root(Worker& worker) const;
  // Handle the leaf at the end of worker.walk: decide it, or write its planes and let it wait for the network.
  void judge_leaf(Worker& worker, float* planes);
  // Look for threats at the end of worker.walk.
  void find_threats(Worker& worker);

  Rules rules_;
  PlaneLayout layout_;
  PuctOptions options_;
  std::size_t tree_bytes_;
  bool with_patterns_;
  std::vector<Worker> workers_;
  PointSet excluded_;
  std::optional<Board> root_board_;
  int simulations_ = 0;
  std::chrono::steady_clock::time_point deadline_;
  std::atomic<bool> end_requested_{false};
  std::shared_ptr<StopSignal> stop_;

  mutable std::mutex mutex_;  // of everything below
  std::condition_variable changed_;
  PuctEvaluations evaluations_;
  PuctTree tree_;
  int open_walks_ = 0;  // of all workers: to leaves that have no value yet
  Rng report_rng_{0};
};

}  // namespace tengen
