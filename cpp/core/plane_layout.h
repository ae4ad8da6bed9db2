// The input planes for networks: the content of each plane, and the order of the planes in each layout.
//
// This is the only definition. patterns/planes.cpp writes all planes for a position, play/incremental_planes.h updates
// them stone by stone, and tengen.core.planes reads names and counts from here.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>

namespace tengen {

// The content of one plane. "Own" stones are the viewer's. All other values are 0.
enum class PlaneKind : std::uint8_t {
  kOwn,            // 1 on own stones
  kOther,          // 1 on the opponent's stones
  kOwnMinusOther,  // 1 on own stones, -1 on the opponent's
  kBlack,          // 1 on black stones
  kWhite,          // 1 on white stones
  kOccupied,       // 1 on all stones
  kViewerIsBlack,  // 1 everywhere if the viewer is black
  kLastMove,       // 1 on the last move
  kMoveBefore,     // 1 on the move before the last
  // 1 on empty points where an own stone makes five, an open four (or two fours), any other four, or an open three;
  // then the same for the opponent's stones.
  kOwnFive,
  kOwnOpenFour,
  kOwnFour,
  kOwnThree,
  kOtherFive,
  kOtherOpenFour,
  kOtherFour,
  kOtherThree,
  kPossibleFoul,  // 1 on empty points that may be a foul for black in renju
};
inline constexpr int kPlaneKinds = 18;

// Python derives the name of a layout from its enumerator: kOwnOther is "own-other".
enum class PlaneLayout : std::uint8_t {
  kBoard,               // model I of zero9, and the input of pg9's network
  kOwnOther,            // the recurrent network of stanford15
  kOwnOtherLastColour,  // model II of zero9, alphagomoku8
  kBlackWhiteOccupied,  // the state of pg9's environment
  kStones,
  kThreats,      // without history: the order of the moves does not matter
  kThreatsLast,  // with the last two moves, because humans tend to answer near the last stone
};

inline constexpr std::array kPlaneLayouts = {
    PlaneLayout::kBoard,  PlaneLayout::kOwnOther, PlaneLayout::kOwnOtherLastColour, PlaneLayout::kBlackWhiteOccupied,
    PlaneLayout::kStones, PlaneLayout::kThreats,  PlaneLayout::kThreatsLast,
};

// The planes of one layout: their number, and the index of each kind.
struct PlaneList {
  static constexpr int kAbsent = -1;

  std::array<std::int8_t, kPlaneKinds> indices{};  // index of each kind; kAbsent if the layout does not have it
  int count = 0;

  constexpr PlaneList() { indices.fill(kAbsent); }
  constexpr PlaneList(std::initializer_list<PlaneKind> planes) : PlaneList() {
    for (const PlaneKind plane : planes) add(plane);
  }
  constexpr void add(PlaneKind plane) {
    indices[static_cast<std::size_t>(plane)] = static_cast<std::int8_t>(count);
    ++count;
  }
  constexpr int index(PlaneKind plane) const { return indices[static_cast<std::size_t>(plane)]; }
  constexpr bool has(PlaneKind plane) const { return index(plane) != kAbsent; }
};

namespace plane_lists {
using enum PlaneKind;
inline constexpr PlaneList kBoardPlanes{kOwnMinusOther};
inline constexpr PlaneList kOwnOtherPlanes{kOwn, kOther};
inline constexpr PlaneList kOwnOtherLastColourPlanes{kOwn, kOther, kLastMove, kViewerIsBlack};
inline constexpr PlaneList kBlackWhiteOccupiedPlanes{kBlack, kWhite, kOccupied};
inline constexpr PlaneList kStonesPlanes{kOwn, kOther, kViewerIsBlack, kLastMove, kMoveBefore};
inline constexpr PlaneList kThreatsPlanes{kOwn,           kOther,     kViewerIsBlack, kOwnFive,
                                          kOwnOpenFour,   kOwnFour,   kOwnThree,      kOtherFive,
                                          kOtherOpenFour, kOtherFour, kOtherThree,    kPossibleFoul};
inline constexpr PlaneList kThreatsLastPlanes = [] {
  PlaneList list = kThreatsPlanes;
  list.add(kLastMove);
  list.add(kMoveBefore);
  return list;
}();
}  // namespace plane_lists

inline constexpr const PlaneList& planes_of(PlaneLayout layout) {
  switch (layout) {
    case PlaneLayout::kBoard:
      return plane_lists::kBoardPlanes;
    case PlaneLayout::kOwnOther:
      return plane_lists::kOwnOtherPlanes;
    case PlaneLayout::kOwnOtherLastColour:
      return plane_lists::kOwnOtherLastColourPlanes;
    case PlaneLayout::kBlackWhiteOccupied:
      return plane_lists::kBlackWhiteOccupiedPlanes;
    case PlaneLayout::kStones:
      return plane_lists::kStonesPlanes;
    case PlaneLayout::kThreats:
      return plane_lists::kThreatsPlanes;
    case PlaneLayout::kThreatsLast:
      break;
  }
  return plane_lists::kThreatsLastPlanes;
}

inline constexpr int plane_count(PlaneLayout layout) { return planes_of(layout).count; }

// The number of most recent moves that the planes show. Positions with the same stones can have different last moves.
inline constexpr int history_shown(PlaneLayout layout) {
  const PlaneList& planes = planes_of(layout);
  return planes.has(PlaneKind::kMoveBefore) ? 2 : planes.has(PlaneKind::kLastMove) ? 1 : 0;
}

// Whether the planes need shapes, which support only win lengths 4 and 5.
inline constexpr bool needs_patterns(PlaneLayout layout) { return planes_of(layout).has(PlaneKind::kOwnFive); }

// Whether play/incremental_planes.h supports the layout: one stone changes only a few points of each plane.
inline constexpr bool is_incremental(PlaneLayout layout) {
  return !needs_patterns(layout) && !planes_of(layout).has(PlaneKind::kMoveBefore);
}

}  // namespace tengen
