// The transposition table: results of earlier searches of each position. All threads share it without locks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "core/types.h"
#include "search/alphabeta/value.h"

namespace tengen {

enum Bound : std::uint8_t { kNoBound = 0, kUpper = 1, kLower = 2, kExact = 3 };

struct TableEntry {
  Value value = kNoValue;
  Value evaluation = kNoValue;
  Point move = kNoPoint;
  int depth = -1;  // in plies; 0 or less if only fours were searched
  Bound bound = kNoBound;
  bool was_pv = false;
};

// An entry is two words: the data, and the position's key xor-ed with the data. A reader of a half-written entry sees a
// key that does not match (Hyatt and Mann, "A lock-less transposition table implementation", 2002).
class TranspositionTable {
 public:
  explicit TranspositionTable(std::size_t bytes);

  // Change the size, which clears the table unless the size stays the same.
  void resize(std::size_t bytes);
  void clear();
  // Make the pages of an empty table resident. Otherwise, the first search is slowed down by page faults: clearing
  // 64 MB can take a tenth of a second. The pages of a very large table are left to the searches.
  void touch();
  std::size_t bytes() const { return clusters_ * sizeof(Cluster); }

  // Start a new search: entries from older searches are replaced first.
  void new_search() {
    age_ = (age_ + 1) & 31;
    is_empty_ = false;
  }

  // `ply` is the distance of the position from the root. Stored wins and losses count plies from the position itself;
  // search values count them from the root. probe() and store() convert between the two.
  bool probe(std::uint64_t key, int ply, TableEntry& entry) const;
  void store(std::uint64_t key, int ply, const TableEntry& entry);
  void prefetch(std::uint64_t key) const;

  // Entries written by the current search, per thousand table entries, estimated from a sample.
  int usage() const;

 private:
  struct Slot {
    std::uint64_t check;
    std::uint64_t data;
    std::uint64_t read_check() { return std::atomic_ref(check).load(std::memory_order_relaxed); }
    std::uint64_t read_data() { return std::atomic_ref(data).load(std::memory_order_relaxed); }
    void write(std::uint64_t new_check, std::uint64_t new_data) {
      std::atomic_ref(data).store(new_data, std::memory_order_relaxed);
      std::atomic_ref(check).store(new_check, std::memory_order_relaxed);
    }
  };
  struct alignas(64) Cluster {
    Slot slots[4];
  };

  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };

  void allocate(std::size_t clusters);
  Cluster& cluster(std::uint64_t key) const;

  std::unique_ptr<void, Free> memory_;
  Cluster* table_ = nullptr;  // in memory_, aligned
  std::size_t clusters_ = 0;
  unsigned age_ = 0;
  bool is_empty_ = true;
};

}  // namespace tengen
