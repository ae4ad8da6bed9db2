// The numbers that steer the search. `tengen tune search` moves them by playing games (SPSA); data/tuning has the log.
#pragma once

#include <array>

#include "search/alphabeta/value.h"

namespace tengen {

// Depths, extensions and reductions in hundredths of a ply, margins in evaluation units.
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
  int stale_share = 18;  // of the depth that a table entry of the main line is behind, in percent
  int stale_limit = 479;

  int patternless_depth = 1230;
  int move_count_base = 661;   // hundredths of a move
  int move_count_power = 173;  // hundredths: moves grow with depth to this power

  int reduction_scale = 53;  // of log(depth) * log(number)
  int reduce_not_improving = 80;
  int reduce_was_pv = 151;
  int reduce_cut_node = 270;
  int reduce_patternless = 64;
  int reduce_far = 85;  // in addition, far from the last moves of both sides
  int reduce_important = 109;
  int reduce_far_answer = 145;
  int reduce_attack = 91;
  int reduce_history = 3;  // at full history

  int deeper_base = 37;
  int deeper_slope = 25;

  int aspiration = 16;

  int order_history = 211;  // ordering score at full history
  int order_kind = 300;     // the same for the history of moves of its kind
  int order_counter = 100;
  int history_bonus = 5;  // times the square of the depth in plies
};

struct ParameterInfo {
  const char* name;
  int SearchParameters::* member;
  int low;
  int high;
};

// Every parameter with the range it makes sense in.
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

}  // namespace tengen
