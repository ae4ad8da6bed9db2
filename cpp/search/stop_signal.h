// A stop request, shared by a search and its caller.
#pragma once

#include <atomic>

namespace tengen {

// The caller owns the signal and creates a new one for each search. The signal is never cleared, so a stop request
// cannot be lost. Any thread may set it, even before the search starts or after it has ended.
class StopSignal {
 public:
  void set() { is_set_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_{false};
};

}  // namespace tengen
