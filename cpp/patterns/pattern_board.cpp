#include "patterns/pattern_board.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "core/assert.h"
#include "core/cpu_dispatch.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

// The candidate points around a stone: at most two columns and rows away, or at most four steps along a line.
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

// Maximum number of points that one stone can change: those within reach along its lines.
constexpr std::size_t kMaxChanges = std::size_t{kDirections} * 2 * 5;

}  // namespace

constexpr std::array<PatternBoard::PointClass, threat::kCount> PatternBoard::make_classes() {
  std::array<PointClass, threat::kCount> classes{};
  for (const Threat t : {threat::kThree, threat::kThreePlus, threat::kDoubleThree}) classes[t] = kThrees;
  for (const Threat t : {threat::kFour, threat::kFourPlus, threat::kFourThree, threat::kOpenFour}) classes[t] = kFours;
  classes[threat::kFive] = kFives;
  classes[threat::kForbidden] = kDoubtful;
  return classes;
}

constexpr std::array<PatternBoard::PointClass, threat::kCount> PatternBoard::kClassOf = make_classes();

PatternBoard::PatternBoard(const Board& board, const PointValues& values, const PointFeatures* features)
    : board_(board),
      tables_(&PatternTables::of(board.rules().rule, board.rules().win_length)),
      shape_codes_(&ShapeCodes::instance()),
      values_(&values),
      features_(features),
      neighbours_(neighbourhoods(board.geometry()).data()) {
  changes_.resize(static_cast<std::size_t>(board.rules().area()) * kMaxChanges);
  summaries_.reserve(static_cast<std::size_t>(board.rules().area()) + 1);
  summaries_.emplace_back();
  refresh_all();
}

inline PatternBoard::Offer PatternBoard::offer_of(std::uint32_t shapes) const {
  std::uint64_t bits = shapes;
  for (const Colour colour : {kBlack, kWhite}) {
    const std::uint32_t own = shapes >> (4 * colour);
    const ShapeCode code = shape_codes_->code(own & 15u, own >> 8 & 15u, own >> 16 & 15u, own >> 24 & 15u);
    bits |= std::uint64_t{code} << (32 + 12 * colour);
    bits |= std::uint64_t{tables_->threat_of(colour, code)} << (56 + 4 * colour);
  }
  return {bits};
}

inline PatternBoard::Offer PatternBoard::offer_at(const Board& board, Point p) const {
  std::uint32_t shapes = 0;
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = geometry().place(d, p);
    shapes |= std::uint32_t{tables_->shapes_at(board.line(d, place.line), place.offset)} << (8 * d);
  }
  return offer_of(shapes);
}

void PatternBoard::refresh_all() {
  Summary& summary = summaries_.back();
  const Board bare(rules());
  for (Point p = 0; p < rules().area(); ++p) {
    if (features_) add_features<-1>(summary.features, offer_at(bare, p));
    offers_[p] = offer_of(0);
    if (!is_empty(p)) {
      summary.occupied.add(p);
      summary.near |= neighbours_[p];
      continue;
    }
    offers_[p] = offer_at(board_, p);
    count_in(summary, p);
  }
}

template <int Sign>
inline void PatternBoard::add_features(std::array<Features, 2>& sums, Offer offer) const {
  for (const Colour colour : {kBlack, kWhite})
    sums[colour].add_positive<Sign>(features_->own[colour][offer.code(colour)],
                                    features_->other[colour][offer.code(opponent(colour))]);
}

// Add the threats and values of an empty point to the counts, sets and sums.
void PatternBoard::count_in(Summary& summary, Point p) const {
  for (const Colour colour : {kBlack, kWhite}) {
    const Threat t = threat(colour, p);
    ++summary.counts[colour][t];
    summary.sets[colour][kClassOf[t]].toggle(p);
    summary.value_sum += sign(colour) * values_->value[colour][code(colour, p)];
  }
  if (features_) add_features<1>(summary.features, offers_[p]);
}

void PatternBoard::count_out(Summary& summary, Point p) const {
  for (const Colour colour : {kBlack, kWhite}) {
    const Threat t = threat(colour, p);
    --summary.counts[colour][t];
    summary.sets[colour][kClassOf[t]].toggle(p);
    summary.value_sum -= sign(colour) * values_->value[colour][code(colour, p)];
  }
  if (features_) add_features<-1>(summary.features, offers_[p]);
}

