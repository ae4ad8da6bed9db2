// The numbers that control the search. `tengen tune search` tunes the members of SearchParameters by playing games
// (SPSA); data/tuning keeps the runs. The constants at the end are not tuned.
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
  int stale_share = 18;  // percentage of the depth by which a table entry of the main line lags behind
  int stale_limit = 479;

  int patternless_depth = 1230;
  int move_count_base = 661;   // hundredths of a move
  int move_count_power = 173;  // hundredths; the limit grows as depth to this power

  int reduction_scale = 53;  // times log(depth) * log(move number)
  int reduce_not_improving = 80;
  int reduce_was_pv = 151;
  int reduce_cut_node = 270;
  int reduce_patternless = 64;
  int reduce_far = 85;  // added to reduce_patternless if the move is far from the last moves of both sides
  int reduce_important = 109;
  int reduce_far_answer = 145;
  int reduce_attack = 91;
  int reduce_history = 3;  // at full history

  int deeper_base = 37;
  int deeper_slope = 25;

  int aspiration = 16;

  int order_history = 211;  // ordering score at full history
  int order_kind = 300;     // ordering score at full history of its kind
  int order_counter = 100;
  int history_bonus = 5;  // times the square of the depth in plies
};

struct ParameterInfo {
  std::string_view name;
  int SearchParameters::* member;
  int low;
  int high;
};

// Every parameter with its sensible range.
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

// Set a parameter by name. Throws std::invalid_argument if there is none of that name.
inline void set_parameter(SearchParameters& parameters, std::string_view name, int value) {
  const auto info = std::ranges::find(kParameters, name, &ParameterInfo::name);
  if (info == kParameters.end())
    throw std::invalid_argument("no search parameter is called '" + std::string(name) + "'");
  parameters.*info->member = value;
}

// ---- Constants that are not tuned ----------------------------------------------------------------------------------
//
// They were set by hand when the search was first written, before there was a tuner. Changing one of them changes the
// search, so the commit needs a new `Bench:` line.

// The first iteration with an aspiration window, in plies: before it, the value still jumps from depth to depth.
inline constexpr int kAspirationMinDepth = 5;
// A window that has grown beyond this is opened completely. A third of kMaxEvaluation.
inline constexpr Value kAspirationMaxDelta = 2000;
// Number of fail-highs in one iteration after which the depth of the root is reduced by one ply.
inline constexpr int kFailHighsPerPly = 3;

// How far a table entry may lag behind the depth, in plies, to be the basis of a singular search.
inline constexpr int kSingularTableSlack = 2;
// Double extensions end when a line has been extended by this much beyond one ply per move.
inline constexpr Depth kMaxExtraExtension = 10 * kPly;

// Late moves are reduced from this depth on.
inline constexpr Depth kMinReductionDepth = 2 * kPly;
// A move is far from a stone that is more than this many columns or rows away: five in a row cannot contain both.
inline constexpr int kFarDistance = 4;

// After a move has raised alpha, the depth of the remaining moves is reduced by one ply if it is between these two
// and the value is far from a proved one.
inline constexpr Depth kAlphaRaisedMinDepth = 2 * kPly;
inline constexpr Depth kAlphaRaisedMaxDepth = 12 * kPly;
inline constexpr Value kAlphaRaisedMaxValue = 2000;

// The most that one cutoff adds to a history score, about a seventh of History::kLimit.
inline constexpr int kMaxHistoryBonus = 1200;

// Below depth zero, a chain of this many own fours continues only with fours that make something else as well.
inline constexpr int kLongFourChain = 2;

// Node limit of the search for continuous fours before the search proper, and the largest part of the whole node limit
// that it may use (one tenth).
inline constexpr std::uint64_t kRootFourNodes = 20'000;
inline constexpr std::uint64_t kRootFourShare = 10;

// A proved loss is searched this many plies beyond its length, because a deeper search may find a longer defence.
inline constexpr int kExtraLossDepth = 8;

}  // namespace tengen
