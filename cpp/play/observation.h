// Observations of a single board: planes and action mask, for environments with one game.
#pragma once

#include <cstdint>

#include "patterns/planes.h"

namespace tengen {

// Write the planes of a layout as `viewer` sees them. Plane is float, std::int8_t or std::uint8_t.
template <typename Plane>
void write_observation(const Board& board, PlaneLayout layout, Colour viewer, PlaneOrder order, Plane* planes);

// Write the legal actions of the side to move: 1 per legal point, and a last entry for resigning if `resign_action`.
// All entries are 0 when the game is over.
void write_mask(const Board& board, bool resign_action, std::int8_t* mask);

extern template void write_observation(const Board&, PlaneLayout, Colour, PlaneOrder, std::int8_t*);
extern template void write_observation(const Board&, PlaneLayout, Colour, PlaneOrder, std::uint8_t*);
extern template void write_observation(const Board&, PlaneLayout, Colour, PlaneOrder, float*);

}  // namespace tengen
