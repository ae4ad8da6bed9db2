#include "search/rollout/playout.h"

#include "core/assert.h"
#include "patterns/legality.h"

namespace tengen {

// ---- Rows ---------------------------------------------------------------------------------------------------------

RowPoints::RowPoints(const Board& board) {
  const Geometry& geometry = board.geometry();
  for (Point p = 0; p < geometry.area(); ++p) {
    if (!board.is_empty(p)) continue;
    for (int d = 0; d < kDirections; ++d) {
      const LinePlace place = geometry.place(d, p);
      for (const Colour colour : {kBlack, kWhite})
        refresh(board, colour, d, board.line(d, place.line), place.offset, p);
    }
  }
}

void RowPoints::add_stone(const Board& board, Point point, Colour colour) {
  const Geometry& geometry = board.geometry();
  const int reach = board.rules().win_length - 1;
  const std::uint64_t window = (1ull << (2 * (2 * reach + 1))) - 1;
  // In caro a stone can close a line, so the opponent's rows that end here change as well.
  const bool ends_matter = lines_can_be_closed(board.rules());
  forget(kBlack, point);
  forget(kWhite, point);
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = geometry.place(d, point);
    const std::uint64_t line = board.line(d, place.line);
    // A relevant row has at least win_length - 2 stones within reach, with two bits each. Most lines have fewer.
    const auto has_row = [&](Colour row_colour) {
      const std::uint64_t near = (stones_in_line(line, row_colour) >> (2 * (place.offset - reach))) & window;
      return std::popcount(near) >= 2 * (reach - 1);
    };
    if (has_row(colour)) refresh_ends(board, colour, d, line, place.offset, point);
    if (ends_matter && has_row(opponent(colour))) refresh_ends(board, opponent(colour), d, line, place.offset, point);
  }
}

void RowPoints::refresh_ends(const Board& board, Colour colour, int direction, std::uint64_t line, int offset,
                             Point point) {
  const Run run = run_through(line, offset, colour);
  const int step = board.geometry().step(direction);
  const int low = run.below + 1;
  const int high = run.length - run.below;
  if (run.low_end == kEmpty)
    refresh(board, colour, direction, line, offset - low, static_cast<Point>(point - low * step));
  if (run.high_end == kEmpty)
    refresh(board, colour, direction, line, offset + high, static_cast<Point>(point + high * step));
}

void RowPoints::refresh(const Board& board, Colour colour, int direction, std::uint64_t line, int offset, Point point) {
  const Rules& rules = board.rules();
  const Run run = run_through(line, offset, colour);
  std::uint8_t& rows = rows_[colour][point];
  unsigned now = rows & ~(0x11u << direction);
  if (run.length >= rules.win_length) {
    const Cell enemy = stone(opponent(colour));
    if (rules.line_wins(run.length, colour, run.low_end == enemy && run.high_end == enemy)) now |= 1u << direction;
  } else if (run.length == rules.win_length - 1) {
    now |= 0x10u << direction;
  }
  if (now == rows) return;
  if (((now & 0x0F) != 0) != ((rows & 0x0F) != 0)) {
    completing_[colour].toggle(point);
    completing_count_[colour] += (now & 0x0F) ? 1 : -1;
  }
  if (((now & 0xF0) != 0) != ((rows & 0xF0) != 0)) {
    four_making_[colour].toggle(point);
    four_making_count_[colour] += (now & 0xF0) ? 1 : -1;
  }
  rows = static_cast<std::uint8_t>(now);
}

void RowPoints::forget(Colour colour, Point point) {
  std::uint8_t& rows = rows_[colour][point];
  if (rows & 0x0F) {
    completing_[colour].remove(point);
    --completing_count_[colour];
  }
  if (rows & 0xF0) {
    four_making_[colour].remove(point);
    --four_making_count_[colour];
  }
  rows = 0;
}

// ---- Playouts -----------------------------------------------------------------------------------------------------

PlayoutBoard::PlayoutBoard(const Board& board, PlayoutPolicy policy)
    : board_(board), empties_(board.rules().area()), rows_(board), policy_(policy) {
  for (Point p = 0; p < board.rules().area(); ++p)
    if (!board.is_empty(p)) empties_.remove(p);
}

Point PlayoutBoard::draw(Rng& rng) {
  TENGEN_ASSERT(!board_.is_over() && empties_.size() == board_.empties());
  if (policy_ == PlayoutPolicy::kHeuristic) {
    const Colour own = board_.to_move();
    const Colour other = opponent(own);
    Point point = kNoPoint;
    if (rows_.has_completing(own)) point = draw_legal(board_, rows_.completing(own), rng);
    if (point == kNoPoint && rows_.has_completing(other)) point = draw_legal(board_, rows_.completing(other), rng);
    if (point == kNoPoint && rows_.has_four_making(own)) point = draw_legal(board_, rows_.four_making(own), rng);
    if (point == kNoPoint && rows_.has_four_making(other)) point = draw_legal(board_, rows_.four_making(other), rng);
    if (point != kNoPoint) return point;
  }
  return empties_.draw_legal(board_, rng);
}

Outcome PlayoutBoard::play_out(Rng& rng) {
  while (!board_.is_over()) {
    const Point point = draw(rng);
    if (point == kNoPoint) return Outcome::kWhiteWins;  // black has only fouls left
    TENGEN_ASSERT(is_legal(board_, point));
    make(point);
  }
  return board_.outcome();
}

PlayoutTally tally_playouts(const Board& board, PlayoutPolicy policy, std::uint64_t count, std::uint64_t seed) {
  PlayoutTally tally;
  const PlayoutBoard start(board, policy);
  Rng rng(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    PlayoutBoard playout = start;
    ++tally.outcomes[static_cast<std::size_t>(playout.play_out(rng))];
    tally.moves += static_cast<std::uint64_t>(playout.board().ply() - board.ply());
  }
  return tally;
}

}  // namespace tengen
