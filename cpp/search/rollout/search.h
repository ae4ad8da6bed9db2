// Common parts of the rollout searches: limits, reports, candidate moves, threads.
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
  std::uint64_t playouts = 0;  // across all threads; 0 for no limit
  int threads = 1;
  int lines = 1;                // number of reported moves that include their expected continuation
  std::vector<Point> excluded;  // root moves to ignore, unless there are no others
};

enum class Result : std::uint8_t { kUnknown, kWin, kLoss, kDraw };

// The same result from the point of view of the other side.
constexpr Result opposite(Result result) {
  return result == Result::kWin ? Result::kLoss : result == Result::kLoss ? Result::kWin : result;
}

// Statistics for one root move, from the point of view of the side to move.
struct RolloutMove {
  Point move = kNoPoint;
  std::uint64_t visits = 0;
  double value_to_move = 0;  // mean result in [-1, 1], or the proved result
  Result proof = Result::kUnknown;
  int proof_plies = 0;      // from the root to the end of the game
  std::vector<Point> line;  // begins with `move`; only for the first moves in a report
};

struct RolloutReport {
  std::vector<RolloutMove> moves;  // best first; empty only if there is no legal move
  std::uint64_t playouts = 0;
  std::uint64_t nodes = 0;  // in the tree; 0 if there is no tree
  double elapsed_ms = 0;
};

using OnRolloutReport = std::function<void(const RolloutReport&)>;

// The result in half points for `colour`: 2, 1 or 0.
inline unsigned half_points(Outcome outcome, Colour colour) {
  return outcome == Outcome::kDraw ? 1u : outcome == win_for(colour) ? 2u : 0u;
}

// Derive a separate seed for each part of a search.
inline std::uint64_t mixed_seed(std::uint64_t seed, std::uint64_t part) {
  std::uint64_t state = seed ^ (part * 0xD1342543DE82EF95ull);
  return split_mix(state);
}

// Grants playouts to all threads of a search until a limit is reached or the search is stopped.
class PlayoutBudget {
 public:
  static constexpr std::uint64_t kNone = ~0ull;

  // `most` is an additional limit on the number of playouts; kNone for no limit.
  PlayoutBudget(const RolloutLimits& limits, const StopSignal* stop, std::uint64_t most = kNone)
      : stop_(stop),
        start_(std::chrono::steady_clock::now()),
        most_(limits.playouts == 0 || most < limits.playouts ? most : limits.playouts),
        time_(limits.time_ms) {}

  // Take the next playout and return its number, or kNone if the budget is used up. The first playout is always
  // granted, so that every search has a result.
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

// Report schedule: after 256 playouts, then whenever their number has doubled, and at least four times per second.
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

// Run work(0) on this thread and work(1) … work(threads - 1) on new threads, and wait for all of them. If work(0)
// throws, the budget is ended and the other threads are joined before the exception propagates. The other threads must
// not throw.
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
  if (threads <= 1) {
    work(0);
    return;
  }
  Helpers helpers{budget, {}};
  for (int i = 1; i < threads; ++i) helpers.threads.emplace_back([&work, i] { work(i); });
  work(0);
  for (std::thread& thread : helpers.threads) thread.join();
  helpers.threads.clear();
}

// The empty points at most `radius` columns and rows away from a stone; on an empty board, only the centre. With radius
// 0, all empty points.
PointSet points_near_stones(const Board& board, int radius);

// The empty points where `colour` completes a winning line.
PointSet completing_points(const Board& board, Colour colour);

// The legal points near stones, or all legal points if none is near a stone or if radius is 0.
PointSet candidate_points(const Board& board, int radius);

// `points` without the excluded ones, or all of `points` if none would be left.
PointSet without(const PointSet& points, const std::vector<Point>& excluded);

}  // namespace tengen
