#include "core/board.h"

#include <stdexcept>

#include "core/assert.h"
#include "core/checked.h"
#include "core/zobrist.h"

namespace tengen {

Board::Board(const Rules& rules) : rules_(rules), geometry_(&Geometry::of(rules.width, rules.height)) {
  for (int d = 0; d < kDirections; ++d)
    for (int line = 0; line < kMaxLines; ++line) lines_[d][line] = geometry_->empty_line(d, line);
}

void Board::toggle(Point point, Colour colour) {
  const auto bits = static_cast<std::uint64_t>(stone(colour));
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = geometry_->place(d, point);
    lines_[d][place.line] ^= bits << (2 * place.offset);
  }
  hash_ ^= kZobrist.stone[colour][point];
}

void Board::make(Point point) {
  TENGEN_ASSERT(point < rules_.area() && is_empty(point) && !is_over());
  const Colour mover = to_move_;
  cells_[point] = stone(mover);
  toggle(point, mover);
  moves_[ply_++] = point;
  ++stones_;
  to_move_ = opponent(mover);
  hash_ ^= kZobrist.white_to_move;
  if (wins_through(point, mover))
    outcome_ = win_for(mover);
  else if (empties() == 0)
    outcome_ = Outcome::kDraw;
  TENGEN_ASSERT(check().empty());
}

void Board::unmake() {
  TENGEN_ASSERT(ply_ > 0);
  const Point point = moves_[--ply_];
  to_move_ = opponent(to_move_);
  hash_ ^= kZobrist.white_to_move;
  --stones_;
  toggle(point, to_move_);
  cells_[point] = kEmpty;
  outcome_ = Outcome::kOngoing;
  TENGEN_ASSERT(check().empty());
}

void Board::pass() {
  to_move_ = opponent(to_move_);
  hash_ ^= kZobrist.white_to_move;
}

bool Board::would_win(Point point, Colour colour) const { return wins_through(point, colour); }

bool Board::wins_through(Point point, Colour colour) const {
  const Cell enemy = stone(opponent(colour));
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = geometry_->place(d, point);
    const Run run = run_through(lines_[d][place.line], place.offset, colour);
    if (run.length < rules_.win_length) continue;
    if (rules_.line_wins(run.length, colour, run.low_end == enemy && run.high_end == enemy)) return true;
  }
  return false;
}

void Board::add_stone(Point point, Colour colour) {
  TENGEN_ASSERT(ply_ == 0 && is_empty(point));
  cells_[point] = stone(colour);
  toggle(point, colour);
  ++stones_;
}

bool Board::finish_setup(Colour to_move) {
  if (to_move != to_move_) hash_ ^= kZobrist.white_to_move;
  to_move_ = to_move;
  bool won[2] = {false, false};
  for (Point p = 0; p < rules_.area(); ++p) {
    if (cells_[p] == kEmpty) continue;
    const auto colour = static_cast<Colour>(cells_[p] - 1);
    won[colour] = won[colour] || wins_through(p, colour);
  }
  if (won[kBlack] && won[kWhite]) return false;
  outcome_ = won[kBlack]      ? Outcome::kBlackWins
             : won[kWhite]    ? Outcome::kWhiteWins
             : empties() == 0 ? Outcome::kDraw
                              : Outcome::kOngoing;
  return true;
}

void Board::set_up(const std::vector<int>& black, const std::vector<int>& white, Colour to_move) {
  if (stones_ > 0) throw std::invalid_argument("the board is not empty");
  for (const int index : black) add_stone(checked_empty_point(*this, index), kBlack);
  for (const int index : white) add_stone(checked_empty_point(*this, index), kWhite);
  if (!finish_setup(to_move)) throw std::invalid_argument("both colours have won");
}

std::vector<Point> Board::winning_line() const {
  if (outcome_ != Outcome::kBlackWins && outcome_ != Outcome::kWhiteWins) return {};
  const Colour colour = outcome_ == Outcome::kBlackWins ? kBlack : kWhite;
  const Cell enemy = stone(opponent(colour));
  for (Point p = 0; p < rules_.area(); ++p) {
    if (cells_[p] != stone(colour)) continue;
    for (int d = 0; d < kDirections; ++d) {
      const LinePlace place = geometry_->place(d, p);
      const Run run = run_through(lines_[d][place.line], place.offset, colour);
      if (!rules_.line_wins(run.length, colour, run.low_end == enemy && run.high_end == enemy)) continue;
      std::vector<Point> points(static_cast<std::size_t>(run.length));
      for (int i = 0; i < run.length; ++i)
        points[static_cast<std::size_t>(i)] = static_cast<Point>(p + (i - run.below) * geometry_->step(d));
      return points;
    }
  }
  return {};
}

std::string Board::check() const {
  Board again(rules_);
  int ply_stones = 0;
  for (Point p = 0; p < rules_.area(); ++p) {
    if (cells_[p] == kEmpty) continue;
    again.add_stone(p, static_cast<Colour>(cells_[p] - 1));
    ++ply_stones;
  }
  if (!again.finish_setup(to_move_)) return "both colours have won";
  if (ply_stones != stones_) return "the stone count is wrong";
  if (again.lines_ != lines_) return "the line keys do not match the stones";
  if (again.hash_ != hash_) return "the hash does not match the stones";
  if (again.outcome_ != outcome_) return "the outcome does not match the stones";
  for (int i = 0; i < ply_; ++i)
    if (cells_[moves_[i]] == kEmpty) return "a move in the history has no stone on the board";
  return {};
}

}  // namespace tengen
