#include "tools/pattern_walk.h"

#include <memory>

#include "core/rng.h"
#include "patterns/pattern_board.h"

namespace tengen {
namespace {

// Maximum number of stones per game; searches rarely reach positions with more stones.
constexpr int kStonesPerGame = 40;

Point pick(const PointSet& set, Rng& rng) {
  auto left = static_cast<int>(rng.below(static_cast<std::uint32_t>(set.size())));
  Point picked = kNoPoint;
  set.for_each([&](Point p) {
    if (left-- == 0) picked = p;
  });
  return picked;
}

PointSet empty_points(const PatternBoard& board) {
  PointSet set;
  for (Point p = 0; p < board.rules().area(); ++p)
    if (board.is_empty(p)) set.add(p);
  return set;
}

// Random features, small enough that their sums over the largest board do not overflow.
PointFeatures random_features(Rng& rng) {
  PointFeatures features;
  for (auto* tables : {&features.own, &features.other})
    for (auto& table : *tables)
      for (Features& code : table)
        for (auto& value : code.values) value = static_cast<std::int16_t>(static_cast<int>(rng.below(64)) - 32);
  return features;
}

bool is_finished(const PatternBoard& board) { return board.board().is_over() || board.board().empties() == 0; }

}  // namespace

std::string check_pattern_walk(const Board& board, std::uint64_t seed, int steps) {
  Rng rng(seed);
  const auto features = std::make_unique<const PointFeatures>(random_features(rng));
  PatternBoard patterns(board, Weights::prior().points, features.get());
  const int ply_before = board.ply();
  for (int step = 0; step < steps; ++step) {
    const bool may_unmake = patterns.board().ply() > ply_before;
    if (is_finished(patterns) && !may_unmake) break;
    // Take two steps forward and one back on average, so that the walk reaches crowded boards but also unmakes old
    // moves.
    if (may_unmake && (is_finished(patterns) || rng.below(3) == 0)) {
      patterns.unmake();
    } else {
      const PointSet near = patterns.candidates();
      patterns.make(pick(near.empty() || rng.below(8) == 0 ? empty_points(patterns) : near, rng));
    }
    if (const std::string fault = patterns.check(); !fault.empty())
      return "step " + std::to_string(step) + ": " + fault;
  }
  return {};
}

std::uint64_t run_make_unmake(const Board& board, const Weights& weights, std::uint64_t seed, std::uint64_t pairs) {
  Rng rng(seed);
  PatternBoard patterns(board, weights.points, weights.features());
  std::uint64_t signature = 0;
  std::uint64_t done = 0;
  while (done < pairs) {
    const PointSet candidates = patterns.candidates();
    if (is_finished(patterns) || candidates.empty() || patterns.board().stones() >= kStonesPerGame) {
      if (patterns.board().ply() == board.ply()) break;
      while (patterns.board().ply() > board.ply()) patterns.unmake();
      continue;
    }
    candidates.for_each([&](Point p) {
      if (done >= pairs) return;
      patterns.make(p);
      signature = (signature ^ patterns.hash()) * 0x9E3779B97F4A7C15ull +
                  static_cast<std::uint64_t>(patterns.value_sum()) +
                  static_cast<std::uint64_t>(patterns.features(kBlack).values[0] + patterns.features(kWhite).values[0]);
      patterns.unmake();
      ++done;
    });
    patterns.make(pick(candidates, rng));
  }
  return signature;
}

}  // namespace tengen
