#include "search/alphabeta/transposition.h"

#include <algorithm>
#include <limits>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "core/assert.h"
#include "core/prefetch.h"

namespace tengen {
namespace {

// Zeroing a huge page takes longer than a few page faults, so small tables do not request them.
constexpr std::size_t kLeastHugeBytes = std::size_t{64} << 20;
// A result that is not exact does not replace an entry of the same position and search that is more than this many
// plies deeper.
constexpr int kKeptDepth = 3;
// When choosing the entry to replace, each search since an entry was written counts as this many plies of depth.
constexpr int kPliesPerAge = 8;

// The data word, from the low bits up: move 16, value 16, evaluation 16, depth 8, bound 2, was_pv 1, age 5.
std::uint64_t pack(const TableEntry& entry, unsigned age) {
  return std::uint64_t{entry.move} | std::uint64_t{static_cast<std::uint16_t>(entry.value)} << 16 |
         std::uint64_t{static_cast<std::uint16_t>(entry.evaluation)} << 32 |
         std::uint64_t{static_cast<std::uint8_t>(std::clamp(entry.depth, -1, 254) + 1)} << 48 |
         std::uint64_t{entry.bound} << 56 | std::uint64_t{entry.was_pv} << 58 | std::uint64_t{age} << 59;
}

TableEntry unpack(std::uint64_t data) {
  TableEntry entry;
  entry.move = static_cast<Point>(data);
  entry.value = static_cast<std::int16_t>(data >> 16);
  entry.evaluation = static_cast<std::int16_t>(data >> 32);
  entry.depth = static_cast<int>((data >> 48) & 0xFF) - 1;
  entry.bound = static_cast<Bound>((data >> 56) & 3);
  entry.was_pv = (data >> 58) & 1;
  return entry;
}

int depth_of(std::uint64_t data) { return static_cast<int>((data >> 48) & 0xFF); }
unsigned age_of(std::uint64_t data) { return static_cast<unsigned>(data >> 59); }

// A search accesses the table at random locations, so each small page costs a page fault at first and TLB misses later.
// Linux uses huge pages only where they are requested; without them, the table still works, but more slowly.
void request_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kHugePage = 2 << 20;
  if (bytes < kLeastHugeBytes) return;
  // madvise requires whole pages, so skip the bytes before the first huge page and after the last one.
  const std::size_t skipped = (kHugePage - reinterpret_cast<std::uintptr_t>(memory) % kHugePage) % kHugePage;
  const std::size_t length = (bytes - skipped) / kHugePage * kHugePage;
  madvise(static_cast<char*>(memory) + skipped, length, MADV_HUGEPAGE);
#endif
}

}  // namespace

TranspositionTable::TranspositionTable(std::size_t bytes) { resize(bytes); }

void TranspositionTable::resize(std::size_t bytes) {
  const std::size_t before = clusters_;
  const std::size_t clusters = std::max<std::size_t>(bytes / sizeof(Cluster), 1);
  if (clusters == before) return;
  try {
    allocate(clusters);
  } catch (const std::bad_alloc&) {
    if (before > 0) allocate(before);
    throw;
  }
}

void TranspositionTable::clear() {
  if (!is_empty_) allocate(clusters_);
}

void TranspositionTable::touch() {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  auto* memory = static_cast<volatile char*>(memory_.get());
  if (!is_empty_ || bytes() > kMostBytes) return;
  for (std::size_t i = 0; i < bytes(); i += kPage) memory[i] = 0;
}

// calloc returns zeroed pages that the system allocates on first access, so a table of any size is ready immediately.
// The old table is freed first, because there may not be enough memory for two.
void TranspositionTable::allocate(std::size_t clusters) {
  memory_.reset();
  clusters_ = 0;
  age_ = 0;
  is_empty_ = true;
  std::size_t space = clusters * sizeof(Cluster) + alignof(Cluster);
  memory_.reset(std::calloc(space, 1));
  if (!memory_) throw std::bad_alloc();
  request_huge_pages(memory_.get(), space);
  void* start = memory_.get();
  table_ = static_cast<Cluster*>(std::align(alignof(Cluster), clusters * sizeof(Cluster), start, space));
  clusters_ = clusters;
}

TranspositionTable::Cluster& TranspositionTable::cluster(std::uint64_t key) const {
  // Multiply and shift to map the key to any number of clusters. With half of the key, the product fits into 64 bits.
  const std::uint64_t high = key >> 32;
  return table_[(high * static_cast<std::uint64_t>(clusters_)) >> 32];
}

bool TranspositionTable::probe(std::uint64_t key, int ply, TableEntry& entry) const {
  TENGEN_ASSERT(ply >= 0 && ply < kMaxPly);
  for (Slot& slot : cluster(key).slots) {
    const std::uint64_t data = slot.read_data();
    if ((slot.read_check() ^ data) != key || data == 0) continue;
    entry = unpack(data);
    if (entry.value != kNoValue && is_win(entry.value)) entry.value -= 2 * ply;
    if (entry.value != kNoValue && is_loss(entry.value)) entry.value += 2 * ply;
    return true;
  }
  return false;
}

void TranspositionTable::store(std::uint64_t key, int ply, const TableEntry& entry) {
  TENGEN_ASSERT(ply >= 0 && ply < kMaxPly);
  TENGEN_ASSERT(entry.value == kNoValue ? entry.bound == kNoBound : std::abs(entry.value) <= kMate);
  TableEntry stored = entry;
  if (stored.value != kNoValue && is_win(stored.value)) stored.value += 2 * ply;
  if (stored.value != kNoValue && is_loss(stored.value)) stored.value -= 2 * ply;

  Slot* target = nullptr;
  int worst = std::numeric_limits<int>::max();
  for (Slot& slot : cluster(key).slots) {
    const std::uint64_t data = slot.read_data();
    if (data == 0 || (slot.read_check() ^ data) == key) {
      if (data != 0) {
        const TableEntry old = unpack(data);
        // A much shallower bound from the same search does not replace a deeper result. A result without a move keeps
        // the old move.
        if (stored.move == kNoPoint) stored.move = old.move;
        if (stored.bound != kExact && age_of(data) == age_ && stored.depth + kKeptDepth < old.depth) return;
      }
      target = &slot;
      break;
    }
    const int worth = depth_of(data) - kPliesPerAge * static_cast<int>((age_ - age_of(data)) & 31);
    if (worth < worst) {
      worst = worth;
      target = &slot;
    }
  }
  const std::uint64_t data = pack(stored, age_);
  target->write(key ^ data, data);
}

void TranspositionTable::prefetch(std::uint64_t key) const { tengen::prefetch(&cluster(key)); }

int TranspositionTable::usage() const {
  const std::size_t sample = std::min<std::size_t>(clusters_, 250);
  std::size_t used = 0;
  for (std::size_t i = 0; i < sample; ++i)
    for (Slot& slot : table_[i].slots) {
      const std::uint64_t data = slot.read_data();
      used += data != 0 && age_of(data) == age_;
    }
  return static_cast<int>(std::size_t{1000} * used / (sample * 4));
}

}  // namespace tengen
