#include "patterns/planes.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/assert.h"

namespace tengen {
namespace {

// The planes of one position, addressed by kind. find() returns null if the layout does not have the plane.
class PlaneWriter {
 public:
  PlaneWriter(PlaneLayout layout, int area, const Point* where, float* memory)
      : list_(planes_of(layout)), area_(area), where_(where), memory_(memory) {
    std::fill_n(memory_, static_cast<std::ptrdiff_t>(list_.count) * area_, 0.0f);
  }

  float* find(PlaneKind kind) const {
    const int index = list_.index(kind);
    return index == PlaneList::kAbsent ? nullptr : memory_ + static_cast<std::ptrdiff_t>(index) * area_;
  }

  void fill(PlaneKind kind, float value) const {
    if (float* const plane = find(kind)) std::fill_n(plane, area_, value);
  }

  void mark(float* plane, Point point, float value = 1.0f) const { plane[where_[point]] = value; }

 private:
  const PlaneList& list_;
  int area_;
  const Point* where_;
  float* memory_;
};

// The values that a stone of one colour writes into the planes.
struct StoneMarks {
  struct Mark {
    float* plane;
    float value;
  };
  std::array<Mark, 4> marks;
  int count = 0;

  void add(float* plane, float value) {
    if (plane) marks[static_cast<std::size_t>(count++)] = {plane, value};
  }
};

void write_stones(const Board& board, Colour viewer, const PlaneWriter& planes) {
  std::array<StoneMarks, 2> marks;
  for (const Colour colour : {kBlack, kWhite}) {
    StoneMarks& of_colour = marks[colour];
    of_colour.add(planes.find(colour == viewer ? PlaneKind::kOwn : PlaneKind::kOther), 1.0f);
    of_colour.add(planes.find(PlaneKind::kOwnMinusOther), colour == viewer ? 1.0f : -1.0f);
    of_colour.add(planes.find(colour == kBlack ? PlaneKind::kBlack : PlaneKind::kWhite), 1.0f);
    of_colour.add(planes.find(PlaneKind::kOccupied), 1.0f);
  }
  for (Point p = 0; p < board.rules().area(); ++p) {
    const Cell cell = board.at(p);
    if (cell == kEmpty) continue;
    const StoneMarks& of_colour = marks[cell - kBlackStone];
    for (int i = 0; i < of_colour.count; ++i)
      planes.mark(of_colour.marks[static_cast<std::size_t>(i)].plane, p,
                  of_colour.marks[static_cast<std::size_t>(i)].value);
  }
}

void write_move(const Board& board, PlaneKind kind, int plies_ago, const PlaneWriter& planes) {
  float* const plane = planes.find(kind);
  if (plane && board.ply() >= plies_ago) planes.mark(plane, board.move(board.ply() - plies_ago));
}

// A point can be in two planes: a four-three is both a four and a three. Fives and open fours are only in their own
// planes.
void write_threats(const PatternBoard& board, Colour viewer, const PlaneWriter& planes) {
  for (const Colour colour : {viewer, opponent(viewer)}) {
    const bool own = colour == viewer;
    float* const fives = planes.find(own ? PlaneKind::kOwnFive : PlaneKind::kOtherFive);
    float* const open_fours = planes.find(own ? PlaneKind::kOwnOpenFour : PlaneKind::kOtherOpenFour);
    float* const fours = planes.find(own ? PlaneKind::kOwnFour : PlaneKind::kOtherFour);
    float* const threes = planes.find(own ? PlaneKind::kOwnThree : PlaneKind::kOtherThree);
    board.fives(colour).for_each([&](Point p) { planes.mark(fives, p); });
    board.fours(colour).for_each([&](Point p) {
      const Threat threat = board.threat(colour, p);
      planes.mark(threat == threat::kOpenFour ? open_fours : fours, p);
      if (threat == threat::kFourThree) planes.mark(threes, p);
    });
    board.threes(colour).for_each([&](Point p) { planes.mark(threes, p); });
  }
  float* const fouls = planes.find(PlaneKind::kPossibleFoul);
  board.doubtful().for_each([&](Point p) { planes.mark(fouls, p); });
}

}  // namespace

void write_planes(const Board& board, const PatternBoard* patterns, PlaneLayout layout, Colour viewer,
                  const Point* where, float* planes) {
  TENGEN_ASSERT(patterns || !needs_patterns(layout));
  TENGEN_ASSERT(!patterns || patterns->hash() == board.hash());
  const PlaneWriter writer(layout, board.rules().area(), where, planes);
  write_stones(board, viewer, writer);
  if (viewer == kBlack) writer.fill(PlaneKind::kViewerIsBlack, 1.0f);
  write_move(board, PlaneKind::kLastMove, 1, writer);
  write_move(board, PlaneKind::kMoveBefore, 2, writer);
  if (needs_patterns(layout)) write_threats(*patterns, viewer, writer);
}

}  // namespace tengen
