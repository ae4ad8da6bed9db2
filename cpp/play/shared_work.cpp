#include "play/shared_work.h"

#ifndef _WIN32
#include <unistd.h>
#endif
#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

namespace tengen {
namespace {

// A helper looks for new work this many times before it sleeps: about twenty microseconds, enough to
// cover the time between two steps of a fast caller.
constexpr int kLooksBeforeSleep = 400;

void pause() {
#if defined(__x86_64__) || defined(_M_X64)
  _mm_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);  // no pause instruction; the loop is slow enough without it
#endif
}

std::int64_t process_number() {
#ifdef _WIN32
  return 0;  // this system has no fork
#else
  return getpid();
#endif
}

}  // namespace

struct SharedWork::Helpers {
  std::int64_t process = process_number();
  std::vector<std::thread> threads;

  // Counts calls of run_shared in steps of 2; helpers sleep until it changes. The lowest bit tells them to exit.
  std::atomic<std::uint32_t> round{0};
  std::atomic<int> unclaimed{0};           // parts not yet claimed; negative after failed attempts to claim one
  std::atomic<int> claimed_by_helpers{0};  // helpers take parts from the back
  std::atomic<int> unfinished{0};
  // These are written before `unclaimed` and read only after claiming a part.
  int parts = 0;
  const void* context = nullptr;
  Call call = nullptr;

  bool claim() { return unclaimed.load(std::memory_order_relaxed) > 0 && unclaimed.fetch_sub(1) > 0; }

  void finish() {
    if (unfinished.fetch_sub(1) == 1) unfinished.notify_one();
  }

  void help() {
    std::uint32_t seen = 0;
    for (;;) {
      for (int look = 0; look < kLooksBeforeSleep && round.load() == seen; ++look) pause();
      round.wait(seen);
      seen = round.load();
      if (seen & 1) return;
      while (claim()) {
        call(context, parts - 1 - claimed_by_helpers.fetch_add(1));
        finish();
      }
    }
  }
};

SharedWork::SharedWork(int threads) : threads_(threads) {}

SharedWork::~SharedWork() {
  if (!helpers_) return;
  if (helpers_->process != process_number()) {
    // These threads exist only in the parent process, so they can be neither joined nor destroyed.
    [[maybe_unused]] const Helpers* leaked = helpers_.release();
    return;
  }
  helpers_->round.fetch_or(1);
  helpers_->round.notify_all();
  for (std::thread& thread : helpers_->threads) thread.join();
}

void SharedWork::run_shared(int parts, const void* context, Call call) {
  if (!helpers_) {
    helpers_ = std::make_unique<Helpers>();
    for (int i = 1; i < threads_; ++i) helpers_->threads.emplace_back([helpers = helpers_.get()] { helpers->help(); });
  }
  Helpers& helpers = *helpers_;
  helpers.parts = parts;
  helpers.context = context;
  helpers.call = call;
  helpers.claimed_by_helpers = 0;
  helpers.unfinished = parts;
  helpers.unclaimed = parts;
  helpers.round.fetch_add(2);
  helpers.round.notify_all();
  for (int part = 0; helpers.claim(); ++part) {
    call(context, part);
    helpers.finish();
  }
  // Wait for the helpers. Each of them has at most one part left to finish.
  for (int left = helpers.unfinished; left > 0; left = helpers.unfinished) {
    for (int look = 0; look < kLooksBeforeSleep && helpers.unfinished.load() == left; ++look) pause();
    helpers.unfinished.wait(left);
  }
}

}  // namespace tengen
