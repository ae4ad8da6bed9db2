#include "search/fudan/point_scores.h"

#include <cassert>

#include "core/zobrist.h"

namespace tengen::fudan {

PointScores::PointScores(const ScoreOptions& options, const Board& board)
    : geometry_(&board.geometry()),
      dictionary_(&ScoreDictionary::of(options.keys)),
      table_(options.evaluation == Evaluation::kTable ? &LineTable::of(options.keys) : nullptr),
      only_five_wins_(board.rules().rule == Rule::kStandard),
      blocked_update_(options.blocked_update),
      peer_update_(options.peer_update && options.evaluation == Evaluation::kDictionary) {
  for (int d = 0; d < kDirections; ++d)
    for (int line = 0; line < geometry_->line_count(d); ++line)
      for (int cell = 0; cell < 32; ++cell)
        if (cell_in_line(geometry_->empty_line(d, line), cell) == kWall) walls_[d][line] |= 1u << cell;

  for (Point p = 0; p < area(); ++p) {
    if (board.is_empty(p)) continue;
    cells_[p] = board.at(p);
    toggle(p, static_cast<Colour>(board.at(p) - 1));
    count_neighbours(p, +1);
    ++stones_;
  }
  for (Point p = 0; p < area(); ++p)
    for (const Colour colour : {kBlack, kWhite}) {
      if (cells_[p] == stone(opponent(colour))) continue;
      for (int d = 0; d < kDirections; ++d) set(colour, p, d, compute(colour, p, d));
    }
}

void PointScores::toggle(Point point, Colour colour) {
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = geometry_->place(d, point);
    lines_[colour][d][place.line] ^= 1u << place.offset;
  }
  hash_ ^= kZobrist.stone[colour][point];
}

void PointScores::count_neighbours(Point point, int change) {
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      const int x = geometry_->x(point) + dx;
      const int y = geometry_->y(point) + dy;
      if (!geometry_->contains(x, y)) continue;
      const Point p = geometry_->point(x, y);
      stones_near_[p] = static_cast<std::uint8_t>(stones_near_[p] + change);
      if (is_empty(p) && stones_near_[p] > 0)
        neighbours_.add(p);
      else
        neighbours_.remove(p);
    }
}

void PointScores::place(Point point, Colour colour) {
  assert(is_empty(point));
  cells_[point] = stone(colour);
  ++stones_;
  toggle(point, colour);
  count_neighbours(point, +1);
  stone_sums_[colour] += totals_[colour][point];
  scores_[opponent(colour)][point].fill(0);
  totals_[opponent(colour)][point] = 0;
  update_lines(point);
}

void PointScores::remove(Point point) {
  assert(!is_empty(point));
  const auto colour = static_cast<Colour>(cells_[point] - 1);
  stone_sums_[colour] -= totals_[colour][point];
  cells_[point] = kEmpty;
  --stones_;
  toggle(point, colour);
  count_neighbours(point, -1);
  const Colour other = opponent(colour);
  for (int d = 0; d < kDirections; ++d) set(other, point, d, compute(other, point, d));
  update_lines(point);
}

void PointScores::update_lines(Point point) {
  for (int d = 0; d < kDirections; ++d)
    for (const int step : {-1, 1}) update_side(point, d, step);
}

void PointScores::update_side(Point point, int direction, int step) {
  const LinePlace place = geometry_->place(direction, point);
  const std::uint32_t walls = walls_[direction][place.line];
  const int index_step = step * geometry_->step(direction);
  // With standard rules, the fifth cell decides between five and six.
  const int reach = table_ ? LineTable::kReach + only_five_wins_ : kDictionaryReach;
  bool is_open[2] = {true, true};
  Point before = point;
  for (int distance = 1; distance <= reach; ++distance) {
    if (walls >> (place.offset + step * distance) & 1) return;
    const auto here = static_cast<Point>(before + index_step);
    for (const Colour colour : {kBlack, kWhite}) {
      if (cells_[here] == stone(opponent(colour))) {
        if (blocked_update_) is_open[colour] = false;
      } else if (is_open[colour]) {
        const bool are_peers = cells_[here] == stone(colour) && cells_[before] == stone(colour);
        set(colour, here, direction,
            peer_update_ && are_peers ? scores_[colour][before][direction] : compute(colour, here, direction));
      }
    }
    if (!is_open[kBlack] && !is_open[kWhite]) return;
    before = here;
  }
}

Score PointScores::compute(Colour colour, Point point, int direction) const {
  const LinePlace place = geometry_->place(direction, point);
  const LineBits line{lines_[colour][direction][place.line],
                      lines_[opponent(colour)][direction][place.line] | walls_[direction][place.line]};
  return table_ ? table_->score(line, place.offset, only_five_wins_)
                : score_line(*dictionary_, line, place.offset, only_five_wins_);
}

void PointScores::set(Colour colour, Point point, int direction, Score score) {
  const Score change = score - scores_[colour][point][direction];
  scores_[colour][point][direction] = score;
  totals_[colour][point] += change;
  if (cells_[point] == stone(colour)) stone_sums_[colour] += change;
}

}  // namespace tengen::fudan
