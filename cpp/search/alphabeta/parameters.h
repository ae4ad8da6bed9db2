// Parameters of the search. `tengen tune search` tunes the members of SearchParameters by playing games (SPSA);
// data/tuning contains the tuning runs. The constants at the end are not tuned.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "search/alphabeta/value.h"

namespace tengen {

// Depths, extensions and reductions are in hundredths of a ply, margins in evaluation units.
struct SearchParameters {
  int razor_depth = 189;
  int razor_base = 46;
  int razor_slope = 16;  // per ply of depth

  int futility_slope = 28;  // per ply of depth

  int four_extension = 119;

  int singular_depth = 706;
  int singular_margin = 33;  // hundredths of a unit per ply of depth
  int double_singular_margin = 74;
  int table_move_extension_pv = 49;
  int table_move_extension = 36;

  int likely_cut_base = 4;
  int likely_cut_slope = 1;  // per ply of depth
  int likely_cut_three = 223;
  int stale_share = 18;  // percentage of the depth by which a PV node's table entry is too shallow
  int stale_limit = 479;

  int patternless_depth = 1230;
  int move_count_base = 661;   // hundredths of a move
  int move_count_power = 173;  // exponent of the depth, in hundredths

  int reduction_scale = 53;  // times log(depth) * log(move number)
  int reduce_not_improving = 80;
  int reduce_was_pv = 151;
  int reduce_cut_node = 270;
  int reduce_patternless = 64;
  int reduce_far = 85;  // added to reduce_patternless if the move is far from the last moves of both sides
  int reduce_important = 109;
  int reduce_far_answer = 145;
  int reduce_attack = 91;
  int reduce_history = 3;  // at the maximum history score

  int deeper_base = 37;
  int deeper_slope = 25;

  int aspiration = 16;

