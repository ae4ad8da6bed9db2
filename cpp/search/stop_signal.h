// A request to stop, shared by the search that obeys it and whoever asks for it.
#pragma once

#include <atomic>

namespace tengen {

// The caller owns the signal and makes a new one for each search. It is never cleared, so a stop cannot be lost: it may
// be set from any thread, also before the search starts and after it has ended.
class StopSignal {
 public:
  void set() { is_set_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return is_set_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_{false};
};

}  // namespace tengen
