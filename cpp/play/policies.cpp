#include "play/policies.h"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "core/assert.h"
#include "core/checked.h"
#include "core/point_set.h"
#include "patterns/legality.h"
#include "play/tree_policy.h"

namespace tengen {
namespace {

// The low bit of each cell in a line.
constexpr std::uint64_t kLowBits = 0x5555555555555555ull;

Point draw_any(const Board& board, Rng& rng) {
  PointSet empties;
  for (Point p = 0; p < board.rules().area(); ++p)
    if (board.is_empty(p)) empties.add(p);
  return draw_legal(board, empties, rng);
}

// ---- Runs and their ends, a whole line at a time ------------------------------------------------------------------

// Which empty ends of a run count.
enum class Ends : std::uint8_t { kEach, kOnlyIfBothEmpty };

std::uint64_t empty_cells(std::uint64_t line) { return ~(line | (line >> 1)) & kLowBits; }

// The empty cells at the ends of runs of exactly `length` stones of one colour. All words use the low bit of each cell.
std::uint64_t ends_of_runs(std::uint64_t own, std::uint64_t empty, int length, Ends ends) {
  std::uint64_t runs = own & ~(own << 2);  // first cells of all runs
  for (int i = 1; i < length; ++i) runs &= own >> (2 * i);
  runs &= ~(own >> (2 * length));
  if (ends == Ends::kOnlyIfBothEmpty) runs &= (empty << 2) & (empty >> (2 * length));
  return ((runs >> 2) | (runs << (2 * length))) & empty;
}

// Call visit(direction, line, offset) for each empty end of a run of exactly `length` stones of `colour`.
template <typename Visit>
void for_each_end(const Board& board, Colour colour, int length, Ends ends, Visit visit) {
  const Geometry& geometry = board.geometry();
  for (int d = 0; d < kDirections; ++d) {
    for (int i = 0; i < geometry.line_count(d); ++i) {
      const std::uint64_t line = board.line(d, i);
      const std::uint64_t own = stones_in_line(line, colour) & kLowBits;
      if (own == 0) continue;
      for (std::uint64_t cells = ends_of_runs(own, empty_cells(line), length, ends); cells != 0; cells &= cells - 1)
        visit(d, i, std::countr_zero(cells) / 2);
    }
  }
}

void add_ends(const Board& board, Colour colour, int length, Ends ends, PointSet& points) {
  if (length < 1) return;
  for_each_end(board, colour, length, ends,
               [&](int d, int i, int offset) { points.add(board.geometry().point_on_line(d, i, offset)); });
}

bool run_wins(const Board& board, const Run& run, Colour colour) {
  const Cell enemy = stone(opponent(colour));
  return board.rules().line_wins(run.length, colour, run.low_end == enemy && run.high_end == enemy);
}

// Add the empty ends of connected runs of k - 1 stones that complete a winning line. Split fours are not considered.
void add_ends_of_fours(const Board& board, Colour colour, PointSet& points) {
  for_each_end(board, colour, board.rules().win_length - 1, Ends::kEach, [&](int d, int i, int offset) {
    if (run_wins(board, run_through(board.line(d, i), offset, colour), colour))
      points.add(board.geometry().point_on_line(d, i, offset));
  });
}

// Call visit(point, run) for each empty point on lines with at least `min_stones` stones of `colour`. `run` is the run
// that a stone of that colour on the point would be part of.
template <typename Visit>
void for_each_run(const Board& board, Colour colour, int min_stones, Visit visit) {
  const Geometry& geometry = board.geometry();
  for (int d = 0; d < kDirections; ++d) {
    for (int i = 0; i < geometry.line_count(d); ++i) {
      const std::uint64_t line = board.line(d, i);
      if (std::popcount(stones_in_line(line, colour)) / 2 < min_stones) continue;
      for (std::uint64_t cells = empty_cells(line); cells != 0; cells &= cells - 1) {
        const int offset = std::countr_zero(cells) / 2;
        visit(geometry.point_on_line(d, i, offset), run_through(line, offset, colour));
      }
    }
  }
}

// Add every point that completes a winning line, including the gaps of split fours.
void add_completions(const Board& board, Colour colour, PointSet& points) {
  for_each_run(board, colour, board.rules().win_length - 1, [&](Point point, const Run& run) {
    if (run_wins(board, run, colour)) points.add(point);
  });
}

// Add the points where `colour` gets k - 1 connected stones with at least `min_open` (1 or 2) empty ends, by extending
// a run or by filling a gap.
void add_four_makers(const Board& board, Colour colour, int min_open, PointSet& points) {
  const int four = board.rules().win_length - 1;
  for_each_run(board, colour, four - 1, [&](Point point, const Run& run) {
    const int open = (run.low_end == kEmpty) + (run.high_end == kEmpty);
    if (run.length == four && open >= min_open) points.add(point);
  });
}

// ---- Naive players ------------------------------------------------------------------------------------------------

// The moves proposed by strategy S1 … S6 of a naive level. The names come from the paper (docs/how/players.md).
PointSet naive_candidates(int strategy, int level, const Board& board) {
  const Colour own = board.to_move();
  const Colour other = opponent(own);
  const int k = board.rules().win_length;
  const bool sees_splits = level >= 4;
  PointSet points;
  switch (strategy) {
    case 1:
      sees_splits ? add_completions(board, own, points) : add_ends_of_fours(board, own, points);
      break;
    case 2:
      sees_splits ? add_completions(board, other, points) : add_ends_of_fours(board, other, points);
      break;
    case 3:
      add_ends(board, other, k - 2, Ends::kOnlyIfBothEmpty, points);
      if (sees_splits) add_four_makers(board, other, 2, points);
      break;
    case 4:
      add_ends(board, own, k - 2, Ends::kEach, points);
      if (sees_splits) add_four_makers(board, own, 1, points);
      break;
    case 5:
      add_ends(board, own, k - 3, Ends::kEach, points);
      break;
    case 6:
      for (int length = k - 4; length >= 1; --length) add_ends(board, own, length, Ends::kEach, points);
      break;
    default:
      TENGEN_ASSERT(false);
  }
  return points;
}

Point choose_naive(int level, const Board& board, Rng& rng) {
  const int strategies = std::min(level + 3, 6);
  for (int strategy = 1; strategy <= strategies; ++strategy) {
    const Point point = draw_legal(board, naive_candidates(strategy, level, board), rng);
    if (point != kNoPoint) return point;
  }
  return draw_any(board, rng);
}

// ---- Naive players, first match -----------------------------------------------------------------------------------

// A direction in reading order: rows to the right, columns and diagonals downwards.
struct Reading {
  int dx;
  int dy;
};
constexpr Reading kRow{1, 0};
constexpr Reading kColumn{0, -1};
constexpr Reading kDownLeft{-1, -1};
constexpr Reading kDownRight{1, -1};

// A run of exactly `length` stones of one colour with an empty end: the one before it or after it in reading order.
struct RunPattern {
  Colour colour;
  int length;
  bool gap_is_before;
  Ends ends;
  bool must_win;  // whether a stone of the run's colour on the empty end has to win
};

Cell cell_at(const Board& board, int x, int y) {
  return board.geometry().contains(x, y) ? board.at(board.geometry().point(x, y)) : kWall;
}

// The empty end of the pattern whose first cell (the gap or a stone) is (x, y), or kNoPoint if it does not match there.
Point match_at(const Board& board, const RunPattern& pattern, int x, int y, Reading way) {
  const Cell own = stone(pattern.colour);
  if (cell_at(board, x, y) != (pattern.gap_is_before ? kEmpty : own)) return kNoPoint;
  const int first = pattern.gap_is_before ? 1 : 0;  // steps to the first stone
  const auto cell = [&](int step) { return cell_at(board, x + step * way.dx, y + step * way.dy); };
  for (int step = first; step < first + pattern.length; ++step)
    if (cell(step) != own) return kNoPoint;
  const Cell before = cell(first - 1);
  const Cell after = cell(first + pattern.length);
  if (before == own || after == own || (!pattern.gap_is_before && after != kEmpty)) return kNoPoint;
  if (pattern.ends == Ends::kOnlyIfBothEmpty && (before != kEmpty || after != kEmpty)) return kNoPoint;
  const int gap = pattern.gap_is_before ? 0 : pattern.length;
  return board.geometry().point(x + gap * way.dx, y + gap * way.dy);
}

bool wins_at(const Board& board, Colour colour, Point point) {
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = board.geometry().place(d, point);
    if (run_wins(board, run_through(board.line(d, place.line), place.offset, colour), colour)) return true;
  }
  return false;
}

// The first legal match of a pattern: rows from the top, then columns from the left, then diagonals by their upper
// cell.
Point first_match(const Board& board, const RunPattern& pattern) {
  if (pattern.length < 1) return kNoPoint;
  const int width = board.geometry().width();
  const int height = board.geometry().height();
  const auto found = [&](int x, int y, Reading way) {
    const Point point = match_at(board, pattern, x, y, way);
    if (point == kNoPoint || (pattern.must_win && !wins_at(board, pattern.colour, point))) return kNoPoint;
    return is_legal(board, point) ? point : kNoPoint;
  };
  for (int y = height - 1; y >= 0; --y)
    for (int x = 0; x < width; ++x)
      if (const Point point = found(x, y, kRow); point != kNoPoint) return point;
  for (int x = 0; x < width; ++x)
    for (int y = height - 1; y >= 0; --y)
      if (const Point point = found(x, y, kColumn); point != kNoPoint) return point;
  for (int y = height - 1; y >= 0; --y)
    for (const Reading way : {kDownLeft, kDownRight})
      for (int x = 0; x < width; ++x)
        if (const Point point = found(x, y, way); point != kNoPoint) return point;
  return kNoPoint;
}

// The first match with the gap before the run, otherwise the first with the gap after it.
Point first_end(const Board& board, Colour colour, int length, bool must_win) {
  const Point before = first_match(board, {colour, length, true, Ends::kEach, must_win});
  return before != kNoPoint ? before : first_match(board, {colour, length, false, Ends::kEach, must_win});
}

// Black's first stone is the centre. White's is the diagonal neighbour of black's on the side with more room.
Point choose_naive_opening(const Board& board) {
  const Geometry& geometry = board.geometry();
  const int width = geometry.width();
  const int height = geometry.height();
  if (board.stones() == 0) return geometry.point(width / 2, height - 1 - height / 2);
  for (Point p = 0; p < geometry.area(); ++p) {
    if (board.is_empty(p)) continue;
    const int column = geometry.x(p);
    const int row = height - 1 - geometry.y(p);  // from the top
    return geometry.point(column + (column <= width / 2 ? 1 : -1), geometry.y(p) + (row <= height / 2 ? -1 : 1));
  }
  return kNoPoint;
}

Point choose_naive_first(int level, const Board& board, Rng& rng) {
  const Colour own = board.to_move();
  const Colour other = opponent(own);
  const int k = board.rules().win_length;
  if (board.stones() < 2) return choose_naive_opening(board);
  if (const Point p = first_end(board, own, k - 1, true); p != kNoPoint) return p;
  if (const Point p = first_end(board, other, k - 1, true); p != kNoPoint) return p;
  const RunPattern open_three{other, k - 2, true, Ends::kOnlyIfBothEmpty, false};
  if (const Point p = first_match(board, open_three); p != kNoPoint) return p;
  // Level 1 extends runs of k - 2, level 2 also those of k - 3, level 3 all.
  const int shortest = level == 3 ? 1 : k - 1 - level;
  for (int length = k - 2; length >= std::max(shortest, 1); --length)
    if (const Point p = first_end(board, own, length, false); p != kNoPoint) return p;
  return draw_any(board, rng);
}

// ---- Chains -------------------------------------------------------------------------------------------------------

// Powers of three. The paper's weights are 1, 3, 9 for chains of 2, 3, 4, then 81 for completing a five and 27 for
// blocking one.
constexpr int kPowersOfThree[] = {1, 3, 9, 27, 81, 243};

// The weight of the chain along `direction` that a stone of `colour` on `point` would be part of.
int chain_weight(const Board& board, Point point, int direction, Colour colour) {
  const LinePlace place = board.geometry().place(direction, point);
  const Run run = run_through(board.line(direction, place.line), place.offset, colour);
  const int k = board.rules().win_length;
  if (run.length < 2) return 0;
  if (run.length < k) return kPowersOfThree[run.length - 2];
  if (!run_wins(board, run, colour)) return 0;
  return kPowersOfThree[colour == board.to_move() ? k - 1 : k - 2];
}

// ---- Rule-based ---------------------------------------------------------------------------------------------------

// The largest number of stones of `colour`, including one on `point`, in any k consecutive cells through `point` that
// contain no enemy stone.
int longest_prospect(const Board& board, Point point, Colour colour) {
  const int k = board.rules().win_length;
  const std::uint64_t window = (1ull << (2 * k)) - 1;
  int best = 0;
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = board.geometry().place(d, point);
    const std::uint64_t line = board.line(d, place.line);
    const std::uint64_t own = stones_in_line(line, colour) & kLowBits;
    const std::uint64_t closed = ~own & ~empty_cells(line) & kLowBits;
    for (int first = place.offset - k + 1; first <= place.offset; ++first) {
      if ((closed >> (2 * first)) & window) continue;
      best = std::max(best, 1 + std::popcount((own >> (2 * first)) & window));
    }
  }
  return best;
}

