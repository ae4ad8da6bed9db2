#include "search/rollout/hmcts.h"

#include <algorithm>
#include <deque>

#include "core/assert.h"
#include "core/rng.h"

namespace tengen {
namespace {

struct Candidate {
  Candidate(Point point, const PlayoutBoard& after) : move(point), board(after) {}

  Point move;
  PlayoutBoard board;  // after the move
  std::atomic<std::uint64_t> playouts{0};
  std::atomic<std::uint64_t> half_points{0};  // for the side that plays the move
};

// The candidates in random order, which breaks ties.
std::deque<Candidate> make_candidates(const Board& board, const HmctsOptions& options,
                                      const std::vector<Point>& excluded, Rng& rng) {
  std::vector<Point> moves;
  without(candidate_points(board, options.radius), excluded).for_each([&](Point p) { moves.push_back(p); });
  for (std::size_t i = moves.size(); i > 1; --i)
    std::swap(moves[i - 1], moves[rng.below(static_cast<std::uint32_t>(i))]);
  std::deque<Candidate> candidates;
  const PlayoutBoard start(board, options.policy);
  for (const Point move : moves) {
    PlayoutBoard after = start;
    after.make(move);
    candidates.emplace_back(move, after);
  }
  return candidates;
}

RolloutMove describe(const Candidate& candidate, Colour mover) {
  RolloutMove move;
  move.move = candidate.move;
  move.line = {candidate.move};
  move.visits = candidate.playouts.load();
  if (candidate.board.board().outcome() == win_for(mover)) {
    move.value_to_move = 1;
    move.proof = Result::kWin;
    move.proof_plies = 1;
  } else if (move.visits > 0) {
    move.value_to_move = static_cast<double>(candidate.half_points.load()) / static_cast<double>(move.visits) - 1;
  }
  return move;
}

RolloutReport make_report(const std::deque<Candidate>& candidates, Colour mover, double elapsed_ms) {
  RolloutReport report;
  report.elapsed_ms = elapsed_ms;
  for (const Candidate& candidate : candidates) {
    report.moves.push_back(describe(candidate, mover));
    report.playouts += report.moves.back().visits;
  }
  // Wins first, then by mean result. Moves without a playout have no mean and come last.
  const auto rank = [](const RolloutMove& move) { return move.proof == Result::kWin ? 2 : move.visits > 0 ? 1 : 0; };
  std::stable_sort(report.moves.begin(), report.moves.end(), [&](const RolloutMove& a, const RolloutMove& b) {
    return rank(a) != rank(b) ? rank(a) > rank(b) : a.value_to_move > b.value_to_move;
  });
  return report;
}

std::uint64_t total_playouts(const HmctsOptions& options, std::size_t candidates) {
  const std::uint64_t each = options.playouts_a_candidate;
  return each == 0 || each > PlayoutBudget::kNone / candidates ? PlayoutBudget::kNone : each * candidates;
}

}  // namespace

RolloutReport Hmcts::search(const Board& board, const RolloutLimits& limits, std::uint64_t seed,
                            const OnRolloutReport& on_report, const StopSignal* stop) {
  TENGEN_ASSERT(!board.is_over() && limits.threads >= 1);
  Rng rng(seed);
  const Colour mover = board.to_move();
  std::deque<Candidate> candidates = make_candidates(board, options_, limits.excluded, rng);
  if (candidates.empty()) return {};
  PlayoutBudget budget(limits, stop, total_playouts(options_, candidates.size()));
  for (const Candidate& candidate : candidates)
    if (candidate.board.board().outcome() == win_for(mover)) return make_report(candidates, mover, budget.elapsed_ms());

  ReportSchedule schedule;
  run_workers(limits.threads, budget, [&](int worker) {
    for (std::uint64_t number = budget.take(); number != PlayoutBudget::kNone; number = budget.take()) {
      Candidate& candidate = candidates[number % candidates.size()];
      Rng playout_rng(mixed_seed(seed, number + 1));
      PlayoutBoard playout = candidate.board;
      candidate.half_points.fetch_add(half_points(playout.play_out(playout_rng), mover));
      candidate.playouts.fetch_add(1);
      if (worker == 0 && on_report && schedule.is_due(number, budget.elapsed_ms()))
        on_report(make_report(candidates, mover, budget.elapsed_ms()));
    }
  });
  return make_report(candidates, mover, budget.elapsed_ms());
}

}  // namespace tengen
