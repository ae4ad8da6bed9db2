// The simple players. All but kTree choose a move without looking ahead; docs/how/players.md defines them.
//
// They support every rule, board size and win length k: a four in the papers is k - 1 stones here, a three k - 2.
// Ties are broken at random, with the same probability for every point, except in the first-match forms.
#pragma once

#include <array>
#include <cstdint>

#include "core/board.h"
#include "core/rng.h"

namespace tengen {

enum class PolicyKind : std::uint8_t {
  kRandom,       // any legal point
  kNaive0,       // win with a connected four, block a connected four, block an open connected three, else random
  kNaive1,       // … and extend its own threes
  kNaive2,       // … and its own twos
  kNaive3,       // … and single stones
  kNaive4,       // like kNaive3, but also sees split fours and broken threes
  kChains,       // highest weighted count of chains made and blocked
  kRuleBased,    // win, block, then make fours, threes or twos, close to other stones
  kNaiveFirst0,  // kNaive0 … kNaive3 as in the code of their author: the first match in a fixed order, and no ties
  kNaiveFirst1,
  kNaiveFirst2,
  kNaiveFirst3,
  kRuleBasedFirst,  // the rule-based player in the code of AlphaGomoku: win, block, make a run of at least k - 2
  kTree,            // follows each of its ten best points along the best replies (play/tree_policy.h)
};
inline constexpr int kPolicyKinds = 14;

// Return a legal move for a simple player. The game must not be over. Returns kNoPoint if black has no legal point left
// in renju. Does not allocate memory.
Point choose_move(PolicyKind kind, const Board& board, Rng& rng);

// A simple player with its own random generator: one stream per colour, so that it can play against itself.
class SeededPolicy {
 public:
  SeededPolicy(PolicyKind kind, std::uint64_t seed) : kind_(kind), streams_{Rng(seed), Rng(~seed)} {}

  PolicyKind kind() const { return kind_; }
  // Restart the random streams, as if constructed with this seed.
  void reseed(std::uint64_t seed) { streams_ = {Rng(seed), Rng(~seed)}; }

  // A legal move. Throws std::invalid_argument if the game is over according to game_outcome (patterns/legality.h).
  Point choose(const Board& board);

 private:
  PolicyKind kind_;
  std::array<Rng, 2> streams_;
};

// The score that the chains player gives the empty `point`, for the side to move.
int chains_score(const Board& board, Point point);

}  // namespace tengen
