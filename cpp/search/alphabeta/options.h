// Options and limits for the alpha-beta search.
#pragma once

#include <cstdint>
#include <vector>

#include "core/types.h"
#include "search/alphabeta/parameters.h"

namespace tengen {

// Parts of the search that can be disabled to measure their contribution (docs/how/engine.md). The default is to use
// all of them.
enum Ingredient : std::uint32_t {
  kStaticWins = 1u << 0,          // detect four-threes and double threes without a search
  kDefenceSets = 1u << 1,         // against an open three, search only the points that answer it
  kLeafFours = 1u << 2,           // search continuous fours below depth zero
  kRazoring = 1u << 3,            // far below alpha near the leaves: search only fours
  kFutility = 1u << 4,            // far above beta near the leaves: cut off
  kMoveCountPruning = 1u << 5,    // skip late moves at low depth
  kReductions = 1u << 6,          // search late moves at reduced depth first
  kFourExtension = 1u << 7,       // extend the forced answer to a four
  kSingular = 1u << 8,            // extend a table move that is far better than the others
  kAspiration = 1u << 9,          // search the root with a narrow window around the last value
  kHistory = 1u << 10,            // order moves by the cutoffs that they caused in other nodes
  kCounterMove = 1u << 11,        // prefer the move that last refuted the opponent's last move
  kTable = 1u << 12,              // the transposition table
  kRootFours = 1u << 13,          // search for a win by continuous fours before the main search
  kFailHighReduction = 1u << 14,  // reduce nodes that are expected to fail high
  kNetwork = 1u << 15,            // add the small network to the evaluation
  kClock = 1u << 16,              // manage the clock; otherwise every move gets a fixed share of it
  kAllIngredients = (1u << 17) - 1
};

struct SearchOptions {
  std::uint32_t ingredients = kAllIngredients;
  int max_four_depth = 0;  // maximum number of fours in a chain at the leaves; 0 for no limit
  SearchParameters parameters;

  bool has(Ingredient ingredient) const { return (ingredients & ingredient) != 0; }
};

struct SearchLimits {
  std::int64_t time_ms = -1;      // for this move; -1 for no limit
  std::int64_t clock_ms = -1;     // left on the clock for the rest of the game; -1 for no clock
  std::int64_t increment_ms = 0;  // added to the clock after each move
  std::uint64_t nodes = 0;        // across all threads; 0 for no limit
  int depth = 0;                  // in plies; 0 for no limit
  int threads = 1;
  int lines = 1;                // number of best moves to report
  std::vector<Point> excluded;  // root moves to ignore
};

}  // namespace tengen
