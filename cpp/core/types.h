// Types shared by all native code: colours, points, rules, outcomes.
#pragma once

#include <cstdint>

namespace tengen {

// Index of a point: y * width + x, with row 0 at the bottom. kNoPoint means "no point".
using Point = std::uint16_t;
inline constexpr Point kNoPoint = 0xFFFF;

inline constexpr int kMaxSize = 22;
inline constexpr int kMaxArea = kMaxSize * kMaxSize;

enum Colour : std::uint8_t { kBlack = 0, kWhite = 1 };

inline constexpr Colour opponent(Colour colour) { return static_cast<Colour>(colour ^ 1); }

// The content of a point. Also the two bits of a cell in a line key, where kWall is a cell outside the board.
enum Cell : std::uint8_t { kEmpty = 0, kBlackStone = 1, kWhiteStone = 2, kWall = 3 };

inline constexpr Cell stone(Colour colour) { return static_cast<Cell>(colour + 1); }

enum class Rule : std::uint8_t { kFreestyle, kStandard, kRenju, kCaro, kCaroExact };

enum class Outcome : std::uint8_t { kOngoing, kBlackWins, kWhiteWins, kDraw };

inline constexpr Outcome win_for(Colour colour) { return colour == kBlack ? Outcome::kBlackWins : Outcome::kWhiteWins; }

enum class Foul : std::uint8_t { kNone, kOverline, kDoubleFour, kDoubleThree };

// The four directions of lines: rows, columns and the two diagonals.
inline constexpr int kDirections = 4;
inline constexpr int kStepX[kDirections] = {1, 0, 1, 1};
inline constexpr int kStepY[kDirections] = {0, 1, 1, -1};

}  // namespace tengen