  int order_history = 211;  // ordering score at the maximum history score of the point
  int order_kind = 300;     // ordering score at the maximum history score of the kind of move
  int order_counter = 100;
  int history_bonus = 5;  // times the square of the depth in plies
};

struct ParameterInfo {
  std::string_view name;
  int SearchParameters::* member;
  int low;
  int high;
};

// All parameters with their tuning ranges.
inline constexpr auto kParameters = std::to_array<ParameterInfo>({
    {"razor_depth", &SearchParameters::razor_depth, 0, 600},
    {"razor_base", &SearchParameters::razor_base, 0, 120},
    {"razor_slope", &SearchParameters::razor_slope, 0, 80},
    {"futility_slope", &SearchParameters::futility_slope, 15, 160},
    {"four_extension", &SearchParameters::four_extension, 60, 200},
    {"singular_depth", &SearchParameters::singular_depth, 400, 1000},
    {"singular_margin", &SearchParameters::singular_margin, 0, 400},
    {"double_singular_margin", &SearchParameters::double_singular_margin, 0, 200},
    {"table_move_extension_pv", &SearchParameters::table_move_extension_pv, 0, 150},
    {"table_move_extension", &SearchParameters::table_move_extension, 0, 120},
    {"likely_cut_base", &SearchParameters::likely_cut_base, -80, 120},
    {"likely_cut_slope", &SearchParameters::likely_cut_slope, 0, 60},
    {"likely_cut_three", &SearchParameters::likely_cut_three, 0, 400},
    {"stale_share", &SearchParameters::stale_share, 0, 80},
    {"stale_limit", &SearchParameters::stale_limit, 0, 600},
    {"patternless_depth", &SearchParameters::patternless_depth, 0, 1500},
    {"move_count_base", &SearchParameters::move_count_base, 100, 2000},
    {"move_count_power", &SearchParameters::move_count_power, 90, 320},
    {"reduction_scale", &SearchParameters::reduction_scale, 0, 180},
    {"reduce_not_improving", &SearchParameters::reduce_not_improving, 0, 200},
    {"reduce_was_pv", &SearchParameters::reduce_was_pv, 0, 200},
    {"reduce_cut_node", &SearchParameters::reduce_cut_node, 0, 300},
    {"reduce_patternless", &SearchParameters::reduce_patternless, 0, 200},
    {"reduce_far", &SearchParameters::reduce_far, 0, 200},
    {"reduce_important", &SearchParameters::reduce_important, 0, 200},
    {"reduce_far_answer", &SearchParameters::reduce_far_answer, 0, 400},
    {"reduce_attack", &SearchParameters::reduce_attack, 0, 200},
    {"reduce_history", &SearchParameters::reduce_history, 0, 300},
    {"deeper_base", &SearchParameters::deeper_base, 0, 150},
    {"deeper_slope", &SearchParameters::deeper_slope, 0, 60},
    {"aspiration", &SearchParameters::aspiration, 6, 60},
    {"order_history", &SearchParameters::order_history, 0, 800},
    {"order_kind", &SearchParameters::order_kind, 0, 1200},
    {"order_counter", &SearchParameters::order_counter, 0, 400},
    {"history_bonus", &SearchParameters::history_bonus, 4, 60},
});

// Set a parameter by name. Throws std::invalid_argument if the name is unknown.
inline void set_parameter(SearchParameters& parameters, std::string_view name, int value) {
  const auto info = std::ranges::find(kParameters, name, &ParameterInfo::name);
  if (info == kParameters.end()) throw std::invalid_argument("unknown search parameter '" + std::string(name) + "'");
  parameters.*info->member = value;
}

// ---- Constants that are not tuned ----------------------------------------------------------------------------------
//
// These were set by hand before the tuner existed. Changing one of them changes the search results. Some are limits
// that only prevent search explosion.

// Depth in plies of the first iteration with an aspiration window. At lower depths, the value is not yet stable.
inline constexpr int kAspirationMinDepth = 5;
// Above this half-width, the aspiration window becomes the full window. It is a third of the evaluation's range.
inline constexpr Value kAspirationMaxDelta = 2000;
// Number of fail-highs in one iteration that reduce the root depth by one ply.
inline constexpr int kFailHighsPerPly = 3;

// A singular search requires a table entry at most this many plies shallower than the node.
inline constexpr int kSingularTableSlack = 2;
// No double extensions once a line has been extended by this much beyond one ply per move.
inline constexpr Depth kMaxExtraExtension = 10 * kPly;

// Lowest depth at which late moves are reduced.
inline constexpr Depth kMinReductionDepth = 2 * kPly;
// A move more than this many columns or rows away from a stone is far from it: no five in a row contains both.
inline constexpr int kFarDistance = 4;

// After a move has raised alpha, the remaining moves are searched one ply less deep, if the depth is between these two
// limits and the value is far from a proved win or loss.
inline constexpr Depth kAlphaRaisedMinDepth = 2 * kPly;
inline constexpr Depth kAlphaRaisedMaxDepth = 12 * kPly;
inline constexpr Value kAlphaRaisedMaxValue = 2000;

// Largest bonus that one cutoff adds to a history score, about a seventh of History::kLimit.
inline constexpr int kMaxHistoryBonus = 1200;

// After this many consecutive fours, the quiescence search skips fours that create no further threat.
inline constexpr int kLongFourChain = 2;

// Node limit for the search for continuous fours before the main search. If the main search has a node limit, the
// search for fours uses at most 1 / kRootFourShare of it.
inline constexpr std::uint64_t kRootFourNodes = 20'000;
inline constexpr std::uint64_t kRootFourShare = 10;

// A loss is searched this many plies beyond its length, because a deeper search may find a longer defence.
inline constexpr int kExtraLossDepth = 8;

// A result that is expected but not proved is searched again with all defences. The node limit is then kProofShare
// times the nodes searched so far plus kProofNodes, or the caller's limit if that is lower.
inline constexpr std::uint64_t kProofShare = 2;
inline constexpr std::uint64_t kProofNodes = 20'000;

// If there is only one move, the search uses at most 1 / kForcedShare of its node limit. MoveClock reduces the time.
inline constexpr int kForcedShare = 8;

}  // namespace tengen
