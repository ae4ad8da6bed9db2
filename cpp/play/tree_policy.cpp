#include "play/tree_policy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "core/assert.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

constexpr int kMovesTried = 10;
constexpr int kPliesFollowed = 20;
constexpr std::int64_t kWin = 1'000'000'000'000'000'000;  // 100^9
constexpr std::int64_t kBlock = 10'000'000'000'000'000;   // 100^8

// Added to the worth of a line in which a stone would win. It exceeds any sum of fifth powers for one point.
constexpr std::int32_t kWinMark = 1 << 20;

constexpr std::uint64_t kLowBits = 0x5555555555555555ull;  // the low bit of each cell in a line

constexpr std::int32_t fifth_power(int n) { return n * n * n * n * n; }

// The value of a stone of `colour` on the cell `offset` of a line: the fifth power of the number of own stones, summed
// over all windows of k cells that contain the cell and no enemy stone.
std::int32_t worth_in_line(const Rules& rules, std::uint64_t line, int offset, Colour colour) {
  const int k = rules.win_length;
  const std::uint64_t window = (1ull << (2 * k)) - 1;
  const std::uint64_t own = stones_in_line(line, colour) & kLowBits;
  const std::uint64_t empty = ~(line | (line >> 1)) & kLowBits;
  const std::uint64_t closed = kLowBits & ~own & ~empty;  // enemy stones and walls
  std::int32_t worth = 0;
  for (int first = offset - k + 1; first <= offset; ++first) {
    if ((closed >> (2 * first)) & window) continue;
    worth += fifth_power(std::popcount((own >> (2 * first)) & window));
  }
  const Run run = run_through(line, offset, colour);
  const Cell enemy = stone(opponent(colour));
  const bool is_closed = run.low_end == enemy && run.high_end == enemy;
  return rules.line_wins(run.length, colour, is_closed) ? worth + kWinMark : worth;
}

// A board with the worth of all empty points, updated after each move.
class ValuedBoard {
 public:
  explicit ValuedBoard(const Board& board) : board_(board) {
    for (int d = 0; d < kDirections; ++d)
      for (Point p = 0; p < board_.rules().area(); ++p)
        if (board_.is_empty(p)) refresh(d, p);
    for (Point p = 0; p < board_.rules().area(); ++p)
      if (!board_.is_empty(p)) add_neighbours(p);
  }

  const Board& board() const { return board_; }

  void make(Point point) {
    board_.make(point);
    add_neighbours(point);
    const Geometry& geometry = board_.geometry();
    // Windows and winning runs both reach k - 1 cells; whether a run wins may also depend on the cells beyond its ends.
    const int reach = board_.rules().win_length + 1;
    for (int d = 0; d < kDirections; ++d) {
      for (int step = -reach; step <= reach; ++step) {
        const int x = geometry.x(point) + step * kStepX[d];
        const int y = geometry.y(point) + step * kStepY[d];
        if (!geometry.contains(x, y)) continue;
        if (const Point p = geometry.point(x, y); board_.is_empty(p)) refresh(d, p);
      }
    }
  }

  // The candidates with the highest values, best first, in reading order if values are equal; returns their number.
  template <std::size_t Size>
  int best_points(std::array<Point, Size>& best) const {
    const Geometry& geometry = board_.geometry();
    std::array<std::int64_t, Size> values;
    int count = 0;
    for (int y = geometry.height() - 1; y >= 0; --y) {
      for (int x = 0; x < geometry.width(); ++x) {
        const Point p = geometry.point(x, y);
        if (!near_.has(p) || !board_.is_empty(p)) continue;
        const std::int64_t value = value_of(p);
        if (count == static_cast<int>(Size) && value <= values[Size - 1]) continue;
        if (!is_legal(board_, p)) continue;
        int place = std::min(count, static_cast<int>(Size) - 1);
        for (; place > 0 && values[place - 1] < value; --place) {
          values[place] = values[place - 1];
          best[place] = best[place - 1];
        }
        values[place] = value;
        best[place] = p;
        count = std::min(count + 1, static_cast<int>(Size));
      }
    }
    return count;
  }

 private:
  // Attack plus defence, for the side to move.
  std::int64_t value_of(Point point) const {
    const Colour own = board_.to_move();
    std::int64_t attack = 0;
    std::int64_t defence = 0;
    for (int d = 0; d < kDirections; ++d) {
      attack += worth_[own][d][point];
      defence += worth_[opponent(own)][d][point];
    }
    return (attack >= kWinMark ? kWin : attack) + (defence >= kWinMark ? kBlock : defence);
  }

  void refresh(int direction, Point point) {
    const LinePlace place = board_.geometry().place(direction, point);
    const std::uint64_t line = board_.line(direction, place.line);
    for (const Colour colour : {kBlack, kWhite})
      worth_[colour][direction][point] = worth_in_line(board_.rules(), line, place.offset, colour);
  }

  // Add the points at most k - 1 steps away along a row, column or diagonal.
  void add_neighbours(Point point) {
    const Geometry& geometry = board_.geometry();
    const int reach = board_.rules().win_length - 1;
    for (int d = 0; d < kDirections; ++d) {
      for (int step = -reach; step <= reach; ++step) {
        const int x = geometry.x(point) + step * kStepX[d];
        const int y = geometry.y(point) + step * kStepY[d];
        if (geometry.contains(x, y)) near_.add(geometry.point(x, y));
      }
    }
  }

  Board board_;
  PointSet near_;  // the points near stones, occupied ones included
  std::int32_t worth_[2][kDirections][kMaxArea] = {};
};

// The result of following the best replies after a move, for the side that played the move.
enum class LineEnd : std::uint8_t { kWon, kUndecided, kLost };

LineEnd follow_line(ValuedBoard valued, Point move) {
  const Colour mover = valued.board().to_move();
  valued.make(move);
  for (int ply = 1; ply < kPliesFollowed && !valued.board().is_over(); ++ply) {
    std::array<Point, 1> reply;
    if (valued.best_points(reply) == 0) return LineEnd::kUndecided;
    valued.make(reply[0]);
  }
  const Outcome outcome = valued.board().outcome();
  if (outcome == win_for(mover)) return LineEnd::kWon;
  return outcome == win_for(opponent(mover)) ? LineEnd::kLost : LineEnd::kUndecided;
}

}  // namespace

Point choose_by_lines(const Board& board) {
  TENGEN_ASSERT(!board.is_over());
  const Geometry& geometry = board.geometry();
  if (board.stones() == 0) return geometry.point(geometry.width() / 2, geometry.height() / 2);
  const ValuedBoard valued(board);
  std::array<Point, kMovesTried> moves;
  const int count = valued.best_points(moves);
  if (count == 0) return kNoPoint;
  Point undecided = kNoPoint;
  for (int i = 0; i < count; ++i) {
    const LineEnd end = follow_line(valued, moves[i]);
    if (end == LineEnd::kWon) return moves[i];
    if (end == LineEnd::kUndecided && undecided == kNoPoint) undecided = moves[i];
  }
  return undecided != kNoPoint ? undecided : moves[0];
}

}  // namespace tengen
