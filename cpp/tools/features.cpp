#include "tools/features.h"

#include <algorithm>
#include <array>

#include "eval/weights.h"

namespace tengen {
namespace {

// Whether the search would call the evaluation in this position.
bool is_evaluated(const PatternBoard& board) {
  const Colour own = board.to_move();
  return !board.count(own, threat::kFive) && !board.count(opponent(own), threat::kFive) &&
         !board.count(own, threat::kOpenFour);
}

// Counts per column. move_into visits only the columns that were touched, in order.
class ColumnCounts {
 public:
  void add(int column, int amount) {
    if (!seen_[column]) {
      seen_[column] = true;
      touched_.push_back(column);
    }
    counts_[column] = static_cast<std::int16_t>(counts_[column] + amount);
  }

  void move_into(PositionFeatures& features) {
    std::ranges::sort(touched_);
    for (const int column : touched_) {
      if (counts_[column] != 0) {
        features.columns.push_back(column);
        features.counts.push_back(counts_[column]);
      }
      counts_[column] = 0;
      seen_[column] = false;
    }
    touched_.clear();
    features.row_starts.push_back(static_cast<std::int64_t>(features.columns.size()));
  }

 private:
  static constexpr std::size_t kColumns = std::size_t{2} * kShapeCodes;

  std::array<std::int16_t, kColumns> counts_{};
  std::array<bool, kColumns> seen_{};
  std::vector<int> touched_;
};

// The code pairs of all empty points, sorted.
std::vector<std::int32_t> pairs_of(const PatternBoard& board) {
  const Colour own = board.to_move();
  std::vector<std::int32_t> pairs;
  for (Point p = 0; p < board.rules().area(); ++p)
    if (board.is_empty(p)) pairs.push_back(board.code(own, p) * kShapeCodes + board.code(opponent(own), p));
  std::ranges::sort(pairs);
  return pairs;
}

void add_pairs(const std::vector<std::int32_t>& pairs, const std::vector<std::int32_t>& bare,
               PositionFeatures& features) {
  auto now = pairs.begin();
  auto before = bare.begin();
  while (now != pairs.end() || before != bare.end()) {
    const std::int32_t pair = before == bare.end() || (now != pairs.end() && *now <= *before) ? *now : *before;
    int count = 0;
    for (; now != pairs.end() && *now == pair; ++now) ++count;
    for (; before != bare.end() && *before == pair; ++before) --count;
    if (count == 0) continue;
    features.pairs.push_back(pair);
    features.pair_counts.push_back(static_cast<std::int16_t>(count));
  }
  features.pair_starts.push_back(static_cast<std::int64_t>(features.pairs.size()));
}

void add_sample(const PatternBoard& board, Point move, const std::vector<std::int32_t>& bare, ColumnCounts& counts,
                PositionFeatures& features) {
  const Colour own = board.to_move();
  const Colour other = opponent(own);
  const int own_column = features.by_colour ? own * kShapeCodes : 0;
  const int other_column = features.by_colour ? other * kShapeCodes : 0;
  for (Point p = 0; p < board.rules().area(); ++p) {
    if (!board.is_empty(p)) continue;
    counts.add(own_column + board.code(own, p), 1);
    counts.add(other_column + board.code(other, p), -1);
  }
  counts.move_into(features);
  add_pairs(pairs_of(board), bare, features);
  features.threat_bits.push_back(static_cast<std::int16_t>(threat_bits(board)));
  features.colours.push_back(own);
  std::int16_t candidates = 0;
  std::int16_t played = -1;
  board.candidates().for_each([&](Point p) {
    features.own_codes.push_back(static_cast<std::int16_t>(board.code(own, p)));
    features.other_codes.push_back(static_cast<std::int16_t>(board.code(other, p)));
    if (p == move) played = candidates;
    ++candidates;
  });
  features.played.push_back(played);
  features.move_starts.push_back(static_cast<std::int64_t>(features.own_codes.size()));
}

}  // namespace

void add_features(const Board& board, const std::vector<int>& moves, int first, PositionFeatures& features) {
  const std::int32_t game = features.games_added++;
  PatternBoard patterns(board, Weights::prior().points);
  const std::vector<std::int32_t> bare = pairs_of(PatternBoard(Board(board.rules()), Weights::prior().points));
  ColumnCounts counts;
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const int index = moves[i];
    if (index < 0 || index >= board.rules().area()) return;
    const auto move = static_cast<Point>(index);
    if (patterns.board().is_over() || !patterns.is_empty(move)) return;
    if (static_cast<int>(i) >= first && is_evaluated(patterns)) {
      features.games.push_back(game);
      features.move_indices.push_back(static_cast<std::int16_t>(i));
      add_sample(patterns, move, bare, counts, features);
    }
    patterns.make(move);
  }
}

}  // namespace tengen