int stones_around(const Board& board, Point point) {
  const Geometry& geometry = board.geometry();
  int count = 0;
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = geometry.place(d, point);
    for (const int side : {-1, 1}) {
      const Cell cell = cell_in_line(board.line(d, place.line), place.offset + side);
      count += cell == kBlackStone || cell == kWhiteStone;
    }
  }
  return count;
}

// The empty points with the highest score; a score of -1 excludes a point.
template <typename Score>
PointSet best_points(const Board& board, Score score) {
  PointSet best;
  int highest = 0;
  for (Point p = 0; p < board.rules().area(); ++p) {
    if (!board.is_empty(p)) continue;
    const int value = score(p);
    if (value < highest) continue;
    if (value > highest) best = PointSet();
    highest = value;
    best.add(p);
  }
  return best;
}

// Return a random point among the best legal ones.
template <typename Score>
Point draw_best(const Board& board, Rng& rng, Score score) {
  const Point point = draw_legal(board, best_points(board, score), rng);
  if (point != kNoPoint || !has_fouls(board)) return point;
  // All of the best points are fouls. Search again without fouls; this is rare, so it may be slow.
  return draw_legal(board, best_points(board, [&](Point p) { return is_legal(board, p) ? score(p) : -1; }), rng);
}

Point choose_rule_based(const Board& board, Rng& rng) {
  const Colour own = board.to_move();
  const Geometry& geometry = board.geometry();
  if (board.stones() == 0) return geometry.point(geometry.width() / 2, geometry.height() / 2);

  PointSet wins;
  add_completions(board, own, wins);
  if (const Point p = draw_legal(board, wins, rng); p != kNoPoint) return p;
  PointSet blocks;
  add_completions(board, opponent(own), blocks);
  if (const Point p = draw_legal(board, blocks, rng); p != kNoPoint) return p;
  PointSet open_four_blocks;
  add_four_makers(board, opponent(own), 2, open_four_blocks);
  if (const Point p = draw_legal(board, open_four_blocks, rng); p != kNoPoint) return p;

  // The number of neighbours (0 … 8) only breaks ties between equal prospects.
  return draw_best(board, rng, [&](Point p) { return 9 * longest_prospect(board, p, own) + stones_around(board, p); });
}

