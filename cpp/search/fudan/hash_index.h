// The report's hash index: search results by the Zobrist key of the stones.
#pragma once

#include <cstdint>
#include <vector>

namespace tengen::fudan {

enum class Bound : std::uint8_t { kExact, kLower, kUpper };

class HashIndex {
 public:
  struct Entry {
    std::uint64_t key = 0;
    std::int64_t value = 0;
    std::uint32_t tree = 0;
    Bound bound = Bound::kExact;
  };

  // A disabled index stores nothing and uses no memory.
  explicit HashIndex(bool is_on) : entries_(is_on ? kEntries : 0) {}

  // Start a new tree. Values depend on its depth, widths and root, so `find` ignores entries from earlier trees.
  void begin_tree() { ++tree_; }

  const Entry* find(std::uint64_t key) const {
    if (entries_.empty()) return nullptr;
    const Entry& entry = entries_[key % kEntries];
    return entry.key == key && entry.tree == tree_ ? &entry : nullptr;
  }

  void store(std::uint64_t key, std::int64_t value, Bound bound) {
    if (!entries_.empty()) entries_[key % kEntries] = {key, value, tree_, bound};
  }

 private:
  static constexpr std::size_t kEntries = std::size_t{1} << 18;

  std::vector<Entry> entries_;
  std::uint32_t tree_ = 0;
};

}  // namespace tengen::fudan
