// A critic: a small network that says how likely a colour is to win, from counts of shapes.
//
// The counts change little from move to move. What a candidate move would lead to is therefore judged by adding the
// rows of the first layer whose counts have changed to a sum that all candidates share.
#pragma once

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "core/board.h"
#include "patterns/pattern_board.h"
#include "patterns/stone_shapes.h"

namespace tengen {

// What a critic sees of a position. It looks at it from one colour's view: "own" is that colour, "other" the enemy.
enum class CriticInput : std::uint8_t {
  // 402 inputs: for each of the hundred shapes of stones the count of own and of other stones and two inputs for whose
  // turn it is (1, 0 when it is the viewer's), then the turn once more. Every rule and win length.
  kStones,
  // For each code of four line shapes (patterns/shapes.h) how many empty points offer it to own and to other stones,
  // codes left out that a lone stone makes anywhere; then for each threat whether one point offers it, and whether two
  // do. The turn is the enemy's. Win length 4 or 5.
  kPoints,
};

int input_count(CriticInput input);

enum class Activation : std::uint8_t { kSigmoid, kRelu };

// The network: inputs -> hidden units -> one logit; its sigmoid is the chance of the viewing colour.
struct Critic {
  CriticInput input = CriticInput::kStones;
  Activation activation = Activation::kSigmoid;
  int hidden = 0;                     // a multiple of kHiddenStep, at most kMaxHidden
  std::vector<float> weights;         // [inputs, hidden]
  std::vector<float> biases;          // [hidden]
  std::vector<float> output_weights;  // [hidden]
  float output_bias = 0;
};
inline constexpr int kHiddenStep = 8;
inline constexpr int kMaxHidden = 128;

// A move and the logit of the position after it, seen by the colour that made it: infinite when the move wins, 0 when
// it fills the board.
struct Afterstate {
  Point point;
  float logit;
};
inline constexpr float kWonLogit = std::numeric_limits<float>::infinity();

// Sparse rows of inputs, one after the other.
struct InputRows {
  std::vector<std::int64_t> starts;  // where each row begins
  std::vector<std::int32_t> indices;
  std::vector<float> amounts;
};

// A board that keeps the counts a critic sees.
class CriticBoard {
 public:
  CriticBoard(CriticInput input, const Board& board);

  const Board& board() const;
  void make(Point point);
  void unmake();

  // The moves worth a look: legal empty points within `radius` of a stone along both axes. The centre when there is no
  // stone; every legal point when none is near one.
  PointSet candidates(int radius) const;

  // Replace `afterstates` by the candidates of the side to move with their logits, in the order of the points.
  void judge(const Critic& critic, int radius, std::vector<Afterstate>& afterstates);

  // The logit of the position as it is. Only kStones sees positions with the viewer to move.
  float logit(const Critic& critic, Colour view) const;

  // Append the inputs of the position as it is; their amounts are not 0, their indices grow.
  void append_inputs(Colour view, InputRows& rows) const;

 private:
  std::variant<StoneShapeBoard, PatternBoard> counts_;
};

}  // namespace tengen
