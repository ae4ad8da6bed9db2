// Scores of line shapes: the score dictionary of "Final report for Gomoku project" (section 2.2).
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace tengen::fudan {

using Score = std::int32_t;

inline constexpr Score kOpenThree = 1'000;
inline constexpr Score kFour = 10'000;
inline constexpr Score kOpenFour = 100'000;
inline constexpr Score kFive = 10'000'000;

// The report's key (a, b, c, d, e): a stone and the other stones of its colour along one line. The middle run contains
// the stone itself; an outer run is separated from it by one empty point. A side is blocked if an enemy stone or the
// edge follows its last stone.
struct Shape {
  bool low_blocked;   // a
  int low_outer;      // b, 0 to 4
  int middle;         // c, 1 to 4: longer runs are not in the dictionary
  int high_outer;     // d, 0 to 4
  bool high_blocked;  // e
};

// Longest outer run that a shape counts.
inline constexpr int kMaxOuter = 4;

enum class Keys : std::uint8_t {
  kAll,         // every key has a score
  kAsAuthored,  // keys missing from the authors' dictionary score 0
};

class ScoreDictionary {
 public:
  explicit ScoreDictionary(Keys keys);

  // One shared instance for each set of keys; it exists until the program ends.
  static const ScoreDictionary& of(Keys keys);

  Score operator[](const Shape& shape) const { return scores_[index(shape)]; }

 private:
  static constexpr int kOuters = kMaxOuter + 1;
  static constexpr int kMiddles = 5;
  static constexpr int kShapes = 2 * kOuters * kMiddles * kOuters * 2;
  static std::size_t index(const Shape& s) {
    const int outer_and_middle = (s.low_blocked * kOuters + s.low_outer) * kMiddles + s.middle;
    const int shape = (outer_and_middle * kOuters + s.high_outer) * 2 + s.high_blocked;
    return static_cast<std::size_t>(shape);
  }

  std::array<Score, kShapes> scores_{};
};

// The stones of one colour along a line, one bit per cell, and the cells that block them: enemy stones and cells off
// the board.
struct LineBits {
  std::uint32_t own;
  std::uint32_t blocks;
};

// Largest distance at which a stone changes a point's score: three stones, a gap, an outer run and the cell after it.
inline constexpr int kDictionaryReach = 9;

// The score of a stone at cell `offset` (5 to 26); the stone may be on the board or hypothetical. With
// `only_five_wins`, runs longer than five score 0.
Score score_line(const ScoreDictionary& dictionary, LineBits line, int offset, bool only_five_wins);

// The table evaluation from section 6 of the report, as in the engine Pela: one look-up by the bits for own stones and
// for blockers in the four cells on each side. The table is filled from the dictionary and has the same scores, because
// cells farther away matter only for shapes of four or more stones, whose score they do not change. Only the scores of
// keys missing from the authors' dictionary differ.
class LineTable {
 public:
  explicit LineTable(const ScoreDictionary& dictionary);

  // One shared instance for each set of keys; it exists until the program ends.
  static const LineTable& of(Keys keys);

  static constexpr int kReach = 4;

  Score score(LineBits line, int offset, bool only_five_wins) const;

 private:
  static unsigned shape_bits(std::uint32_t line, int offset) {
    return (line >> (offset - kReach) & 0xF) | (line >> (offset + 1) & 0xF) << 4;
  }

  std::unique_ptr<std::array<std::array<Score, 256>, 256>> scores_;  // by own bits, then by blocking bits
};

}  // namespace tengen::fudan
