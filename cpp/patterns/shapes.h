// Shapes and threats: a new stone makes a shape along each of its four lines; together they make a threat.
//
// All tables are generated from the definitions below, for each rule and for win lengths 4 and 5. The names come from
// five in a row: with win length k, "five" means k stones, "four" means k - 1, and so on.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/board.h"
#include "core/rules.h"

namespace tengen {

// The shape that a stone on an empty point would make along one line, weakest first. A shape takes into account only
// lines of five that contain the new stone. It is defined by what one further stone on the line would make:
//   five         the stone completes a winning line
//   open four    a further stone makes five, and no single enemy stone on the line can prevent it
//   four         a further stone makes five
//   open three   a further stone makes an open four         . X X X .
//   closed three a further stone makes a four
//   open two     a further stone makes an open three
//   closed two   a further stone makes a closed three
//   ones         defined likewise by the twos that a further stone makes
//   foul line    black in renju: an overline, or two fours in one line
// Open threes and twos are graded by the number of points that extend them: more points are harder to stop.
namespace shape {
enum LineShape : std::uint8_t {
  kNothing,
  kFoulLine,
  kClosedOne,
  kOpenOne,
  kClosedTwo,
  kOpenTwo,      // one or two ways to an open three
  kOpenTwoGood,  // three ways
  kOpenTwoBest,  // four or more
  kClosedThree,
  kOpenThree,      // one way to an open four
  kOpenThreeBest,  // two or more
  kFour,
  kOpenFour,
  kFive,
  kCount
};
}  // namespace shape
using shape::LineShape;

// The threat that a stone on an empty point would make on its four lines combined, weakest first.
namespace threat {
enum Threat : std::uint8_t {
  kNone,
  kForbidden,        // black in renju: certainly or possibly a foul; patterns/forbidden.h decides
  kTwo,              // one open two
  kClosedThree,      // one closed three
  kDoubleTwo,        // two open twos
  kClosedThreePlus,  // a closed three with an open two or another closed three
  kThree,            // one open three
  kThreePlus,        // an open three with an open two or a closed three
  kDoubleThree,      // two open threes
  kFour,             // one four
  kFourPlus,         // a four with an open two or a closed three
  kFourThree,        // a four and an open three
  kOpenFour,         // an open four or two fours
  kFive,
  kCount
};
}  // namespace threat
using threat::Threat;

// Number of unordered combinations of four line shapes: C(14 + 3, 4).
inline constexpr int kShapeCodes = 2380;
using ShapeCode = std::uint16_t;

// Maps four line shapes in any order to their code, with two lookups in tables that fit into the L1 cache.
class ShapeCodes {
 public:
  ShapeCodes();
  static const ShapeCodes& instance();

  ShapeCode code(unsigned a, unsigned b, unsigned c, unsigned d) const {
    return codes_[pairs_[a << 4 | b]][pairs_[c << 4 | d]];
  }
  const std::array<std::uint8_t, 4>& shapes(ShapeCode code) const { return shapes_[code]; }

 private:
  static constexpr int kPairs = shape::kCount * (shape::kCount + 1) / 2;
  std::array<std::uint8_t, 256> pairs_{};
  std::array<std::array<ShapeCode, kPairs>, kPairs> codes_{};
  std::array<std::array<std::uint8_t, 4>, kShapeCodes> shapes_{};
};

// The lookup tables for one rule and win length.
class PatternTables {
 public:
  static bool exist_for(int win_length) { return win_length == 4 || win_length == 5; }

  PatternTables(Rule rule, int win_length);

  // The shared instance for a rule and win length, built on first use in two milliseconds. Throws
  // std::invalid_argument for win lengths other than 4 and 5.
  static const PatternTables& of(Rule rule, int win_length);

  // Number of cells that matter on each side of a point. Four are enough if longer lines win; a fifth is needed to
  // recognise overlines and closed fives.
  int reach() const { return reach_; }

  // The shapes of both colours for the empty cell at `offset` in a line: black in the low four bits, white in the high
  // four.
  std::uint8_t shapes_at(std::uint64_t line, int offset) const {
    const std::uint64_t window = line >> (2 * (offset - reach_));
    const std::uint64_t low = window & side_mask_;
    const std::uint64_t high = (window >> (2 * reach_ + 2)) & side_mask_;
    return shapes_[low | (high << (2 * reach_))];
  }

  Threat threat_of(Colour colour, ShapeCode code) const { return static_cast<Threat>(threats_[colour][code]); }
  const std::uint8_t* threats(Colour colour) const { return threats_[colour].data(); }

 private:
  int reach_;
  std::uint64_t side_mask_;
  std::vector<std::uint8_t> shapes_;
  std::array<std::array<std::uint8_t, kShapeCodes>, 2> threats_{};
};

}  // namespace tengen