// The first legal empty point, row by row from the top, that `accepts`, or kNoPoint.
template <typename Accepts>
Point first_point(const Board& board, Accepts accepts) {
  const Geometry& geometry = board.geometry();
  for (int y = geometry.height() - 1; y >= 0; --y)
    for (int x = 0; x < geometry.width(); ++x)
      if (const Point p = geometry.point(x, y); board.is_empty(p) && accepts(p) && is_legal(board, p)) return p;
  return kNoPoint;
}

// The longest run of `colour` that a stone on `point` would be part of; gaps and ends do not matter.
int longest_run(const Board& board, Point point, Colour colour) {
  int longest = 0;
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = board.geometry().place(d, point);
    longest = std::max(longest, run_through(board.line(d, place.line), place.offset, colour).length);
  }
  return longest;
}

Point choose_rule_based_first(const Board& board, Rng& rng) {
  const Colour own = board.to_move();
  for (const Colour colour : {own, opponent(own)})
    if (const Point p = first_point(board, [&](Point q) { return wins_at(board, colour, q); }); p != kNoPoint) return p;
  const int run = board.rules().win_length - 2;
  const Point p = first_point(board, [&](Point q) { return longest_run(board, q, own) >= run; });
  return p != kNoPoint ? p : draw_any(board, rng);
}

}  // namespace

