// Input planes that follow a game stone by stone, in the layouts of tengen.core.planes.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/plane_layout.h"
#include "core/types.h"

namespace tengen {

// A view of the planes [C, area] of one board; the memory belongs to the caller. The viewer is the colour whose stones
// are "own". Only the first three layouts can be followed.
template <typename T>
class IncrementalPlanes {
 public:
  IncrementalPlanes(T* memory, PlaneLayout layout, int area) : memory_(memory), layout_(layout), area_(area) {}

  // The empty board.
  void clear(Colour viewer) {
    std::fill_n(memory_, static_cast<std::size_t>(plane_count(layout_) * area_), T{0});
    if (layout_ == PlaneLayout::kOwnOtherLastColour) fill_colour(viewer);
  }

  // A stone of `colour` was played on `point`, after `previous` (kNoPoint on the empty board).
  void add(Point point, Colour colour, Colour viewer, Point previous) {
    switch (layout_) {
      case PlaneLayout::kBoard:
        memory_[point] = colour == viewer ? T{1} : T{-1};
        break;
      case PlaneLayout::kOwnOtherLastColour:
        plane(colour == viewer ? 0 : 1)[point] = T{1};
        if (previous != kNoPoint) plane(2)[previous] = T{0};
        plane(2)[point] = T{1};
        break;
      case PlaneLayout::kBlackWhiteOccupied:
        plane(colour)[point] = T{1};
        plane(2)[point] = T{1};
        break;
      case PlaneLayout::kStones:
      case PlaneLayout::kThreats:
      case PlaneLayout::kThreatsLast:
      case PlaneLayout::kOwnOther:
        break;
    }
  }

  // The same stones for the other viewer, who is `viewer` from now on.
  void turn(Colour viewer) {
    switch (layout_) {
      case PlaneLayout::kBoard:
        for (int p = 0; p < area_; ++p) memory_[p] = static_cast<T>(-memory_[p]);
        break;
      case PlaneLayout::kOwnOtherLastColour:
        std::swap_ranges(plane(0), plane(1), plane(1));
        fill_colour(viewer);
        break;
      case PlaneLayout::kBlackWhiteOccupied:
      case PlaneLayout::kStones:
      case PlaneLayout::kThreats:
      case PlaneLayout::kThreatsLast:
      case PlaneLayout::kOwnOther:
        break;
    }
  }

 private:
  T* plane(int index) { return memory_ + static_cast<std::ptrdiff_t>(index) * area_; }
  void fill_colour(Colour viewer) { std::fill_n(plane(3), area_, viewer == kBlack ? T{1} : T{0}); }

  T* memory_;
  PlaneLayout layout_;
  int area_;
};

}  // namespace tengen
