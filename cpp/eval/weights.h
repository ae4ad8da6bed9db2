// The numbers of the evaluation. All of them are fitted by `tengen tune`; the prior is only where fitting starts.
#pragma once

#include <array>
#include <cstdint>

#include "patterns/pattern_board.h"

namespace tengen {

// Threats that exist on the board, as bits, seen by the side to move (see threat_bits). Positions with a five or an own
// open four to make are settled before the evaluation is asked.
inline constexpr int kThreatBits = 9;

struct Weights {
  // Worth of an empty point for a colour, in 1/kValueUnit of an evaluation unit.
  PointValues points;
  // Worth of the existing threats to the side to move, by side to move and threat bits.
  std::array<std::array<std::int16_t, 1 << kThreatBits>, 2> threats{};
  // How soon to try a point, by colour to move: what it makes for the mover, and what it takes from the opponent.
  std::array<std::array<std::int16_t, kShapeCodes>, 2> attack{};
  std::array<std::array<std::int16_t, kShapeCodes>, 2> defence{};

  static const Weights& prior();
};

inline constexpr int kValueUnit = 8;

// Evaluations run over +-kMaxEvaluation; the expected result is tanh(evaluation / (2 * kLogisticUnit)).
inline constexpr int kMaxEvaluation = 6000;
inline constexpr int kLogisticUnit = 200;

int threat_bits(const PatternBoard& board);

// The worth of the position to the side to move.
int evaluate(const PatternBoard& board, const Weights& weights);

}  // namespace tengen
