// The layer between the tree and the network: it applies a symmetry to the planes, maps the policy back, and caches
// evaluations.
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

// The cache key of one leaf, and its symmetries for the network and the cache. PuctEvaluations::request creates it; the
// caller keeps it until the network has answered.
struct EvaluationRequest {
  std::uint64_t key = 0;          // cache key; if symmetries are used, symmetric positions have the same key
  std::uint8_t key_symmetry = 0;  // maps the position to the one in the cache
  std::uint8_t row_symmetry = 0;  // maps the position to the one in the row
};

class PuctEvaluations {
 public:
  PuctEvaluations(const PuctOptions& options, const Rules& rules, PlaneLayout layout);

  // Rows of planes per leaf: 1, or the number of symmetries if they are averaged.
  int rows_per_leaf() const { return symmetry_ == SymmetryUse::kAverage ? symmetries_.count() : 1; }
  int row_size() const { return plane_count(layout_) * area_; }

  EvaluationRequest request(const Board& board, Rng& rng) const;
  // Look up the position in the cache. On a hit, copy its log-policy [area] and value and return true.
  bool find(const EvaluationRequest& request, float* log_policy, float& value) const;
  void write(const PuctBoard& board, const EvaluationRequest& request, float* rows) const;
  // Convert the rows of the network's answer to the log-policy [area] and value for the leaf, and cache them.
  void read(const EvaluationRequest& request, const float* policy_rows, const float* values, float* log_policy,
            float& value);
  void clear();
  // Size of the cache in bytes.
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
  std::vector<Entry> entries_;       // the size is a power of two, or 0
  std::vector<float> log_policies_;  // [entries, area]
};

}  // namespace tengen
