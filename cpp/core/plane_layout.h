// What the input planes of a network hold, by the names of tengen.core.planes.
#pragma once

#include <cstdint>

namespace tengen {

enum class PlaneLayout : std::uint8_t {
  kBoard,               // own stones +1, the other's -1
  kOwnOtherLastColour,  // own, other, last move, all ones when the viewer is black
  kBlackWhiteOccupied,  // black, white, occupied
  kStones,              // own, other, all ones when the viewer is black, last move, the move before it
  // own, other, all ones when the viewer is black; then of the viewer and of the other in turn the empty points where
  // a stone makes five, an open four (or two fours), a lesser four, an open three; then black's possible fouls
  kThreats,
  kOwnOther,     // own, other
  kThreatsLast,  // as kThreats, then the last move and the move before it
};

inline constexpr int plane_count(PlaneLayout layout) {
  switch (layout) {
    case PlaneLayout::kBoard:
      return 1;
    case PlaneLayout::kOwnOtherLastColour:
      return 4;
    case PlaneLayout::kBlackWhiteOccupied:
      return 3;
    case PlaneLayout::kStones:
      return 5;
    case PlaneLayout::kThreats:
      return 12;
    case PlaneLayout::kOwnOther:
      return 2;
    case PlaneLayout::kThreatsLast:
      return plane_count(PlaneLayout::kThreats) + 2;
  }
  return 0;
}

// How many of the last moves the planes show: two positions with the same stones may differ in them.
inline constexpr int history_shown(PlaneLayout layout) {
  switch (layout) {
    case PlaneLayout::kOwnOtherLastColour:
      return 1;
    case PlaneLayout::kStones:
    case PlaneLayout::kThreatsLast:
      return 2;
    default:
      return 0;
  }
}

// Whether the planes need shapes, which exist for win lengths 4 and 5.
inline constexpr bool needs_patterns(PlaneLayout layout) {
  return layout == PlaneLayout::kThreats || layout == PlaneLayout::kThreatsLast;
}

}  // namespace tengen
