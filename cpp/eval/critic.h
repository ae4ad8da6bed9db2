// A critic: a small network that estimates a colour's winning probability from counts of shapes.
//
// A move changes only a few counts. All candidates in a position therefore share the first-layer sums, and each adds
// only the rows whose counts it changes.
#pragma once

#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

#include "core/board.h"
#include "patterns/pattern_board.h"
#include "patterns/stone_shapes.h"

namespace tengen {

// The inputs of a critic. A critic evaluates a position for one colour, the viewer: "own" is that colour, "other" its
// opponent.
enum class CriticInput : std::uint8_t {
  // 402 inputs. For each of the 100 stone shapes: the number of own stones, the number of other stones, and two inputs
  // for the turn (1, 0 if the viewer is to move, else 0, 1). Then the two inputs for the turn once more. Supports every
  // rule and win length.
  kStones,
  // For each code of four line shapes (patterns/shapes.h), the number of empty points that offer it to own and to other
  // stones, except for the codes that a lone stone can make. Then for each threat, whether at least one point offers it
  // and whether at least two do. The viewer must not be the side to move. Supports win lengths 4 and 5.
  kPoints,
};

int input_count(CriticInput input);

enum class Activation : std::uint8_t { kSigmoid, kRelu };

// The network: one hidden layer and one output, a logit. Its sigmoid is the probability that the viewer wins.
struct Critic {
  CriticInput input = CriticInput::kStones;
  Activation activation = Activation::kSigmoid;
  int hidden = 0;                     // a multiple of kHiddenStep, at most kMaxHidden
  std::vector<float> weights;         // [inputs, hidden]
  std::vector<float> biases;          // [hidden]
  std::vector<float> output_weights;  // [hidden]
  float output_bias = 0;

  // Throws std::invalid_argument if the sizes are inconsistent.
  void check() const;
};
inline constexpr int kHiddenStep = 8;
inline constexpr int kMaxHidden = 128;

// A move and the logit of the position after it, for the colour that made the move: infinite if the move wins, 0 if it
// fills the board.
struct Afterstate {
  Point point;
  float logit;
};
inline constexpr float kWonLogit = std::numeric_limits<float>::infinity();

// Sparse rows of inputs, concatenated.
struct InputRows {
  std::vector<std::int64_t> starts;  // index of each row's first input
  std::vector<std::int32_t> indices;
  std::vector<float> amounts;
};

// A board that maintains the counts that a critic needs.
class CriticBoard {
 public:
  // Throws std::invalid_argument for kPoints if there are no patterns for the win length.
  CriticBoard(CriticInput input, const Board& board);

  const Board& board() const;
  void make(Point point);
  void unmake();

  // The legal points at most `radius` columns and rows away from a stone, or all legal points if none is that close.
  // Only the centre if the board is empty.
  PointSet candidates(int radius) const;

  // Write the candidates for the side to move and their logits into `afterstates`, in index order.
  void judge(const Critic& critic, int radius, std::vector<Afterstate>& afterstates);

  // The logit of the current position. Only kStones supports positions with the viewer to move.
  float logit(const Critic& critic, Colour view) const;

  // Append the non-zero inputs of the current position in index order.
  void append_inputs(Colour view, InputRows& rows) const;

 private:
  std::variant<StoneShapeBoard, PatternBoard> counts_;
};

}  // namespace tengen
