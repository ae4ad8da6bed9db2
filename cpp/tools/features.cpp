#include "tools/features.h"

#include <map>

#include "eval/weights.h"

namespace tengen {
namespace {

bool is_asked(const PatternBoard& board) {
  const Colour own = board.to_move();
  return !board.count(own, threat::kFive) && !board.count(opponent(own), threat::kFive) &&
         !board.count(own, threat::kOpenFour);
}

void add_sample(const PatternBoard& board, Point played, PositionFeatures& features) {
  const Colour own = board.to_move();
  const Colour other = opponent(own);
  std::map<int, int> counts;
  for (Point p = 0; p < board.rules().area(); ++p) {
    if (!board.is_empty(p)) continue;
    ++counts[board.code(own, p)];
    --counts[board.code(other, p)];
  }
  for (const auto& [code, count] : counts) {
    if (count == 0) continue;
    features.codes.push_back(code);
    features.counts.push_back(static_cast<std::int8_t>(count));
  }
  features.row_starts.push_back(static_cast<std::int64_t>(features.codes.size()));
  features.threat_bits.push_back(static_cast<std::int16_t>(threat_bits(board)));
  features.plies.push_back(static_cast<std::int16_t>(board.board().stones()));
  board.candidates().for_each([&](Point p) {
    features.own_codes.push_back(static_cast<std::int16_t>(board.code(own, p)));
    features.other_codes.push_back(static_cast<std::int16_t>(board.code(other, p)));
    features.played.push_back(p == played);
  });
  features.move_starts.push_back(static_cast<std::int64_t>(features.own_codes.size()));
}

}  // namespace

void add_features(const Board& board, const std::vector<int>& moves, int first, PositionFeatures& features) {
  PatternBoard patterns(board, Weights::prior().points);
  for (std::size_t i = 0; i < moves.size(); ++i) {
    const auto move = static_cast<Point>(moves[i]);
    if (patterns.board().is_over() || !patterns.is_empty(move)) return;
    if (static_cast<int>(i) >= first && is_asked(patterns)) add_sample(patterns, move, features);
    patterns.make(move);
  }
}

}  // namespace tengen
