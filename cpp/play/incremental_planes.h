// Input planes that are updated stone by stone, for the incremental layouts of core/plane_layout.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/assert.h"
#include "core/plane_layout.h"
#include "core/prefetch.h"
#include "core/types.h"

namespace tengen {

// A view of the planes [C, area] of one board, in memory owned by the caller. The viewer is the colour whose stones are
// "own".
template <typename T>
class IncrementalPlanes {
 public:
  IncrementalPlanes(T* memory, PlaneLayout layout, int area) : memory_(memory), list_(planes_of(layout)), area_(area) {
    TENGEN_ASSERT(is_incremental(layout));
  }

  // Write the empty board.
  void clear(Colour viewer) {
    std::fill_n(memory_, static_cast<std::ptrdiff_t>(list_.count) * area_, T{0});
    fill_colour(viewer);
  }

  // Add a stone of `colour` on `point`. `previous` is the move before it, or kNoPoint on the empty board.
  void add(Point point, Colour colour, Colour viewer, Point previous) {
    if (T* const stones = find(PlaneKind::kOwnMinusOther)) stones[point] = colour == viewer ? T{1} : T{-1};
    for (const PlaneKind kind : kinds_of(colour, viewer))
      if (T* const plane = find(kind)) plane[point] = T{1};
    T* const last = find(PlaneKind::kLastMove);
    if (last && previous != kNoPoint) last[previous] = T{0};
    if (last) last[point] = T{1};
  }

  // Fetch the memory that `add` will access for `point` into the cache.
  void prefetch_add(Point point, Colour colour, Colour viewer) const {
    if (const T* const stones = find(PlaneKind::kOwnMinusOther)) prefetch(&stones[point]);
    for (const PlaneKind kind : kinds_of(colour, viewer))
      if (const T* const plane = find(kind)) prefetch(&plane[point]);
    if (const T* const last = find(PlaneKind::kLastMove)) prefetch(&last[point]);
  }

  // Change the viewer; `viewer` is the new one and must be the other side.
  void turn(Colour viewer) {
    if (T* const stones = find(PlaneKind::kOwnMinusOther))
      for (int p = 0; p < area_; ++p) stones[p] = static_cast<T>(-stones[p]);
    if (T* const own = find(PlaneKind::kOwn)) std::swap_ranges(own, own + area_, find(PlaneKind::kOther));
    fill_colour(viewer);
  }

 private:
  T* find(PlaneKind kind) const {
    const int index = list_.index(kind);
    return index == PlaneList::kAbsent ? nullptr : memory_ + static_cast<std::ptrdiff_t>(index) * area_;
  }
  // The planes with a 1 on every stone of `colour`.
  static constexpr std::array<PlaneKind, 3> kinds_of(Colour colour, Colour viewer) {
    return {colour == viewer ? PlaneKind::kOwn : PlaneKind::kOther,
            colour == kBlack ? PlaneKind::kBlack : PlaneKind::kWhite, PlaneKind::kOccupied};
  }
  void fill_colour(Colour viewer) {
    if (T* const plane = find(PlaneKind::kViewerIsBlack)) std::fill_n(plane, area_, viewer == kBlack ? T{1} : T{0});
  }

  T* memory_;
  const PlaneList& list_;
  int area_;
};

}  // namespace tengen
