// The numbers of the evaluation. All of them are fitted by `tengen tune`; the prior is only where fitting starts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "patterns/pattern_board.h"

namespace tengen {

// Threats that exist on the board, as bits, seen by the side to move (see threat_bits). Positions with a five or an own
// open four to make are settled before the evaluation is asked.
inline constexpr int kThreatBits = 9;

// A network so small that its first and largest layer lives in the pattern tables: what every empty point adds to the
// features of a side (PointFeatures) is looked up and summed as stones come and go. Two layers of kHidden units look at
// both sides' features and at the threat bits. Its output is added to the linear evaluation. Whole numbers throughout,
// so that the search is the same on every machine.
struct EvaluationNet {
  static constexpr int kHidden = 32;
  static constexpr int kShift = 10;  // after each layer
  static constexpr int kOutputUnit = 1 << 10;

  PointFeatures points;
  // First layer: features of the side to move, then of its opponent; and what each set of threat bits adds. By side to
  // move.
  std::array<std::array<std::array<std::int16_t, 2 * kFeatures>, kHidden>, 2> first{};
  std::array<std::array<std::array<std::int32_t, kHidden>, 1 << kThreatBits>, 2> threats{};
  std::array<std::array<std::int16_t, kHidden>, kHidden> second{};
  std::array<std::int32_t, kHidden> second_bias{};
  std::array<std::int16_t, kHidden> output{};
  std::int32_t output_bias = 0;

  // In evaluation units, for the side to move of a board that keeps `points`.
  int evaluate(const PatternBoard& board, int threat_bits) const;
};

struct Weights {
  // Worth of an empty point for a colour, in 1/kValueUnit of an evaluation unit.
  PointValues points;
  // Worth of the existing threats to the side to move, by side to move and threat bits.
  std::array<std::array<std::int16_t, 1 << kThreatBits>, 2> threats{};
  // How soon to try a point, by colour to move: what it makes for the mover, and what it takes from the opponent.
  std::array<std::array<std::int16_t, kShapeCodes>, 2> attack{};
  std::array<std::array<std::int16_t, kShapeCodes>, 2> defence{};
  // None: the evaluation is linear.
  std::shared_ptr<const EvaluationNet> net;

  const PointFeatures* features() const { return net ? &net->points : nullptr; }

  static const Weights& prior();
};

inline constexpr int kValueUnit = 8;

// Evaluations run over +-kMaxEvaluation; the expected result is tanh(evaluation / (2 * kLogisticUnit)).
inline constexpr int kMaxEvaluation = 6000;
inline constexpr int kLogisticUnit = 200;

int threat_bits(const PatternBoard& board);

// The worth of the position to the side to move. The network speaks if the board keeps its features.
int evaluate(const PatternBoard& board, const Weights& weights);

}  // namespace tengen
