// Work on many independent parts, shared among threads that live as long as this object.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace tengen {

// A small thread pool that splits a call into numbered parts.
//
// The calling thread takes parts from the front, and helper threads take parts from the back as soon as they are awake.
// A helper that wakes up late costs nothing, because the caller waits only for helpers that have claimed a part.
//
// After a fork the child has no helpers, and the caller does all the work.
class SharedWork {
 public:
  // `threads` includes the calling thread. Helper threads start with the first call of `run` that has work for them.
  explicit SharedWork(int threads);
  ~SharedWork();
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

  int threads() const { return threads_; }

  // Call work(part) once for each part 0 … parts - 1 and return when all calls have returned. `work` must not throw.
  // Only one thread may call this at a time.
  template <typename Work>
  void run(int parts, const Work& work) {
    if (threads_ == 1 || parts == 1) {
      for (int part = 0; part < parts; ++part) work(part);
    } else {
      run_shared(parts, &work, [](const void* context, int part) { (*static_cast<const Work*>(context))(part); });
    }
  }

 private:
  using Call = void (*)(const void*, int);
  struct Helpers;

  void run_shared(int parts, const void* context, Call call);

  int threads_;
  std::unique_ptr<Helpers> helpers_;
};

}  // namespace tengen
