// Network-guided search of one position, by one or more workers that share a tree.
//
// Each worker has its own board. It collects a batch of leaves with `collect`, the caller evaluates them with the
// network, and `supply` returns the results. One lock protects the tree. It is held for a microsecond or two, while a
// walk descends or a value is backed up. Slower work runs without the lock: tactics, continuous fours, planes, the
// network. Virtual loss spreads the workers' walks over the tree.
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
  std::vector<PuctMove> moves;  // the chosen one, then the others, best first
  int simulations = 0;
};

class PuctSearch {
 public:
  // Tree and cache together use at most `memory_bytes`.
  PuctSearch(const Rules& rules, PlaneLayout layout, const PuctOptions& options, std::size_t memory_bytes);
  PuctSearch(const PuctSearch&) = delete;
  PuctSearch& operator=(const PuctSearch&) = delete;

  // Start a search; the game must not be over. The tree is kept if reuse_tree is set and the position continues the
  // previous one. `time_ms` is -1 for no limit. The excluded root moves are not searched, unless there are no others.
  // `stop` ends the search from any thread; without it, only `end` does. Throws std::invalid_argument if the board's
  // rules differ from the search's.
  void begin(const Board& board, int simulations, std::int64_t time_ms, const std::vector<Point>& excluded, int workers,
             std::uint64_t seed, std::shared_ptr<StopSignal> stop = nullptr);

  const Rules& rules() const { return rules_; }
  PlaneLayout layout() const { return layout_; }
  int workers() const { return static_cast<int>(workers_.size()); }
  // The largest number of rows that one call to `collect` writes.
  int max_rows() const { return options_.leaves * evaluations_.rows_per_leaf(); }
  int waiting_rows(int worker) const {
    return static_cast<int>(at(worker).waiting.size()) * evaluations_.rows_per_leaf();
  }

  // Write the planes [rows, C, area] of leaves that need an evaluation, and return the number of rows. Blocks while all
  // leaves are pending in other workers; returns 0 if the search is over. In a full tree, it returns after a number of
  // walks even without rows, so that the caller can report. Throws std::invalid_argument if rows of this worker are
  // still waiting for their evaluation.
  int collect(int index, float* planes);
  // Supply the evaluations for the waiting rows: log-policies [rows, area], values [rows] for the side to move.
  void supply(int index, const float* log_policies, const float* values);
  // Cancel the pending walks of a worker whose rows will not be evaluated.
  void abandon(int index);

  // Whether the simulations or the time are used up, the root is proved, or `end` was called. Always false before
  // the root has been evaluated.
  bool is_over() const;
  // Whether `collect` may find more leaves, or visit more nodes in a full tree.
  bool has_work() const;
  // Request the end of the search. Any worker may call it.
  void end();

  // The result so far. The root must have been evaluated. The first `lines` moves include their expected continuation.
  // The chosen move is sampled at `temperature`; 0 selects the best move.
  PuctReport report(int lines, float temperature);
  int simulations() const;
  // Discard the tree and the cached evaluations.
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
    Worker(const PuctOptions& options, const Board& start, bool with_patterns, std::uint64_t seed)
        : board(start, with_patterns), judge(options), rng(seed) {}
    PuctBoard board;
    LeafJudge judge;
    Rng rng;
    std::vector<Leaf> waiting;
    PuctWalk walk;
    std::vector<float> log_policy;  // [area]
  };

  // Throws std::out_of_range if there is no such worker.
  const Worker& at(int worker) const;
  Worker& at(int worker);
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
  // Handle the leaf at the end of worker.walk: settle it, expand it from the cache, or write its planes and add it to
  // the waiting leaves.
  void judge_leaf(Worker& worker, float* planes);
  // Search for threats at the end of worker.walk.
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

  mutable std::mutex mutex_;  // protects everything below
  std::condition_variable changed_;
  PuctEvaluations evaluations_;
  PuctTree tree_;
  int open_walks_ = 0;  // pending walks of all workers
  Rng report_rng_{0};
};

}  // namespace tengen
