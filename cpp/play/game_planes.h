// Input planes for many positions at once, for data sets.
#pragma once

#include <cstdint>
#include <span>

#include "core/board.h"
#include "core/plane_layout.h"

namespace tengen {

// Write the planes [rows, C, area] for positions from games, from the point of view of the side to move. Row i of
// `moves` [rows, length] has the moves of a game from `start`; its position is the one after the first counts[i] moves.
// Throws std::invalid_argument if a move cannot be played, or if the layout needs patterns that do not exist for the
// win length.
void write_game_planes(const Board& start, PlaneLayout layout, std::span<const Point> moves,
                       std::span<const std::int32_t> counts, float* planes);

}  // namespace tengen
