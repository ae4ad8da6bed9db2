#include "patterns/forbidden.h"

#include <algorithm>

namespace tengen {
namespace {

constexpr std::uint64_t kLowBits = 0x5555555555555555ull;  // the low bit of each cell

// One line from black's point of view: bit c of `black` and `empty` is cell c, including the padding. Walls are
// neither.
struct BlackLine {
  std::uint32_t black;
  std::uint32_t empty;
};

// Compress a word to the low bits of its 32 cells.
std::uint32_t every_second_bit(std::uint64_t word) {
  word &= kLowBits;
  word = (word | (word >> 1)) & 0x3333333333333333ull;
  word = (word | (word >> 2)) & 0x0F0F0F0F0F0F0F0Full;
  word = (word | (word >> 4)) & 0x00FF00FF00FF00FFull;
  word = (word | (word >> 8)) & 0x0000FFFF0000FFFFull;
  return static_cast<std::uint32_t>(word | (word >> 16));
}

BlackLine black_line(std::uint64_t line) {
  return {every_second_bit(line & ~(line >> 1)), every_second_bit(~(line | (line >> 1)))};
}

// First and last cell of an unbroken black run.
struct Span {
  int low;
  int high;
  int length() const { return high - low + 1; }
  bool holds(int cell) const { return low <= cell && cell <= high; }
};

// The run through `cell`, as if the cell were black. 0 < cell < 31.
Span span_through(std::uint32_t black, int cell) {
  const int above = std::countr_one(black >> (cell + 1));
  const int below = std::countl_one(black << (32 - cell));
  return {cell - below, cell + above};
}

bool bit(std::uint32_t mask, int cell) { return (mask >> cell) & 1; }

// Number of black stones at most `reach` cells away from `cell`, including the cell itself.
int stones_near(std::uint32_t black, int cell, int reach) {
  return std::popcount((black >> (cell - reach)) & ((2u << (2 * reach)) - 1));
}

// Number of fours through the black `cell`: sets of four stones that a stone on one empty point extends to exactly
// five. A straight four is one four, although two points complete it.
int count_fours(const BlackLine& line, int cell) {
  if (stones_near(line.black, cell, 4) < 4) return 0;
  std::uint32_t first_four = 0;
  int fours = 0;
  for (int e = std::max(cell - 4, kLinePad); e <= std::min(cell + 4, 31 - kLinePad); ++e) {
    if (!bit(line.empty, e)) continue;
    const Span five = span_through(line.black, e);
    if (five.length() != 5 || !five.holds(cell)) continue;
    const std::uint32_t stones = (0x1Fu << five.low) & ~(1u << e);
    if (stones == first_four) continue;
    first_four = stones;
    ++fours;
  }
  return fours;
}

// Whether a black stone on cell `e` turns the run through `cell` into a straight four: exactly four stones, with two
// empty ends that each complete exactly five.
bool makes_straight_four(const BlackLine& line, int cell, int e) {
  const Span four = span_through(line.black, e);
  return four.length() == 4 && four.holds(cell) && bit(line.empty, four.low - 1) && bit(line.empty, four.high + 1) &&
         !bit(line.black, four.low - 2) && !bit(line.black, four.high + 2);
}

// Finds fouls by placing trial stones on a scratch copy of the line keys.
class FoulFinder {
 public:
  explicit FoulFinder(const Board& board) : geometry_(board.geometry()) {
    for (int d = 0; d < kDirections; ++d)
      for (int i = 0; i < geometry_.line_count(d); ++i) lines_[d][i] = board.line(d, i);
  }

  // `point` must be empty. The lines are restored afterwards. The recursion terminates because every level adds a
  // stone.
  Foul foul_at(Point point) {
    toggle_black(point);
    const Foul foul = foul_with_stone(point);
    toggle_black(point);
    return foul;
  }

 private:
  void toggle_black(Point point) {
    for (int d = 0; d < kDirections; ++d) {
      const LinePlace place = geometry_.place(d, point);
      lines_[d][place.line] ^= static_cast<std::uint64_t>(kBlackStone) << (2 * place.offset);
    }
  }

