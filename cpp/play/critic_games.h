// Games for a critic to learn from: played by itself, or against another critic or a simple player.
//
// The learner chooses the afterstate it values highest, sometimes a random candidate. Whoever moves, the learner judges
// all candidates of every position, so that a move other than its own choice can be told from it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "eval/critic.h"
#include "play/policies.h"

namespace tengen {

struct CriticGameOptions {
  Rules rules;
  int radius = 1;     // of candidates
  float epsilon = 0;  // the chance of a random candidate instead of the best
  // A game begins with 1 to so many random stones, the first anywhere, the others near; at most 2 * win_length - 2, so
  // that none wins. 0 begins with the empty board.
  int random_stones = 0;
  // Who plays one colour of each game, black in every second one; the learner itself when there is neither.
  const Critic* critic_opponent = nullptr;  // same input as the learner
  std::optional<PolicyKind> policy_opponent;
};

// What was played, game after game, and what the learner thought of it. A position is one after a move; opening stones
// have none. Values are black's chances. A critic that sees both views (kStones) has two values for each position, the
// one that black sees and the one that white sees; the other has one, seen by who has just moved.
struct CriticGames {
  int views = 1;
  std::vector<std::int64_t> game_starts;      // of each game in `moves`
  std::vector<std::int64_t> position_starts;  // of each game among positions
  std::vector<std::int16_t> moves;            // opening included
  std::vector<std::uint8_t> outcomes;         // by game, as in Outcome
  std::vector<float> black_values;            // [positions, views]; of a finished game its result
  // [positions, views]: what the learner's own choice would have led to; the same as above when it was played.
  std::vector<float> black_best_values;
  InputRows rows;  // [positions, views], those of finished games empty
};

CriticGames play_critic_games(const Critic& learner, const CriticGameOptions& options, int games, std::uint64_t seed);

}  // namespace tengen
