// The budget of a search: time limit, node limit and stop signal.
#pragma once

#include <chrono>
#include <cstdint>

#include "search/stop_signal.h"

namespace tengen::fudan {

class Budget {
 public:
  // A negative time or 0 nodes means no limit; `stop` may be null.
  Budget(std::int64_t time_ms, std::uint64_t nodes, const StopSignal* stop)
      : start_(Clock::now()), time_(time_ms), max_nodes_(nodes), stop_(stop) {}

  // Count a node. Returns false once a limit is reached or a stop is requested, and on every later call.
  bool spend_node() {
    if (is_spent_) return false;
    if (max_nodes_ > 0 && nodes_ >= max_nodes_) return !(is_spent_ = true);
    ++nodes_;
    if (stop_ && stop_->is_set()) is_spent_ = true;
    if (time_.count() >= 0 && nodes_ % kNodesPerLook == 0 && Clock::now() - start_ >= time_) is_spent_ = true;
    return !is_spent_;
  }

  bool is_spent() const { return is_spent_; }
  std::uint64_t nodes() const { return nodes_; }
  double elapsed_ms() const { return std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kNodesPerLook = 64;

  Clock::time_point start_;
  std::chrono::milliseconds time_;
  std::uint64_t max_nodes_;
  const StopSignal* stop_;
  std::uint64_t nodes_ = 0;
  bool is_spent_ = false;
};

}  // namespace tengen::fudan
