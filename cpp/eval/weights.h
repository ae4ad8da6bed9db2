// The weights of the evaluation. `tengen tune` fits all of them; the prior is only the starting point for the fit.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "patterns/pattern_board.h"

namespace tengen {

// Number of bits that describe the threats on the board for the side to move (see threat_bits). Fives for either side
// and open fours for the side to move have no bit: the search resolves these positions without an evaluation.
inline constexpr int kThreatBits = 9;

// A small network whose output is added to the linear evaluation. Its first and largest layer is a table lookup: the
// contributions of all empty points to a side's features (PointFeatures) are summed incrementally. Two layers of
// kHidden units follow; their inputs are the features of both sides and the threat bits. All numbers are integers, so
// that the search is identical on every machine.
struct EvaluationNet {
  static constexpr int kInputs = 2 * kFeatures;
  static constexpr int kHidden = 32;
  static constexpr int kShift = 10;  // right shift after each layer
  static constexpr int kOutputUnit = 1 << 10;

  PointFeatures points;
  // First layer, by side to move: weights for the features of the side to move, then for those of its opponent, and the
  // contribution of each combination of threat bits.
  std::array<std::array<std::array<std::int16_t, kInputs>, kHidden>, 2> first{};
  std::array<std::array<std::array<std::int32_t, kHidden>, 1 << kThreatBits>, 2> threats{};
  std::array<std::array<std::int16_t, kHidden>, kHidden> second{};
  std::array<std::int32_t, kHidden> second_bias{};
  std::array<std::int16_t, kHidden> output{};
  std::int32_t output_bias = 0;

  // Return the output in evaluation units, for the side to move. The board must maintain the features of `points`.
  int evaluate(const PatternBoard& board, int threat_bits) const;
};

struct Weights {
  // Value of an empty point for a colour, in 1 / kValueUnit of an evaluation unit.
  PointValues points;
  // Value of the threats on the board for the side to move, by side to move and threat bits.
  std::array<std::array<std::int16_t, 1 << kThreatBits>, 2> threats{};
  // Move ordering scores by side to move: for the shapes that a move makes, and for the opponent's shapes that it
  // removes.
  std::array<std::array<std::int16_t, kShapeCodes>, 2> attack{};
  std::array<std::array<std::int16_t, kShapeCodes>, 2> defence{};
  // The network, or null for a linear evaluation.
  std::shared_ptr<const EvaluationNet> net;

  const PointFeatures* features() const { return net ? &net->points : nullptr; }

  static const Weights& prior();
};

inline constexpr int kValueUnit = 8;

// Evaluations are within +-kMaxEvaluation. The expected result is tanh(evaluation / (2 * kLogisticUnit)).
inline constexpr int kMaxEvaluation = 6000;
inline constexpr int kLogisticUnit = 200;

// One bit per kind of threat, set if any point offers it. First, an open four for the opponent; then, for the side to
// move and for its opponent: a four-three or kFourPlus, a four, a double three or kThreePlus, a three.
int threat_bits(const PatternBoard& board);

// The value of the position for the side to move. Includes the network if the board maintains features.
int evaluate(const PatternBoard& board, const Weights& weights);

}  // namespace tengen