// Update the points within reach of `point`. These are the hottest loops in the engine. Branches are hard to predict
// here, so the loops do the same work for every point and branch as little as possible.
void PatternBoard::refresh_around(Summary& summary, Point point) {
  struct NewShape {
    Point point;
    std::uint32_t shapes;
  };
  std::array<NewShape, kMaxChanges + 1> news;
  std::size_t count = 0;
  const int reach = tables_->reach();
  for (int d = 0; d < kDirections; ++d) {
    const LinePlace place = geometry().place(d, point);
    const std::uint64_t line = board_.line(d, place.line);
    const int step = geometry().step(d);
    // Walls are not empty, so every empty cell within reach is on the board.
    const int first = place.offset - reach;
    const std::uint64_t reached = (1ull << (4 * reach + 2)) - 1;
    std::uint64_t empties = ~(line | line >> 1) & 0x5555555555555555ull & (reached << (2 * first));
    for (; empties; empties &= empties - 1) {
      const int offset = std::countr_zero(empties) / 2;
      const auto p = static_cast<Point>(point + (offset - place.offset) * step);
      const std::uint32_t before = offers_[p].shapes();
      const std::uint32_t shapes = (before & ~(0xFFu << (8 * d))) | std::uint32_t{tables_->shapes_at(line, offset)}
                                                                        << (8 * d);
      news[count] = {p, shapes};
      count += shapes != before;
    }
  }
  Change* change = changes_.data() + change_count_;
  change_count_ += count;
  int value_sum = summary.value_sum;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [p, shapes] = news[i];
    const Offer before = offers_[p];
    const Offer after = offer_of(shapes);
    *change++ = {p, before};
    offers_[p] = after;
    for (const Colour colour : {kBlack, kWhite}) {
      const auto& value = values_->value[colour];
      value_sum += sign(colour) * (value[after.code(colour)] - value[before.code(colour)]);
      --summary.counts[colour][before.threat(colour)];
      ++summary.counts[colour][after.threat(colour)];
      summary.sets[colour][kClassOf[before.threat(colour)]].toggle(p);
      summary.sets[colour][kClassOf[after.threat(colour)]].toggle(p);
    }
  }
  summary.value_sum = value_sum;
  if (features_) refresh_features(summary);
}

TENGEN_CPU_DISPATCH void PatternBoard::refresh_features(Summary& summary) const {
  std::array<Features, 2> features = summary.features;
  for (std::size_t i = summary.first_change; i < change_count_; ++i) {
    add_features<-1>(features, changes_[i].before);
    add_features<1>(features, offers_[changes_[i].point]);
  }
  summary.features = features;
}

void PatternBoard::make(Point point) {
  summaries_.push_back(summaries_.back());
  Summary& summary = summaries_.back();
  summary.first_change = static_cast<std::uint32_t>(change_count_);
  // The point no longer counts, but its entry in offers_ is kept for unmake.
  count_out(summary, point);
  board_.make(point);
  summary.occupied.add(point);
  summary.near |= neighbours_[point];
  refresh_around(summary, point);
  TENGEN_ASSERT(check().empty());
}

void PatternBoard::unmake() {
  TENGEN_ASSERT(can_unmake());
  board_.unmake();
  // A move changes each point at most once, so the order does not matter.
  const std::size_t first_change = summaries_.back().first_change;
  for (std::size_t i = first_change; i < change_count_; ++i) offers_[changes_[i].point] = changes_[i].before;
  change_count_ = first_change;
  summaries_.pop_back();
  TENGEN_ASSERT(check().empty());
}

void PatternBoard::check_can_unmake() const {
  if (!can_unmake()) throw std::invalid_argument("this board has no move to undo");
}

LineShape PatternBoard::shape_if_blocked(Colour colour, int direction, Point p, Point block) const {
  const LinePlace place = geometry().place(direction, p);
  const LinePlace other = geometry().place(direction, block);
  TENGEN_ASSERT(place.line == other.line && is_empty(p) && is_empty(block));
  const std::uint64_t line = board_.line(direction, place.line) | static_cast<std::uint64_t>(stone(opponent(colour)))
                                                                      << (2 * other.offset);
  const std::uint8_t packed = tables_->shapes_at(line, place.offset);
  return static_cast<LineShape>(colour == kBlack ? packed & 15 : packed >> 4);
}

PointSet PatternBoard::candidates() const {
  PointSet set = now().near;
  if (board_.stones() == 0) set.add(geometry().point(rules().width / 2, rules().height / 2));
  return set.remove_all(now().occupied);
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
  const PatternBoard again(board_, *values_, features_);
  for (Point p = 0; p < rules().area(); ++p) {
    if (!is_empty(p)) continue;
    for (const Colour colour : {kBlack, kWhite}) {
      for (int d = 0; d < kDirections; ++d)
        if (shape(colour, d, p) != again.shape(colour, d, p)) return "a shape is stale";
      if (code(colour, p) != again.code(colour, p)) return "a code is stale";
      if (threat(colour, p) != again.threat(colour, p)) return "a threat is stale";
    }
  }
  if (now().counts != again.now().counts) return "the threat counts are wrong";
  if (now().value_sum != again.now().value_sum) return "the value sum is wrong";
  if (now().features != again.now().features) return "the features are wrong";
  Summary same = now();
  same.first_change = 0;
  if (same != again.now()) return "a point set is wrong";
  return board_.check();
}

}  // namespace tengen
