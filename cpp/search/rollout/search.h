// What the searches by playouts share: limits, reports, and which moves they consider.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "core/board.h"
#include "core/point_set.h"
#include "core/zobrist.h"
#include "search/stop_signal.h"

namespace tengen {

struct RolloutLimits {
  std::int64_t time_ms = -1;   // -1 for no limit
  std::uint64_t playouts = 0;  // in all; 0 for no limit
  int threads = 1;
  int lines = 1;                // how many moves get their expected continuation in the report
  std::vector<Point> excluded;  // root moves not to be considered while there are others
};

enum class Result : std::uint8_t { kUnknown, kWin, kLoss, kDraw };

// The same seen by the other side.
constexpr Result opposite(Result result) {
  return result == Result::kWin ? Result::kLoss : result == Result::kLoss ? Result::kWin : result;
}

// What is known about one root move, seen by the side to move there.
struct RolloutMove {
  Point move = kNoPoint;
  std::uint64_t visits = 0;
  double value_to_move = 0;  // mean result in [-1, 1]; the proved one when there is a proof
  Result proof = Result::kUnknown;
  int proof_plies = 0;      // from the root to the end
  std::vector<Point> line;  // begins with `move`; only for the first moves of a report
};

struct RolloutReport {
  std::vector<RolloutMove> moves;  // best first, never empty
  std::uint64_t playouts = 0;
  std::uint64_t nodes = 0;  // of the tree, or 0 without one
  double elapsed_ms = 0;
};

using OnRolloutReport = std::function<void(const RolloutReport&)>;

// Half points of a result for `colour`: 2, 1 or 0.
inline unsigned half_points(Outcome outcome, Colour colour) {
  return outcome == Outcome::kDraw ? 1u : outcome == win_for(colour) ? 2u : 0u;
}

// A seed of its own for each part of a search.
inline std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t part) {
  std::uint64_t state = seed ^ (part * 0xD1342543DE82EF95ull);
  return split_mix(state);
}

// Hands out playouts to all threads of a search until a limit is reached or somebody stops it.
class PlayoutBudget {
 public:
  static constexpr std::uint64_t kNone = ~0ull;

  // `most` further bounds the number of playouts, kNone for no bound.
  PlayoutBudget(const RolloutLimits& limits, const StopSignal* stop, std::uint64_t most = kNone)
      : stop_(stop),
        start_(std::chrono::steady_clock::now()),
        most_(limits.playouts == 0 || most < limits.playouts ? most : limits.playouts),
        time_(limits.time_ms) {}

  // The number of the playout that may begin now, kNone when there is none left. The first is always granted, so that
  // a search has something to answer.
  std::uint64_t take() {
    if (taken_.load(std::memory_order_relaxed) > 0 && is_over()) return kNone;
    const std::uint64_t number = taken_.fetch_add(1, std::memory_order_relaxed);
    return number < most_ ? number : kNone;
  }

  void end() { ended_.store(true, std::memory_order_relaxed); }

  double elapsed_ms() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  bool is_over() {
    if (ended_.load(std::memory_order_relaxed) || (stop_ && stop_->is_set())) return true;
    if (time_.count() < 0 || std::chrono::steady_clock::now() - start_ < time_) return false;
    end();
    return true;
  }

  const StopSignal* stop_;
  std::chrono::steady_clock::time_point start_;
  std::uint64_t most_;
  std::chrono::milliseconds time_;
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> ended_{false};
};

// When to report: after 256 playouts, then each time they have doubled, at the latest every quarter of a second.
class ReportSchedule {
 public:
  bool is_due(std::uint64_t playouts, double elapsed_ms) {
    if (playouts < next_playouts_ && elapsed_ms < next_ms_) return false;
    while (next_playouts_ <= playouts) next_playouts_ *= 2;
    next_ms_ = elapsed_ms + 250;
    return true;
  }

 private:
  std::uint64_t next_playouts_ = 256;
  double next_ms_ = 250;
};

// Run work(0) on this thread and work(1) … work(threads - 1) on others, and wait for all. What work(0) throws is thrown
// again once the budget has been ended and the others are back; they must not throw.
template <typename Work>
void run_workers(int threads, PlayoutBudget& budget, Work work) {
  struct Helpers {
    PlayoutBudget& budget;
    std::vector<std::thread> threads;
    ~Helpers() {
      budget.end();
      for (std::thread& thread : threads) thread.join();
    }
  };
  if (threads <= 1) return work(0);
  Helpers helpers{budget, {}};
  for (int i = 1; i < threads; ++i) helpers.threads.emplace_back([&work, i] { work(i); });
  work(0);
  for (std::thread& thread : helpers.threads) thread.join();
  helpers.threads.clear();
}

// The empty points at most `radius` columns and rows away from a stone; the centre of an empty board. All empty points
// when radius is 0.
PointSet points_near_stones(const Board& board, int radius);

// The empty points where `colour` completes a winning line.
PointSet completing_points(const Board& board, Colour colour);

// The legal points near stones; every legal point when none is near, or when radius is 0.
PointSet candidate_points(const Board& board, int radius);

// `points` without the excluded ones, unless nothing would be left.
PointSet without(const PointSet& points, const std::vector<Point>& excluded);

}  // namespace tengen
