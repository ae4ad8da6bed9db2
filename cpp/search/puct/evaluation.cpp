#include "search/puct/evaluation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "core/zobrist.h"

namespace tengen {

namespace {

std::size_t entry_count(const PuctOptions& options) {
  return options.cache_entries > 0 ? std::bit_ceil(static_cast<std::size_t>(options.cache_entries)) : 0;
}

}  // namespace

PuctEvaluations::PuctEvaluations(const PuctOptions& options, const Rules& rules, PlaneLayout layout)
    : symmetry_(options.symmetry),
      layout_(layout),
      area_(rules.area()),
      symmetries_(rules.width, rules.height),
      entries_(entry_count(options)),
      log_policies_(entries_.size() * static_cast<std::size_t>(area_)) {}

std::size_t PuctEvaluations::bytes(const PuctOptions& options, const Rules& rules) {
  return entry_count(options) * (sizeof(Entry) + static_cast<std::size_t>(rules.area()) * sizeof(float));
}

void PuctEvaluations::clear() { std::fill(entries_.begin(), entries_.end(), Entry{}); }

// Networks are not symmetric. Symmetric positions share an entry of the cache only if the options use a random symmetry
// or the average of all; otherwise only identical positions do.
EvaluationRequest PuctEvaluations::request(const Board& board, Rng& rng) const {
  EvaluationRequest request;
  if (symmetry_ == SymmetryUse::kRandom)
    request.row_symmetry = static_cast<std::uint8_t>(rng.below(static_cast<std::uint32_t>(symmetries_.count())));
  if (entries_.empty()) return request;
  struct Stone {
    Point point;
    std::uint8_t colour;
  };
  std::array<Stone, kMaxArea> stones;
  int count = 0;
  for (Point p = 0; p < area_; ++p)
    if (const Cell cell = board.at(p); cell != kEmpty)
      stones[count++] = {p, static_cast<std::uint8_t>(cell - kBlackStone)};
  request.key = std::numeric_limits<std::uint64_t>::max();
  const int tried = symmetry_ == SymmetryUse::kNone ? 1 : symmetries_.count();
  for (int s = 0; s < tried; ++s) {
    const Point* const to = symmetries_.table(s);
    std::uint64_t key = board.to_move() == kWhite ? kZobrist.white_to_move : 0;
    for (int i = 0; i < count; ++i) key ^= kZobrist.stone[stones[i].colour][to[stones[i].point]];
    // The words of the last moves are rotated, so that they do not cancel the words of their stones.
    for (int ago = 1; ago <= std::min(history_shown(layout_), board.ply()); ++ago)
      key ^= std::rotl(kZobrist.stone[kBlack][to[board.move(board.ply() - ago)]], 7 * ago);
    if (key < request.key) {
      request.key = key;
      request.key_symmetry = static_cast<std::uint8_t>(s);
    }
  }
  if (request.key == 0) request.key = 1;  // 0 marks an empty entry
  return request;
}

bool PuctEvaluations::find(const EvaluationRequest& request, float* log_policy, float& value) const {
  if (entries_.empty()) return false;
  const std::size_t place = request.key & (entries_.size() - 1);
  if (entries_[place].key != request.key) return false;
  const float* const known = &log_policies_[place * static_cast<std::size_t>(area_)];
  const Point* const to = symmetries_.table(request.key_symmetry);
  for (int p = 0; p < area_; ++p) log_policy[p] = known[to[p]];
  value = entries_[place].value;
  return true;
}

void PuctEvaluations::write(const PuctBoard& board, const EvaluationRequest& request, float* rows) const {
  const Board& stones = board.board();
  if (symmetry_ != SymmetryUse::kAverage) {
    write_planes(stones, board.patterns(), layout_, stones.to_move(), symmetries_.table(request.row_symmetry), rows);
    return;
  }
  for (int s = 0; s < symmetries_.count(); ++s)
    write_planes(stones, board.patterns(), layout_, stones.to_move(), symmetries_.table(s),
                 rows + static_cast<std::ptrdiff_t>(s) * row_size());
}

void PuctEvaluations::read(const EvaluationRequest& request, const float* policy_rows, const float* values,
                           float* log_policy, float& value) {
  if (symmetry_ == SymmetryUse::kAverage) {
    std::fill_n(log_policy, area_, 0.0f);
    value = 0.0f;
    for (int s = 0; s < symmetries_.count(); ++s) {
      const Point* const to = symmetries_.table(s);
      const float* const row = policy_rows + static_cast<std::ptrdiff_t>(s) * area_;
      for (int p = 0; p < area_; ++p) log_policy[p] += std::exp(row[to[p]]);
      value += values[s];
    }
    const auto share = 1.0f / static_cast<float>(symmetries_.count());
    for (int p = 0; p < area_; ++p) log_policy[p] = std::log(log_policy[p] * share + 1e-30f);
    value *= share;
  } else {
    const Point* const to = symmetries_.table(request.row_symmetry);
    for (int p = 0; p < area_; ++p) log_policy[p] = policy_rows[to[p]];
    value = values[0];
  }
  if (entries_.empty()) return;
  const std::size_t place = request.key & (entries_.size() - 1);
  entries_[place] = {request.key, value};
  float* const known = &log_policies_[place * static_cast<std::size_t>(area_)];
  const Point* const to = symmetries_.table(request.key_symmetry);
  for (int p = 0; p < area_; ++p) known[to[p]] = log_policy[p];
}

}  // namespace tengen
