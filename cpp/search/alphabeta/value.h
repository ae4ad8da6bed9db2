// Search values and depths.
#pragma once

namespace tengen {

// Values are from the point of view of the side to move. A win in n plies is kMate - n, a loss in n plies -(kMate - n).
using Value = int;
inline constexpr Value kDraw = 0;
inline constexpr Value kMate = 30000;
inline constexpr Value kInfinite = 32000;
inline constexpr Value kNoValue = 32001;
inline constexpr int kMaxPly = 250;
// Values of at least kMateBound are proved wins; values of at most -kMateBound are proved losses.
inline constexpr Value kMateBound = kMate - 600;

inline constexpr Value win_in(int ply) { return kMate - ply; }
inline constexpr Value loss_in(int ply) { return -kMate + ply; }
inline constexpr bool is_win(Value value) { return value >= kMateBound; }
inline constexpr bool is_loss(Value value) { return value <= -kMateBound; }

// Depth in hundredths of a ply. Extensions and reductions need fractions of a ply, and integers make the search
// identical on every machine.
using Depth = int;
inline constexpr Depth kPly = 100;

}  // namespace tengen
