#include "search/fudan/shapes.h"

#include <algorithm>
#include <bit>

namespace tengen::fudan {
namespace {

// Stones without a gap, by their number.
constexpr Score kOpen[] = {0, 10, 100, kOpenThree, kOpenFour};
constexpr Score kBlocked[] = {0, 1, 10, 100, kFour};

Score run_score(int stones, bool is_blocked) { return is_blocked ? kBlocked[stones] : kOpen[stones]; }

Score score_without_gap(const Shape& shape) {
  if (shape.low_blocked && shape.high_blocked) return 0;
  return run_score(shape.middle, shape.low_blocked || shape.high_blocked);
}

Score score_with_one_gap(const Shape& shape) {
  const int stones = shape.low_outer + shape.middle + shape.high_outer;
  const bool gapless_side_blocked = shape.low_outer > 0 ? shape.high_blocked : shape.low_blocked;
  if (shape.middle == 4 && !gapless_side_blocked) return kOpenFour;
  if (stones >= 4) return kFour;
  if (shape.low_blocked && shape.high_blocked) return 0;
  return run_score(stones, shape.low_blocked || shape.high_blocked);
}

// Each half is the middle run with one outer run.
Score score_with_two_gaps(const Shape& shape) {
  const int low = shape.low_outer + shape.middle;
  const int high = shape.middle + shape.high_outer;
  if (shape.middle == 4 || (low >= 4 && high >= 4)) return kOpenFour;
  return (low >= 4 ? kFour : run_score(low, shape.low_blocked)) +
         (high >= 4 ? kFour : run_score(high, shape.high_blocked));
}

Score score_of(const Shape& shape) {
  switch ((shape.low_outer > 0) + (shape.high_outer > 0)) {
    case 0:
      return score_without_gap(shape);
    case 1:
      return score_with_one_gap(shape);
    default:
      return score_with_two_gaps(shape);
  }
}

bool authors_lack(const Shape& shape) {
  const auto [shorter, longer] = std::minmax(shape.low_outer, shape.high_outer);
  if (longer == 0) return false;
  if (shorter == 0) {
    const bool any_blocked = shape.low_blocked || shape.high_blocked;
    return any_blocked ? shape.middle == 3 && longer == 3 : longer == 4;
  }
  if (shape.middle == 4) return false;
  if (longer == 4) return true;
  if (shape.middle == 1) return shorter + longer <= 4 && longer >= 2;  // 1-1-2, 2-1-2, 1-1-3
  return shape.middle == 2 && shorter == 1 && longer == 3;             // 1-2-3
}

// One side of a stone: the run next to it, the outer run behind a gap, and whether something blocks the last stone.
struct Side {
  int run;
  int outer;
  bool is_blocked;
};

Side look_up(LineBits line, int offset) {
  const std::uint32_t own = line.own >> (offset + 1);
  const std::uint32_t blocks = line.blocks >> (offset + 1);
  const int run = std::countr_one(own);
  if (blocks >> run & 1) return {run, 0, true};
  const int outer = std::min(std::countr_one(own >> (run + 1)), kMaxOuter);
  return {run, outer, outer > 0 && (blocks >> (run + 1 + outer) & 1)};
}

Side look_down(LineBits line, int offset) {
  const std::uint32_t own = line.own << (32 - offset);
  const std::uint32_t blocks = line.blocks << (32 - offset);
  const int run = std::countl_one(own);
  if (blocks << run >> 31) return {run, 0, true};
  const int outer = std::min(std::countl_one(own << (run + 1)), kMaxOuter);
  return {run, outer, outer > 0 && (blocks << (run + 1 + outer) >> 31)};
}

Score long_run_score(int length, bool only_five_wins) { return length > 5 && only_five_wins ? 0 : kFive; }

}  // namespace

ScoreDictionary::ScoreDictionary(Keys keys) {
  for (int bits = 0; bits < 4; ++bits)
    for (int middle = 1; middle < kMiddles; ++middle)
      for (int low = 0; low < kOuters; ++low)
        for (int high = 0; high < kOuters; ++high) {
          const Shape shape{(bits & 1) != 0, low, middle, high, (bits & 2) != 0};
          scores_[index(shape)] = keys == Keys::kAsAuthored && authors_lack(shape) ? 0 : score_of(shape);
        }
}

const ScoreDictionary& ScoreDictionary::of(Keys keys) {
  static const ScoreDictionary all(Keys::kAll);
  static const ScoreDictionary as_authored(Keys::kAsAuthored);
  return keys == Keys::kAll ? all : as_authored;
}

Score score_line(const ScoreDictionary& dictionary, LineBits line, int offset, bool only_five_wins) {
  const Side low = look_down(line, offset);
  const Side high = look_up(line, offset);
  const int middle = low.run + 1 + high.run;
  if (middle >= 5) return long_run_score(middle, only_five_wins);
  return dictionary[{low.is_blocked, low.outer, middle, high.outer, high.is_blocked}];
}

LineTable::LineTable(const ScoreDictionary& dictionary)
    : scores_(std::make_unique<std::array<std::array<Score, 256>, 256>>()) {
  constexpr int kCentre = 10;  // any cell with kReach cells on both sides
  const auto spread = [](unsigned bits) { return (bits & 0xF) << (kCentre - kReach) | (bits >> 4) << (kCentre + 1); };
  for (unsigned own = 0; own < 256; ++own)
    for (unsigned blocks = 0; blocks < 256; ++blocks)
      if ((own & blocks) == 0)
        (*scores_)[own][blocks] = score_line(dictionary, {spread(own), spread(blocks)}, kCentre, false);
}

const LineTable& LineTable::of(Keys keys) {
  static const LineTable all(ScoreDictionary::of(Keys::kAll));
  static const LineTable as_authored(ScoreDictionary::of(Keys::kAsAuthored));
  return keys == Keys::kAll ? all : as_authored;
}

Score LineTable::score(LineBits line, int offset, bool only_five_wins) const {
  const Score score = (*scores_)[shape_bits(line.own, offset)][shape_bits(line.blocks, offset)];
  if (score != kFive || !only_five_wins) return score;
  return long_run_score(look_down(line, offset).run + 1 + look_up(line, offset).run, true);
}

}  // namespace tengen::fudan