int chains_score(const Board& board, Point point) {
  TENGEN_ASSERT(board.is_empty(point));
  int score = 0;
  for (int d = 0; d < kDirections; ++d)
    score += chain_weight(board, point, d, kBlack) + chain_weight(board, point, d, kWhite);
  return score;
}

Point SeededPolicy::choose(const Board& board) {
  check_ongoing(board);
  const Point point = choose_move(kind_, board, streams_[board.to_move()]);
  if (point == kNoPoint) throw std::invalid_argument("black has no legal move left");
  return point;
}

Point choose_move(PolicyKind kind, const Board& board, Rng& rng) {
  TENGEN_ASSERT(!board.is_over());
  switch (kind) {
    case PolicyKind::kRandom:
      return draw_any(board, rng);
    case PolicyKind::kNaive0:
    case PolicyKind::kNaive1:
    case PolicyKind::kNaive2:
    case PolicyKind::kNaive3:
    case PolicyKind::kNaive4:
      return choose_naive(static_cast<int>(kind) - static_cast<int>(PolicyKind::kNaive0), board, rng);
    case PolicyKind::kChains:
      return draw_best(board, rng, [&](Point p) { return chains_score(board, p); });
    case PolicyKind::kRuleBased:
      return choose_rule_based(board, rng);
    case PolicyKind::kNaiveFirst0:
    case PolicyKind::kNaiveFirst1:
    case PolicyKind::kNaiveFirst2:
    case PolicyKind::kNaiveFirst3:
      return choose_naive_first(static_cast<int>(kind) - static_cast<int>(PolicyKind::kNaiveFirst0), board, rng);
    case PolicyKind::kRuleBasedFirst:
      return choose_rule_based_first(board, rng);
    case PolicyKind::kTree: {
      const Point point = choose_by_lines(board);
      return point != kNoPoint ? point : draw_any(board, rng);
    }
  }
  return kNoPoint;
}

}  // namespace tengen
