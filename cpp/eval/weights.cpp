#include "eval/weights.h"

#include <algorithm>

#include "core/cpu_dispatch.h"

namespace tengen {
namespace {

// The initial values for fitting: each line shape is worth about twice as much as the next weaker one, and the values
// of the lines are added.
constexpr int kShapePrior[shape::kCount] = {0, 0, 2, 5, 6, 12, 14, 16, 20, 36, 40, 40, 120, 200};

Weights make_prior() {
  Weights weights;
  const ShapeCodes& codes = ShapeCodes::instance();
  for (int code = 0; code < kShapeCodes; ++code) {
    int sum = 0;
    for (const auto s : codes.shapes(static_cast<ShapeCode>(code))) sum += kShapePrior[s];
    for (const Colour colour : {kBlack, kWhite}) {
      weights.points.value[colour][code] = static_cast<std::int16_t>(sum * 2);
      weights.attack[colour][code] = static_cast<std::int16_t>(sum * 4);
      weights.defence[colour][code] = static_cast<std::int16_t>(sum * 3);
    }
  }
  constexpr int kThreatPrior[kThreatBits] = {-150, 120, 60, 60, 30, -60, -30, -30, -10};
  for (auto& side : weights.threats) {
    for (int bits = 0; bits < 1 << kThreatBits; ++bits) {
      int sum = 30;
      for (int i = 0; i < kThreatBits; ++i)
        if (bits >> i & 1) sum += kThreatPrior[i];
      side[bits] = static_cast<std::int16_t>(sum);
    }
  }
  return weights;
}

template <std::size_t N>
std::int32_t dot(const std::array<std::int16_t, N>& a, const std::array<std::int16_t, N>& b) {
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < N; ++i) sum += std::int32_t{a[i]} * b[i];
  return sum;
}

}  // namespace

const Weights& Weights::prior() {
  static const Weights weights = make_prior();
  return weights;
}

int threat_bits(const PatternBoard& board) {
  const Colour own = board.to_move();
  const Colour other = opponent(own);
  const auto any = [&board](Colour colour, Threat a, Threat b) {
    return board.count(colour, a) + board.count(colour, b) > 0;
  };
  int bits = board.count(other, threat::kOpenFour) > 0;
  int next = 1;
  for (const Colour colour : {own, other}) {
    bits |= any(colour, threat::kFourThree, threat::kFourPlus) << next++;
    bits |= (board.count(colour, threat::kFour) > 0) << next++;
    bits |= any(colour, threat::kDoubleThree, threat::kThreePlus) << next++;
    bits |= (board.count(colour, threat::kThree) > 0) << next++;
  }
  return bits;
}

TENGEN_CPU_DISPATCH int EvaluationNet::evaluate(const PatternBoard& board, int threat_bits) const {
  const Colour own = board.to_move();
  std::array<std::int16_t, kInputs> inputs;
  std::copy_n(board.features(own).values.begin(), kFeatures, inputs.begin());
  std::copy_n(board.features(opponent(own)).values.begin(), kFeatures, inputs.begin() + kFeatures);
  const auto rectified = [](std::int32_t sum) {
    return static_cast<std::int16_t>(std::clamp(sum >> kShift, 0, INT16_MAX));
  };
  std::array<std::int16_t, kHidden> hidden;
  for (int i = 0; i < kHidden; ++i) hidden[i] = rectified(threats[own][threat_bits][i] + dot(first[own][i], inputs));
  std::int32_t sum = output_bias;
  for (int i = 0; i < kHidden; ++i) sum += output[i] * rectified(second_bias[i] + dot(second[i], hidden));
  return sum / kOutputUnit;
}

int evaluate(const PatternBoard& board, const Weights& weights) {
  const Colour own = board.to_move();
  const int bits = threat_bits(board);
  int sum = (own == kBlack ? board.value_sum() : -board.value_sum()) / kValueUnit + weights.threats[own][bits];
  if (board.has_features()) sum += weights.net->evaluate(board, bits);
  return std::clamp(sum, -kMaxEvaluation, kMaxEvaluation);
}

}  // namespace tengen
