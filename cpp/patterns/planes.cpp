#include "patterns/planes.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/assert.h"

namespace tengen {
namespace {

// The planes of one position, addressed by kind. find() returns null if the layout does not have the plane.
template <typename T>
class PlaneWriter {
 public:
  PlaneWriter(PlaneLayout layout, int area, const Point* where, PlaneOrder order, T* memory)
      : list_(planes_of(layout)),
        area_(area),
        plane_stride_(order == PlaneOrder::kFirst ? area : 1),
        point_stride_(order == PlaneOrder::kFirst ? 1 : list_.count),
        where_(where),
        memory_(memory) {
    std::fill_n(memory_, static_cast<std::ptrdiff_t>(list_.count) * area_, T{0});
  }

  T* find(PlaneKind kind) const {
    const int index = list_.index(kind);
    return index == PlaneList::kAbsent ? nullptr : memory_ + index * plane_stride_;
  }

  void fill(PlaneKind kind, T value) const {
    if (T* const plane = find(kind))
      for (std::ptrdiff_t i = 0; i < area_; ++i) plane[i * point_stride_] = value;
  }

  void mark(T* plane, Point point, T value = T{1}) const { plane[where_[point] * point_stride_] = value; }

 private:
  const PlaneList& list_;
  std::ptrdiff_t area_;
  std::ptrdiff_t plane_stride_;
  std::ptrdiff_t point_stride_;
  const Point* where_;
  T* memory_;
};

// The values that a stone of one colour writes into the planes.
template <typename T>
struct StoneMarks {
  struct Mark {
    T* plane;
    T value;
  };
  std::array<Mark, 4> marks;
  int count = 0;

  void add(T* plane, T value) {
    if (plane) marks[static_cast<std::size_t>(count++)] = {plane, value};
  }
};

template <typename T>
void write_stones(const Board& board, Colour viewer, const PlaneWriter<T>& planes) {
  std::array<StoneMarks<T>, 2> marks;
  for (const Colour colour : {kBlack, kWhite}) {
    StoneMarks<T>& of_colour = marks[colour];
    of_colour.add(planes.find(colour == viewer ? PlaneKind::kOwn : PlaneKind::kOther), T{1});
    of_colour.add(planes.find(PlaneKind::kOwnMinusOther), colour == viewer ? T{1} : static_cast<T>(-1));
    of_colour.add(planes.find(colour == kBlack ? PlaneKind::kBlack : PlaneKind::kWhite), T{1});
    of_colour.add(planes.find(PlaneKind::kOccupied), T{1});
  }
  for (Point p = 0; p < board.rules().area(); ++p) {
    const Cell cell = board.at(p);
    if (cell == kEmpty) continue;
    const StoneMarks<T>& of_colour = marks[cell - kBlackStone];
    for (int i = 0; i < of_colour.count; ++i)
      planes.mark(of_colour.marks[static_cast<std::size_t>(i)].plane, p,
                  of_colour.marks[static_cast<std::size_t>(i)].value);
  }
}

template <typename T>
void write_move(const Board& board, PlaneKind kind, int plies_ago, const PlaneWriter<T>& planes) {
  T* const plane = planes.find(kind);
  if (plane && board.ply() >= plies_ago) planes.mark(plane, board.move(board.ply() - plies_ago));
}

// A point can be in two planes: a four-three is both a four and a three. Fives and open fours are only in their own
// planes.
template <typename T>
void write_threats(const PatternBoard& board, Colour viewer, const PlaneWriter<T>& planes) {
  for (const Colour colour : {viewer, opponent(viewer)}) {
    const bool own = colour == viewer;
    T* const fives = planes.find(own ? PlaneKind::kOwnFive : PlaneKind::kOtherFive);
    T* const open_fours = planes.find(own ? PlaneKind::kOwnOpenFour : PlaneKind::kOtherOpenFour);
    T* const fours = planes.find(own ? PlaneKind::kOwnFour : PlaneKind::kOtherFour);
    T* const threes = planes.find(own ? PlaneKind::kOwnThree : PlaneKind::kOtherThree);
    board.fives(colour).for_each([&](Point p) { planes.mark(fives, p); });
    board.fours(colour).for_each([&](Point p) {
      const Threat threat = board.threat(colour, p);
      planes.mark(threat == threat::kOpenFour ? open_fours : fours, p);
      if (threat == threat::kFourThree) planes.mark(threes, p);
    });
    board.threes(colour).for_each([&](Point p) { planes.mark(threes, p); });
  }
  T* const fouls = planes.find(PlaneKind::kPossibleFoul);
  board.doubtful().for_each([&](Point p) { planes.mark(fouls, p); });
}

}  // namespace

template <typename T>
void write_planes(const Board& board, const PatternBoard* patterns, PlaneLayout layout, Colour viewer,
                  const Point* where, T* planes, PlaneOrder order) {
  TENGEN_ASSERT(patterns || !needs_patterns(layout));
  TENGEN_ASSERT(!patterns || patterns->hash() == board.hash());
  const PlaneWriter<T> writer(layout, board.rules().area(), where, order, planes);
  write_stones(board, viewer, writer);
  if (viewer == kBlack) writer.fill(PlaneKind::kViewerIsBlack, T{1});
  write_move(board, PlaneKind::kLastMove, 1, writer);
  write_move(board, PlaneKind::kMoveBefore, 2, writer);
  if (needs_patterns(layout)) write_threats(*patterns, viewer, writer);
}

template void write_planes(const Board&, const PatternBoard*, PlaneLayout, Colour, const Point*, float*, PlaneOrder);
template void write_planes(const Board&, const PatternBoard*, PlaneLayout, Colour, const Point*, std::int8_t*,
                           PlaneOrder);
template void write_planes(const Board&, const PatternBoard*, PlaneLayout, Colour, const Point*, std::uint8_t*,
                           PlaneOrder);

}  // namespace tengen
