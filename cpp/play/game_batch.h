// Many games that are played to their ends together: what the learners without a tree search train on.
//
// The caller says each move, be it his own or one that `choose` takes from a simple player; a game that has ended stays
// as it is until all begin anew. Games never share randomness.
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
  GameBatch(const Rules& rules, int games, PlaneLayout layout);

  const Rules& rules() const { return empty_.board().rules(); }
  PlaneLayout layout() const { return layout_; }
  int games() const { return static_cast<int>(games_.size()); }
  const Board& board(int game) const { return games_[static_cast<std::size_t>(game)].seen.board(); }

  // Every game anew, each with 0 … `most_opening_moves` random moves (at most 2 * win_length - 2, so that none wins).
  void begin(std::uint64_t seed, int most_opening_moves);

  // Write the planes [rows, C, area] and the legal points [rows, area] of some games as the side to move sees them,
  // the board of each row turned by its symmetry.
  void write(const std::int64_t* rows, const std::int8_t* turns, int count, float* planes, bool* legal) const;

  // Write a move of the simple player `policies[game]` into actions[game]; games with a negative entry and those that
  // have ended are left out.
  void choose(const std::int8_t* policies, std::int64_t* actions);

  // Play one action in each game that has not ended. A negative one leaves the game waiting; an illegal one loses.
  void play(const std::int64_t* actions);

  // One entry for each game; the memory lives as long as this object.
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
