// Training games for a critic, played against itself, another critic or a simple player.
//
// The learner plays the move to the afterstate with the highest value, or sometimes a random candidate. It evaluates
// all candidates in every position, even with the opponent to move, so that its own choice is always known.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "eval/critic.h"
#include "play/policies.h"

namespace tengen {

struct CriticGameOptions {
  Rules rules;
  int radius = 1;     // largest distance of a candidate from a stone
  float epsilon = 0;  // probability of a random candidate
  // A game starts with 1 … random_stones random stones: the first anywhere, the others near earlier stones. At most
  // 2 * win_length - 2, so that the opening does not already win. With 0, games start from the empty board.
  int random_stones = 0;
  // The opponent. It plays black in every other game, starting with the first. Without an opponent, the learner plays
  // both sides.
  const Critic* critic_opponent = nullptr;  // with the same inputs as the learner
  std::optional<PolicyKind> policy_opponent;
};

// The games and the learner's values. There is one position after each move, except for opening stones. Values are
// black's winning chances. With kStones there are two values per position, from the perspectives of black and white;
// with kPoints there is one, from the perspective of the side that has just moved.
struct CriticGames {
  int views = 1;
  std::vector<std::int64_t> game_starts;      // index of each game's first move
  std::vector<std::int64_t> position_starts;  // index of each game's first position
  std::vector<std::int16_t> moves;            // including the openings
  std::vector<std::uint8_t> outcomes;         // one Outcome per game
  std::vector<float> black_values;            // [positions, views]; the result if the game is over
  // [positions, views]: the value after the learner's own choice; equal to black_values if that move was played.
  std::vector<float> black_best_values;
  InputRows rows;  // [positions, views]; empty if the game is over
};

// Throws std::invalid_argument if `options` has too many random stones or an opponent with different inputs.
CriticGames play_critic_games(const Critic& learner, const CriticGameOptions& options, int games, std::uint64_t seed);

}  // namespace tengen
