// What a search may do and for how long.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.h"
#include "search/alphabeta/parameters.h"

namespace tengen {

// The ingredients of the search that can be left out, to measure what each is worth (docs/engine.md). All on by
// default.
enum Ingredient : std::uint32_t {
  kStaticWins = 1u << 0,          // four-three and double three proved at sight
  kDefenceSets = 1u << 1,         // against an open three only the points that answer it
  kLeafFours = 1u << 2,           // continuous fours below depth zero
  kRazoring = 1u << 3,            // hopeless shallow nodes go straight to the fours
  kFutility = 1u << 4,            // far above beta near the leaves: cut
  kMoveCountPruning = 1u << 5,    // late moves at shallow depth are skipped
  kReductions = 1u << 6,          // late moves are searched less deep first
  kFourExtension = 1u << 7,       // a forced answer to a four costs less than a ply
  kSingular = 1u << 8,            // a table move far better than the rest is searched deeper
  kAspiration = 1u << 9,          // a narrow window around the last value at the root
  kHistory = 1u << 10,            // moves that cut elsewhere are tried sooner
  kCounterMove = 1u << 11,        // the move that last refuted the opponent's move is tried sooner
  kTable = 1u << 12,              // the transposition table
  kRootFours = 1u << 13,          // a full search for continuous fours before anything else
  kFailHighReduction = 1u << 14,  // a node that should fail high needs less depth to do so
  kNetwork = 1u << 15,            // the small network of the evaluation
  kAllIngredients = (1u << 16) - 1
};

struct SearchOptions {
  std::uint32_t ingredients = kAllIngredients;
  int max_four_depth = 0;  // longest chain of own fours at the leaves, 0 for no limit
  SearchParameters parameters;

  bool has(Ingredient ingredient) const { return (ingredients & ingredient) != 0; }
};

struct SearchLimits {
  std::int64_t time_ms = -1;  // hard limit for this move, -1 for none
  std::int64_t soft_ms = -1;  // do not begin a new iteration after this, -1 for none
  std::uint64_t nodes = 0;    // 0 for no limit
  int depth = 0;              // 0 for no limit
  int threads = 1;
  int lines = 1;                // how many best moves to report
  std::vector<Point> excluded;  // root moves not to be considered
};

}  // namespace tengen
