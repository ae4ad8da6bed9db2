// The simple players: a move from the position alone, no search. docs/players.md defines them in words.
//
// They serve every rule, board and win length k: what the papers call a four is k - 1 stones, a three k - 2, and so on.
// Equal choices are decided by the generator, each point of the set with the same probability.
#pragma once

#include "core/board.h"
#include "core/rng.h"

namespace tengen {

enum class PolicyKind : std::uint8_t {
  kRandom,     // any legal point
  kNaive0,     // win with a connected four, block a connected four, block an open connected three, else random
  kNaive1,     // … and extend own threes
  kNaive2,     // … and own twos
  kNaive3,     // … and single stones
  kNaive4,     // as 3, but sees split fours and broken threes too
  kChains,     // highest weighted count of chains made and blocked
  kRuleBased,  // win, block, then make fours, threes, twos, close to other stones
};
inline constexpr int kPolicyKinds = 8;

// A legal point for the side to move; black's fouls are avoided. The game must not be over by game_outcome
// (patterns/legality.h); when black has no legal point left, kNoPoint. Does not allocate.
Point choose_move(PolicyKind kind, const Board& board, Rng& rng);

// The score that the chains player gives the empty `point`, for the side to move.
int chains_score(const Board& board, Point point);

}  // namespace tengen
