// A batch of games that are played together, for learners without a tree search.
//
// The caller supplies every move, from its own policy or from a simple player through `choose`. A finished game stays
// as it is until `begin` resets the batch. Games never share randomness.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plane_layout.h"
#include "core/rng.h"
#include "core/symmetry.h"
#include "play/policies.h"
#include "search/puct/leaf.h"

namespace tengen {

class GameBatch {
 public:
  // Call `begin` before anything else. Throws std::invalid_argument if `games` is less than 1, or if the layout needs
  // patterns that do not exist for the win length.
  GameBatch(const Rules& rules, int games, PlaneLayout layout);

  const Rules& rules() const { return empty_.board().rules(); }
  PlaneLayout layout() const { return layout_; }
  int games() const { return static_cast<int>(games_.size()); }
  // Throws std::out_of_range if there is no such game.
  const Board& board(std::int64_t game) const;

  // Reset all games. Each starts with 0 … max_random_moves random moves. Throws std::invalid_argument if that number of
  // moves could end a game.
  void begin(std::uint64_t seed, int max_random_moves);

  // Write the planes [rows, C, area] and the legal points [rows, area] of some games from the point of view of the side
  // to move, each transformed by a symmetry. Throws std::out_of_range if there is no such game or symmetry.
  void write(const std::int64_t* rows, const std::int8_t* turns, int count, float* planes, bool* legal) const;

  // Write a move by the simple player policies[game] into actions[game]. Skips negative entries and finished games.
  // Throws std::out_of_range if there is no such player.
  void choose(const std::int8_t* policies, std::int64_t* actions);

  // Play one action in each unfinished game. A negative action skips the game; an illegal one loses it.
  void play(const std::int64_t* actions);

  // One entry per game, in memory owned by this object.
  std::uint8_t* outcomes() { return outcomes_.data(); }
  std::int16_t* plies() { return plies_.data(); }

 private:
  struct Game {
    PuctBoard seen;
    Rng rng;
  };

  void make(std::size_t game, Point point);

  PlaneLayout layout_;
  Symmetries symmetries_;
  PuctBoard empty_;
  std::vector<Game> games_;
  std::vector<std::uint8_t> outcomes_;
  std::vector<std::int16_t> plies_;
};

}  // namespace tengen
