#include "patterns/pattern_board.h"

#include <cassert>
#include <memory>
#include <mutex>

#include "patterns/legality.h"

namespace tengen {
namespace {

// Points worth a look around a stone: two steps in every direction, and up to four along its lines.
std::vector<PointSet> make_neighbourhoods(const Geometry& geometry) {
  std::vector<PointSet> sets(static_cast<std::size_t>(geometry.area()));
  for (Point p = 0; p < geometry.area(); ++p) {
    const int px = geometry.x(p);
    const int py = geometry.y(p);
    const auto add = [&](int x, int y) {
      if (geometry.contains(x, y)) sets[p].add(geometry.point(x, y));
    };
    for (int dy = -2; dy <= 2; ++dy)
      for (int dx = -2; dx <= 2; ++dx) add(px + dx, py + dy);
    for (int d = 0; d < kDirections; ++d)
      for (int i = -4; i <= 4; ++i) add(px + i * kStepX[d], py + i * kStepY[d]);
  }
  return sets;
}

const std::vector<PointSet>& neighbourhoods(const Geometry& geometry) {
  static std::mutex mutex;
  static std::unique_ptr<std::vector<PointSet>> cache[kMaxSize + 1][kMaxSize + 1];
  const std::lock_guard lock(mutex);
  auto& entry = cache[geometry.width()][geometry.height()];
  if (!entry) entry = std::make_unique<std::vector<PointSet>>(make_neighbourhoods(geometry));
  return *entry;
}

constexpr bool offers_four(Threat t) { return t >= threat::kFour && t != threat::kFive; }
constexpr bool offers_three(Threat t) { return t >= threat::kThree && t <= threat::kDoubleThree; }

}  // namespace

PatternBoard::PatternBoard(const Board& board, const PointValues& values)
    : board_(board),
      tables_(&PatternTables::of(board.rules().rule, board.rules().win_length)),
      shape_codes_(&ShapeCodes::instance()),
      values_(&values),
      neighbours_(neighbourhoods(board.geometry()).data()) {
  refresh_all();
  changes_.reserve(64 * 128);
  first_change_.reserve(static_cast<std::size_t>(board.rules().area()) + 1);
  near_.reserve(static_cast<std::size_t>(board.rules().area()) + 1);
  PointSet near;
  for (Point p = 0; p < board.rules().area(); ++p) {
    if (board.is_empty(p)) continue;
    near |= neighbours_[p];
    occupied_.add(p);
  }
  near_.push_back(near);
}

void PatternBoard::refresh_all() {
  const ShapeCode nothing = shape_codes_->code(0, 0, 0, 0);
  for (Point p = 0; p < rules().area(); ++p) {
    for (const Colour colour : {kBlack, kWhite}) codes_[colour][p] = nothing;
    if (!is_empty(p)) continue;
    for (int d = 0; d < kDirections; ++d) {
      const LinePlace place = geometry().place(d, p);
      shapes_[d][p] = tables_->shapes_at(board_.line(d, place.line), place.offset);
    }
    for (const Colour colour : {kBlack, kWhite}) {
      codes_[colour][p] =
          shape_codes_->code(shape(colour, 0, p), shape(colour, 1, p), shape(colour, 2, p), shape(colour, 3, p));
      threats_[colour][p] = tables_->threat_of(colour, codes_[colour][p]);
      count_in(colour, p);
    }
  }
}

// Enter a point into the counts, sets and sum with the threat and code it has.
void PatternBoard::count_in(Colour colour, Point p) {
  const Threat t = threat(colour, p);
  ++counts_[colour][t];
  toggle_sets(colour, p, t);
  value_sum_ += sign(colour) * values_->value[colour][codes_[colour][p]];
}

void PatternBoard::count_out(Colour colour, Point p) {
  const Threat t = threat(colour, p);
  --counts_[colour][t];
  toggle_sets(colour, p, t);
  value_sum_ -= sign(colour) * values_->value[colour][codes_[colour][p]];
}

void PatternBoard::toggle_sets(Colour colour, Point p, Threat t) {
  if (t == threat::kFive)
    fives_[colour].toggle(p);
  else if (offers_four(t))
    fours_[colour].toggle(p);
  else if (offers_three(t))
    threes_[colour].toggle(p);
  else if (t == threat::kForbidden)
    doubtful_.toggle(p);
}

void PatternBoard::set_code(Colour colour, Point p, ShapeCode code) {
  const ShapeCode old_code = codes_[colour][p];
  if (old_code == code) return;
  codes_[colour][p] = code;
  const auto& value = values_->value[colour];
  value_sum_ += sign(colour) * (value[code] - value[old_code]);
  const Threat old_threat = threat(colour, p);
  const Threat new_threat = tables_->threat_of(colour, code);
  if (old_threat == new_threat) return;
  threats_[colour][p] = new_threat;
  --counts_[colour][old_threat];
  ++counts_[colour][new_threat];
  toggle_sets(colour, p, old_threat);
  toggle_sets(colour, p, new_threat);
}

void PatternBoard::refresh_around(Point point) {
  const int reach = tables_->reach();
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = geometry().place(d, point);
    const std::uint64_t line = board_.line(d, place.line);
    const int step = geometry().step(d);
    auto& shapes = shapes_[d];
    // Walls are not empty, so the loop needs no bounds: it only visits empty cells, and all of them are on the board.
    for (int i = -reach; i <= reach; ++i) {
      if (cell_in_line(line, place.offset + i) != kEmpty) continue;
      const auto p = static_cast<Point>(point + i * step);
      const std::uint8_t packed = tables_->shapes_at(line, place.offset + i);
      const std::uint8_t old = shapes[p];
      if (packed == old) continue;
      changes_.push_back({p, static_cast<std::uint8_t>(d), old, {codes_[kBlack][p], codes_[kWhite][p]}});
      shapes[p] = packed;
      const int s0 = shapes_[0][p];
      const int s1 = shapes_[1][p];
      const int s2 = shapes_[2][p];
      const int s3 = shapes_[3][p];
      if ((packed ^ old) & 0x0F) set_code(kBlack, p, shape_codes_->code(s0 & 15, s1 & 15, s2 & 15, s3 & 15));
      if ((packed ^ old) & 0xF0) set_code(kWhite, p, shape_codes_->code(s0 >> 4, s1 >> 4, s2 >> 4, s3 >> 4));
    }
  }
}