  bool makes_five(Point point) const {
    for (int d = 0; d < kDirections; ++d) {
      const LinePlace place = geometry_.place(d, point);
      if (run_through(lines_[d][place.line], place.offset, kBlack).length == 5) return true;
    }
    return false;
  }

  Foul foul_with_stone(Point point) {
    BlackLine lines[kDirections];
    int cells[kDirections];
    bool overline = false;
    for (int d = 0; d < kDirections; ++d) {
      const LinePlace place = geometry_.place(d, point);
      lines[d] = black_line(lines_[d][place.line]);
      cells[d] = place.offset;
      const int length = span_through(lines[d].black, cells[d]).length();
      if (length == 5) return Foul::kNone;
      overline = overline || length > 5;
    }
    if (overline) return Foul::kOverline;

    int fours = 0;
    for (int d = 0; d < kDirections; ++d) fours += count_fours(lines[d], cells[d]);
    if (fours >= 2) return Foul::kDoubleFour;

    int threes = 0;
    for (int d = 0; d < kDirections; ++d) {
      // Stop once the remaining lines cannot bring the count to two.
      if (threes + kDirections - d < 2) break;
      if (is_three(point, d, lines[d], cells[d]) && ++threes == 2) return Foul::kDoubleThree;
    }
    return Foul::kNone;
  }

  // Whether the stone on `point` is part of a three along `direction`: a further stone makes a straight four, does not
  // make five in another direction, and is not a foul.
  bool is_three(Point point, int direction, const BlackLine& line, int cell) {
    if (stones_near(line.black, cell, 3) < 3) return false;
    for (int e = std::max(cell - 3, kLinePad); e <= std::min(cell + 3, 31 - kLinePad); ++e) {
      if (!bit(line.empty, e) || !makes_straight_four(line, cell, e)) continue;
      const auto further = static_cast<Point>(point + (e - cell) * geometry_.step(direction));
      if (!makes_five(further) && foul_at(further) == Foul::kNone) return true;
    }
    return false;
  }

  const Geometry& geometry_;
  std::array<std::array<std::uint64_t, kMaxLines>, kDirections> lines_;
};

// The unbroken range of cells around a cell, at most five on each side, that are black or empty.
struct Room {
  int length;
  int stones;  // number of black stones in the range
};

// `black` and `taken` (by white or a wall) use the low bit of each cell.
Room room_around(std::uint64_t black, std::uint64_t taken, int cell) {
  const int above = std::min(std::countr_zero(taken >> (2 * (cell + 1))) / 2, 5);
  const int below = std::min(std::countl_zero(taken << (64 - 2 * cell)) / 2, 5);
  const int length = above + below + 1;
  return {length, std::popcount((black >> (2 * (cell - below))) & ((1ull << (2 * length)) - 1))};
}

// A quick test that rules out most points. A foul needs black stones and room on its lines: a four needs three stones
// and five cells, a three needs two stones and six cells, an overline needs five stones. A foul needs two lines like
// these, unless one line has four stones, which can make two fours or an overline on their own.
bool may_be_foul(const Board& board, Point point) {
  int promising_lines = 0;
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = board.geometry().place(d, point);
    const std::uint64_t line = board.line(d, place.line);
    const std::uint64_t black = line & ~(line >> 1) & kLowBits;
    // This cheap test excludes most points before the room is measured.
    if (std::popcount((black >> (2 * (place.offset - 5))) & 0x3FFFFF) < 2) continue;
    const Room room = room_around(black, (line >> 1) & kLowBits, place.offset);
    if (room.length < 5 || room.stones < 2) continue;
    if (room.stones >= 4) return true;
    promising_lines += room.stones >= 3 || room.length >= 6;
  }
  return promising_lines >= 2;
}

}  // namespace

Foul foul_at(const Board& board, Point point) {
  if (!may_be_foul(board, point)) return Foul::kNone;
  return FoulFinder(board).foul_at(point);
}

void find_fouls(const Board& board, Foul* fouls) {
  FoulFinder finder(board);
  for (Point p = 0; p < board.rules().area(); ++p)
    fouls[p] = board.is_empty(p) && may_be_foul(board, p) ? finder.foul_at(p) : Foul::kNone;
}

}  // namespace tengen
