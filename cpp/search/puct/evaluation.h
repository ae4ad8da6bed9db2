// Between the tree and the network: planes seen through a symmetry, policies seen back, and a cache of what the network
// has said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/rng.h"
#include "core/symmetry.h"
#include "patterns/planes.h"
#include "search/puct/leaf.h"
#include "search/puct/options.h"

namespace tengen {

// How one leaf is handed to the network.
struct EvaluationRequest {
  std::uint64_t key = 0;          // of the position in the cache; the same for positions that differ by a symmetry
  std::uint8_t key_symmetry = 0;  // takes the position to the one the cache knows
  std::uint8_t row_symmetry = 0;  // takes the position to the one in the row
};

class PuctEvaluations {
 public:
  PuctEvaluations(const PuctOptions& options, const Rules& rules, PlaneLayout layout);

  // Rows of planes that one leaf takes: 1, or one for each symmetry when they are averaged.
  int rows_per_leaf() const { return symmetry_ == SymmetryUse::kAverage ? symmetries_.count() : 1; }
  int row_size() const { return plane_count(layout_) * area_; }

  EvaluationRequest request(const Board& board, Rng& rng) const;
  // Whether the cache has the position; then its log-policy [area] and value are copied.
  bool find(const EvaluationRequest& request, float* log_policy, float& value) const;
  void write(const PuctBoard& board, const EvaluationRequest& request, float* rows) const;
  // Rows of the network's answer -> log-policy [area] and value of the leaf. The cache keeps them.
  void read(const EvaluationRequest& request, const float* policy_rows, const float* values, float* log_policy,
            float& value);
  void clear();
  // What the cache takes.
  static std::size_t bytes(const PuctOptions& options, const Rules& rules);

 private:
  struct Entry {
    std::uint64_t key = 0;
    float value = 0;
  };

  SymmetryUse symmetry_;
  PlaneLayout layout_;
  int area_;
  Symmetries symmetries_;
  std::vector<Entry> entries_;       // a power of two, or none
  std::vector<float> log_policies_;  // [entries, area]
};

}  // namespace tengen