void PatternBoard::make(Point point) {
  first_change_.push_back(static_cast<std::uint32_t>(changes_.size()));
  // An occupied point offers nothing; its shapes stay as they were, so that unmake only counts it in again.
  count_out(kBlack, point);
  count_out(kWhite, point);
  board_.make(point);
  occupied_.add(point);
  refresh_around(point);
  near_.push_back(near_.back() | neighbours_[point]);
#ifdef TENGEN_CHECKS
  assert(check().empty());
#endif
}

void PatternBoard::unmake() {
  const Point point = board_.last_move();
  const std::size_t first_change = first_change_.back();
  first_change_.pop_back();
  near_.pop_back();
  board_.unmake();
  occupied_.remove(point);
  while (changes_.size() > first_change) {
    const Change& change = changes_.back();
    shapes_[change.direction][change.point] = change.shapes;
    set_code(kBlack, change.point, change.codes[kBlack]);
    set_code(kWhite, change.point, change.codes[kWhite]);
    changes_.pop_back();
  }
  count_in(kBlack, point);
  count_in(kWhite, point);
#ifdef TENGEN_CHECKS
  assert(check().empty());
#endif
}

LineShape PatternBoard::shape_if_blocked(Colour colour, int direction, Point p, Point block) const {
  const LinePlace place = geometry().place(direction, p);
  const LinePlace other = geometry().place(direction, block);
  assert(place.line == other.line);
  const std::uint64_t line = board_.line(direction, place.line) | static_cast<std::uint64_t>(stone(opponent(colour)))
                                                                      << (2 * other.offset);
  const std::uint8_t packed = tables_->shapes_at(line, place.offset);
  return static_cast<LineShape>(colour == kBlack ? packed & 15 : packed >> 4);
}

PointSet PatternBoard::candidates() const {
  PointSet set = near_.back();
  if (board_.stones() == 0) set.add(geometry().point(rules().width / 2, rules().height / 2));
  return set.remove_all(occupied_);
}

Threat PatternBoard::threat_with(Colour colour, Point p, int direction, LineShape other) const {
  std::uint8_t s[kDirections];
  for (int d = 0; d < kDirections; ++d) s[d] = d == direction ? other : shape(colour, d, p);
  return tables_->threat_of(colour, shape_codes_->code(s[0], s[1], s[2], s[3]));
}

bool PatternBoard::is_legal(Colour colour, Point p) const {
  return colour == kWhite || threat(kBlack, p) != threat::kForbidden || foul_at(board_, p) == Foul::kNone;
}

std::string PatternBoard::check() const {
  const PatternBoard again(board_, *values_);
  for (Point p = 0; p < rules().area(); ++p) {
    if (!is_empty(p)) continue;
    for (const Colour colour : {kBlack, kWhite}) {
      for (int d = 0; d < kDirections; ++d)
        if (shape(colour, d, p) != again.shape(colour, d, p)) return "a shape is stale";
      if (code(colour, p) != again.code(colour, p)) return "a code is stale";
      if (threat(colour, p) != again.threat(colour, p)) return "a threat is stale";
    }
  }
  if (counts_ != again.counts_) return "the threat counts are off";
  if (fives_ != again.fives_ || fours_ != again.fours_ || threes_ != again.threes_ || doubtful_ != again.doubtful_)
    return "a point set is off";
  if (value_sum_ != again.value_sum_) return "the value sum is off";
  if (candidates() != again.candidates()) return "the candidates are off";
  return board_.check();
}

}  // namespace tengen
