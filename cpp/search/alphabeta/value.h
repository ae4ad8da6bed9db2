// Search values and depths.
#pragma once

namespace tengen {

// Values are from the point of view of the side to move. A win in n plies is kMate - 2n, a loss -(kMate - 2n), if it is
// proved: every defence was considered. If there is no threat to answer, the search tries only points near stones; if
// all of them lose, the loss is expected but not proved. An expected result is one unit nearer to zero, so it is odd.
using Value = int;
inline constexpr Value kDraw = 0;
inline constexpr Value kMate = 30000;
inline constexpr Value kInfinite = 32000;
inline constexpr Value kNoValue = 32001;
inline constexpr int kMaxPly = 250;
// Values of at least kMateBound are wins; values of at most -kMateBound are losses.
inline constexpr Value kMateBound = kMate - 1200;

inline constexpr Value win_in(int ply) { return kMate - 2 * ply; }
inline constexpr Value loss_in(int ply) { return -kMate + 2 * ply; }
inline constexpr bool is_win(Value value) { return value >= kMateBound; }
inline constexpr bool is_loss(Value value) { return value <= -kMateBound; }
inline constexpr bool is_decided(Value value) { return is_win(value) || is_loss(value); }
inline constexpr bool is_proved(Value value) { return is_decided(value) && value % 2 == 0; }
inline constexpr bool is_expected(Value value) { return is_decided(value) && value % 2 != 0; }

// Plies to the end of a decided game.
inline constexpr int plies_to_end(Value value) { return (kMate - (value < 0 ? -value : value)) / 2; }
// The value of a loss that is not proved. Other values stay the same.
inline constexpr Value expect_loss(Value value) { return is_loss(value) && is_proved(value) ? value + 1 : value; }

// Depth in hundredths of a ply. Extensions and reductions need fractions of a ply, and integers make the search
// identical on every machine.
using Depth = int;
inline constexpr Depth kPly = 100;

}  // namespace tengen
