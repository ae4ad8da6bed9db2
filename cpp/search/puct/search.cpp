#include "search/puct/search.h"

#include <algorithm>
#include <stdexcept>

#include "core/assert.h"
#include "core/checked.h"

namespace tengen {
namespace {

// Root visits required per leaf in a batch. The walks of a batch do not see each other's results, which weakens the
// search while the tree is small.
constexpr std::uint32_t kVisitsForEachLeaf = 8;
// The evaluation cache gets at most 1 / kCacheShare of the memory.
constexpr std::size_t kCacheShare = 4;
// Number of walks in a full tree, which need no evaluation, before `collect` returns: a few milliseconds' worth.
constexpr int kWalksAtOnce = 2048;
// Number of root visits that ends a search, far below the counter's maximum.
constexpr std::uint32_t kMostVisits = 4'000'000'000;

PuctOptions with_cache_within(PuctOptions options, const Rules& rules, std::size_t memory_bytes) {
  while (PuctEvaluations::bytes(options, rules) > memory_bytes / kCacheShare) options.cache_entries /= 2;
  return options;
}

}  // namespace

PuctSearch::PuctSearch(const Rules& rules, PlaneLayout layout, const PuctOptions& options, std::size_t memory_bytes)
    : rules_(rules),
      layout_(layout),
      options_(with_cache_within(playable(options, rules), rules, memory_bytes)),
      tree_bytes_(memory_bytes - PuctEvaluations::bytes(options_, rules)),
      with_patterns_(needs_patterns(options, rules) || needs_patterns(layout)),
      evaluations_(options_, rules, layout),
      tree_(options_, rules.area()) {
  tree_.limit(tree_bytes_);
}

// Advance the tree to the new position. Returns false if that is not possible.
bool PuctSearch::keep_tree(const Board& board) {
  if (!options_.reuse_tree || !root_board_ || !excluded_.empty() || root_board_->ply() > board.ply()) return false;
  Board replayed = *root_board_;
  for (int i = 0; i < board.ply(); ++i) {
    if (i < root_board_->ply()) {
      if (board.move(i) != replayed.move(i)) return false;
      continue;
    }
    if (replayed.is_over() || !replayed.is_empty(board.move(i))) return false;
    replayed.make(board.move(i));
  }
  if (replayed.hash() != board.hash()) return false;
  for (int i = root_board_->ply(); i < board.ply(); ++i)
    if (!tree_.advance(board.move(i))) return false;
  return true;
}

const PuctSearch::Worker& PuctSearch::at(int worker) const {
  return workers_[static_cast<std::size_t>(checked_index(worker, workers(), "worker"))];
}

PuctSearch::Worker& PuctSearch::at(int worker) {
  return workers_[static_cast<std::size_t>(checked_index(worker, workers(), "worker"))];
}

void PuctSearch::begin(const Board& board, int simulations, std::int64_t time_ms, const std::vector<Point>& excluded,
                       int workers, std::uint64_t seed, std::shared_ptr<StopSignal> stop) {
  if (board.rules() != rules_) throw std::invalid_argument("the board has different rules than the search");
  TENGEN_ASSERT(!board.is_over() && simulations >= 0 && workers >= 1);
  const std::lock_guard lock(mutex_);
  using Clock = std::chrono::steady_clock;
  deadline_ = time_ms < 0 ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(time_ms);
  end_requested_ = false;
  stop_.swap(stop);  // the old signal is freed with the argument, after the lock is released
  PointSet excluded_set;
  for (const Point point : excluded) excluded_set.add(point);
  const bool kept = excluded_set == excluded_ && keep_tree(board);
  root_board_ = board;
  excluded_ = excluded_set;
  simulations_ = simulations;
  open_walks_ = 0;
  report_rng_ = Rng(mixed_seed(seed, 0));
  workers_.clear();
  for (int i = 0; i < workers; ++i) {
    const std::uint64_t worker_seed = mixed_seed(seed, 1 + static_cast<std::uint64_t>(i));
    Worker& worker = workers_.emplace_back(options_, board, with_patterns_, worker_seed);
    worker.log_policy.resize(static_cast<std::size_t>(rules_.area()));
  }
  // The solver spends more nodes on the root than on a leaf. If it proves the root of a kept tree, discard the tree:
  // the first walk then judges the root again and settles it.
  if (!kept || (options_.vcf_nodes_root > 0 && judge_root(workers_[0]).result != Result::kUnknown)) tree_.reset();
  PuctSearchPlan plan;
  plan.simulations = simulations;
  plan.noise = true;
  plan.gumbel = options_.gumbel;
  tree_.begin(plan, report_rng_);
}

// ---- Ending -------------------------------------------------------------------------------------------------------

bool PuctSearch::is_over_locked() const {
  if (!tree_.has_root()) return false;
  const bool only_move = options_.tactics && tree_.root().edge_count == 1;
  const int most = only_move ? std::min(simulations_, kSimulationsOfOnlyMove) : simulations_;
  return is_ended() || tree_.finished() >= most || tree_.is_proved() || tree_.root().visits >= kMostVisits;
}

bool PuctSearch::is_over() const {
  const std::lock_guard lock(mutex_);
  return is_over_locked();
}

bool PuctSearch::has_work() const {
  const std::lock_guard lock(mutex_);
  return may_walk();
}

int PuctSearch::simulations() const {
  const std::lock_guard lock(mutex_);
  return tree_.finished();
}

void PuctSearch::end() {
  end_requested_ = true;
  changed_.notify_all();
}

// ---- Gathering leaves ---------------------------------------------------------------------------------------------

int PuctSearch::batch_size() const {
  return static_cast<int>(std::clamp<std::uint32_t>(tree_.root().visits / kVisitsForEachLeaf, 1u,
                                                    static_cast<std::uint32_t>(options_.leaves)));
}

LeafJudgement PuctSearch::judge_root(Worker& worker) const {
  return worker.judge.judge(worker.board, options_.vcf_nodes_root, excluded_, [this] { return is_ended(); });
}

void PuctSearch::close_walk() {
  --open_walks_;
  changed_.notify_all();
}

void PuctSearch::judge_leaf(Worker& worker, float* planes) {
  const LeafJudgement judgement =
      worker.walk.depth() == 0 ? judge_root(worker) : worker.judge.judge(worker.board, options_.vcf_nodes_leaf);
  if (judgement.result != Result::kUnknown) {
    const std::lock_guard lock(mutex_);
    tree_.settle(worker.walk, judgement);
    close_walk();
    return;
  }
  const EvaluationRequest request = evaluations_.request(worker.board.board(), worker.rng);
  {
    const std::lock_guard lock(mutex_);
    float value = 0;
    if (evaluations_.find(request, worker.log_policy.data(), value)) {
      tree_.expand(worker.walk, judgement, worker.log_policy.data(), value, worker.rng);
      close_walk();
      return;
    }
  }
  evaluations_.write(worker.board, request, planes);
  worker.waiting.push_back({worker.walk, judgement, request});
}

void PuctSearch::find_threats(Worker& worker) {
  const LeafJudgement judgement =
      worker.judge.find_threats(worker.board, options_.vct_nodes, [this] { return is_ended(); });
  const std::lock_guard lock(mutex_);
  tree_.conclude(worker.walk, judgement, is_ended());
  close_walk();
}

int PuctSearch::collect(int index, float* planes) {
  Worker& worker = at(index);
  if (!worker.waiting.empty())
    throw std::invalid_argument("rows of this worker are waiting for their evaluation; call supply or abandon first");
  const std::ptrdiff_t leaf_size = static_cast<std::ptrdiff_t>(evaluations_.rows_per_leaf()) * evaluations_.row_size();
  for (int walks_when_full = 0;;) {
    PuctWalk::End walk_end;
    {
      std::unique_lock lock(mutex_);
      if (!worker.waiting.empty() && static_cast<int>(worker.waiting.size()) >= batch_size()) break;
      if (!may_walk() || (tree_.is_full() && ++walks_when_full > kWalksAtOnce)) break;
      walk_end = tree_.walk(worker.board, worker.walk);
      if (walk_end == PuctWalk::End::kKnown) tree_.repeat_known(worker.walk);
      if (walk_end == PuctWalk::End::kCollision) {
        tree_.cancel(worker.walk);
        worker.board.unmake(worker.walk.depth());
        if (!worker.waiting.empty()) break;
        // Another worker is waiting for the evaluation of this node.
        if (open_walks_ > 0 && (!is_ended() || !tree_.has_root())) changed_.wait(lock);
        if (is_ended() && tree_.has_root()) break;
        continue;
      }
      if (walk_end == PuctWalk::End::kLeaf || walk_end == PuctWalk::End::kThreats) ++open_walks_;
    }
    if (walk_end == PuctWalk::End::kLeaf)
      judge_leaf(worker, planes + static_cast<std::ptrdiff_t>(worker.waiting.size()) * leaf_size);
    if (walk_end == PuctWalk::End::kThreats) find_threats(worker);
    worker.board.unmake(worker.walk.depth());
  }
  return waiting_rows(index);
}

void PuctSearch::supply(int index, const float* log_policies, const float* values) {
  Worker& worker = at(index);
  {
    const std::lock_guard lock(mutex_);
    for (const Leaf& leaf : worker.waiting) {
      float value = 0;
      evaluations_.read(leaf.request, log_policies, values, worker.log_policy.data(), value);
      tree_.expand(leaf.walk, leaf.judgement, worker.log_policy.data(), value, worker.rng);
      log_policies += static_cast<std::ptrdiff_t>(evaluations_.rows_per_leaf()) * rules_.area();
      values += evaluations_.rows_per_leaf();
      close_walk();
    }
  }
  worker.waiting.clear();
}

void PuctSearch::abandon(int index) {
  Worker& worker = at(index);
  {
    const std::lock_guard lock(mutex_);
    for (const Leaf& leaf : worker.waiting) {
      tree_.cancel(leaf.walk);
      close_walk();
    }
  }
  worker.waiting.clear();
}

// ---- Answers ------------------------------------------------------------------------------------------------------

PuctReport PuctSearch::report(int lines, float temperature) {
  const std::lock_guard lock(mutex_);
  PuctReport report;
  report.policy.resize(static_cast<std::size_t>(rules_.area()));
  report.decision = tree_.decide(temperature, report_rng_, report.policy.data());
  // A loss or draw is proved only if no move was excluded.
  if (!excluded_.empty() && report.decision.proof != Result::kWin) report.decision.proof = Result::kUnknown;
  report.moves = tree_.ranked_moves(lines, report.decision.move);
  report.simulations = tree_.finished();
  return report;
}

void PuctSearch::clear() {
  const std::lock_guard lock(mutex_);
  tree_.reset();
  evaluations_.clear();
  root_board_.reset();
}

std::string PuctSearch::check() const {
  const std::lock_guard lock(mutex_);
  return tree_.check();
}

}  // namespace tengen
