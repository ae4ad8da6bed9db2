#include "patterns/shapes.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

namespace tengen {
namespace {

// A cell in a window around a point, as seen by the owner of the stone in the middle.
enum Seen : std::uint8_t { kFree, kOwn, kEnemy, kEdge };

// Finds the shape of a window by trying every additional stone. Results are memoised.
class ShapeFinder {
 public:
  ShapeFinder(Rules rules, Colour owner, int reach)
      : rules_(rules), owner_(owner), reach_(reach), memo_(std::size_t{1} << (4 * reach), kUnknown) {}

  // `side_cells` holds two bits per cell in the order of a line key, without the cell in the middle.
  LineShape find(std::uint32_t side_cells) {
    std::uint8_t& memo = memo_[side_cells];
    if (memo == kUnknown) memo = classify(side_cells);
    return static_cast<LineShape>(memo);
  }

 private:
  static constexpr std::uint8_t kUnknown = 0xFF;

  int cells() const { return 2 * reach_; }
  static Seen cell(std::uint32_t window, int i) { return static_cast<Seen>((window >> (2 * i)) & 3); }
  static std::uint32_t with(std::uint32_t window, int i, Seen seen) { return window | std::uint32_t{seen} << (2 * i); }

  // Whether the line through the middle wins. The neighbours of the middle are the cells reach_ - 1 and reach_.
  bool wins(std::uint32_t window, bool& too_long) const {
    int low = reach_ - 1;
    int high = reach_;
    while (low >= 0 && cell(window, low) == kOwn) --low;
    while (high < cells() && cell(window, high) == kOwn) ++high;
    const int length = high - low;
    too_long = length > rules_.win_length;
    const bool closed = low >= 0 && cell(window, low) == kEnemy && high < cells() && cell(window, high) == kEnemy;
    return rules_.line_wins(length, owner_, closed);
  }

  bool wins(std::uint32_t window) const {
    bool ignored = false;
    return wins(window, ignored);
  }

  bool has_completion(std::uint32_t window) const {
    for (int i = 0; i < cells(); ++i)
      if (cell(window, i) == kFree && wins(with(window, i, kOwn))) return true;
    return false;
  }

  // Whether a completion remains after any single enemy stone. (Counting completions is not enough: in caro a stone can
  // block one completion and close the line for another.)
  bool is_unstoppable(std::uint32_t window) const {
    for (int i = 0; i < cells(); ++i)
      if (cell(window, i) == kFree && !has_completion(with(window, i, kEnemy))) return false;
    return true;
  }

  std::uint8_t classify(std::uint32_t window) {
    const bool fouls = rules_.rule == Rule::kRenju && owner_ == kBlack;
    bool too_long = false;
    if (wins(window, too_long)) return shape::kFive;
    if (too_long) return fouls ? shape::kFoulLine : shape::kNothing;

    int completions[2] = {0, 0};
    int fives = 0;
    int count[shape::kCount] = {};
    for (int i = 0; i < cells(); ++i) {
      if (cell(window, i) != kFree) continue;
      const LineShape next = find(with(window, i, kOwn));
      ++count[next];
      if (next == shape::kFive && fives < 2) completions[fives++] = i;
    }
    if (fives > 0) {
      // The two completions of four stones in a row are four window cells apart, because the window omits the middle
      // cell. Any other distance means two different fours in one line.
      if (fouls && fives == 2 && completions[1] - completions[0] != 4) return shape::kFoulLine;
      return is_unstoppable(window) ? shape::kOpenFour : shape::kFour;
    }
    const int open_threes = count[shape::kOpenThree] + count[shape::kOpenThreeBest];
    const int open_twos = count[shape::kOpenTwo] + count[shape::kOpenTwoGood] + count[shape::kOpenTwoBest];
    if (count[shape::kOpenFour] >= 2) return shape::kOpenThreeBest;
    if (count[shape::kOpenFour]) return shape::kOpenThree;
    if (count[shape::kFour]) return shape::kClosedThree;
    if (open_threes >= 4) return shape::kOpenTwoBest;
    if (open_threes == 3) return shape::kOpenTwoGood;
    if (open_threes) return shape::kOpenTwo;
    if (count[shape::kClosedThree]) return shape::kClosedTwo;
    if (open_twos) return shape::kOpenOne;
    if (count[shape::kClosedTwo]) return shape::kClosedOne;
    return shape::kNothing;
  }

  Rules rules_;
  Colour owner_;
  int reach_;
  std::vector<std::uint8_t> memo_;
};

// One side of a line key, as seen by each possible owner of the stone in the middle. Cells behind an enemy stone or the
// edge cannot change the shape of the middle. They are replaced by copies of the blocking cell, so that few different
// windows remain.
struct Side {
  std::uint32_t key = 0;
  std::array<std::uint32_t, 2> seen{};  // by colour
};

// Which side of the middle. The outermost cell is in the lowest bits of the low half and the highest of the high half.
enum class Half : std::uint8_t { kLow, kHigh };

std::uint32_t seen_by(Colour colour, std::uint32_t key, int reach, Half half) {
  std::uint32_t window = 0;
  Seen blocker = kFree;
  for (int distance = 1; distance <= reach; ++distance) {
    const int i = half == Half::kLow ? reach - distance : distance - 1;
    const auto cell = (key >> (2 * i)) & 3;
    Seen seen = cell == kEmpty ? kFree : cell == kWall ? kEdge : cell == stone(colour) ? kOwn : kEnemy;
    if (blocker != kFree) seen = blocker;
    if (seen == kEnemy || seen == kEdge) blocker = seen;
    window |= std::uint32_t{seen} << (2 * i);
  }
  return window;
}

// Whether a side can occur on a board. All cells outside the board are walls, so the walls have no gaps.
bool occurs(std::uint32_t key, int reach, Half half) {
  const auto cell = [&](int distance) {
    return (key >> (2 * (half == Half::kLow ? reach - distance : distance - 1))) & 3;
  };
  for (int distance = 2; distance <= reach; ++distance)
    if (cell(distance - 1) == kWall && cell(distance) != kWall) return false;
  return true;
}

std::vector<Side> list_sides(int reach, Half half) {
  std::vector<Side> sides;
  for (std::uint32_t key = 0; key < std::uint32_t{1} << (2 * reach); ++key)
    if (occurs(key, reach, half))
      sides.push_back({key, {seen_by(kBlack, key, reach, half), seen_by(kWhite, key, reach, half)}});
  return sides;
}

Threat combine(const std::array<std::uint8_t, 4>& shapes, bool fouls) {
  int n[shape::kCount] = {};
  for (const auto s : shapes) ++n[s];
  const int fours = n[shape::kFour] + n[shape::kOpenFour];
  const int threes = n[shape::kOpenThree] + n[shape::kOpenThreeBest];
  const int twos = n[shape::kOpenTwo] + n[shape::kOpenTwoGood] + n[shape::kOpenTwoBest];
  const int closed_threes = n[shape::kClosedThree];
  const bool more = twos + closed_threes > 0;

  if (n[shape::kFive]) return threat::kFive;
  if (fouls && (n[shape::kFoulLine] || fours >= 2 || threes >= 2)) return threat::kForbidden;
  if (n[shape::kOpenFour] || fours >= 2) return threat::kOpenFour;
  if (fours) return threes ? threat::kFourThree : more ? threat::kFourPlus : threat::kFour;
  if (threes >= 2) return threat::kDoubleThree;
  if (threes) return more ? threat::kThreePlus : threat::kThree;
  if (closed_threes) return closed_threes + twos > 1 ? threat::kClosedThreePlus : threat::kClosedThree;
  if (twos) return twos > 1 ? threat::kDoubleTwo : threat::kTwo;
  return threat::kNone;
}

}  // namespace

ShapeCodes::ShapeCodes() {
  std::array<std::array<int, 2>, kPairs> members{};
  int pair = 0;
  for (int a = 0; a < shape::kCount; ++a) {
    for (int b = a; b < shape::kCount; ++b, ++pair) {
      pairs_[a << 4 | b] = pairs_[b << 4 | a] = static_cast<std::uint8_t>(pair);
      members[pair] = {a, b};
    }
  }
  ShapeCode next = 0;
  std::vector<int> known(1 << 16, -1);
  for (int p = 0; p < kPairs; ++p) {
    for (int q = 0; q < kPairs; ++q) {
      std::array<std::uint8_t, 4> four{};
      four = {static_cast<std::uint8_t>(members[p][0]), static_cast<std::uint8_t>(members[p][1]),
              static_cast<std::uint8_t>(members[q][0]), static_cast<std::uint8_t>(members[q][1])};
      std::ranges::sort(four);
      int& code = known[four[0] << 12 | four[1] << 8 | four[2] << 4 | four[3]];
      if (code < 0) {
        shapes_[next] = four;
        code = next++;
      }
      codes_[p][q] = static_cast<ShapeCode>(code);
    }
  }
}

const ShapeCodes& ShapeCodes::instance() {
  static const ShapeCodes codes;
  return codes;
}

PatternTables::PatternTables(Rule rule, int win_length)
    : reach_(rule == Rule::kFreestyle ? 4 : 5), side_mask_((1ull << (2 * reach_)) - 1) {
  const Rules rules{kMaxSize, kMaxSize, win_length, rule};
  shapes_.assign(std::size_t{1} << (4 * reach_), 0);
  ShapeFinder black(rules, kBlack, reach_);
  ShapeFinder white(rules, kWhite, reach_);
  const std::vector<Side> high_sides = list_sides(reach_, Half::kHigh);
  for (const Side& low : list_sides(reach_, Half::kLow)) {
    for (const Side& high : high_sides) {
      const auto window = [&](Colour colour) { return low.seen[colour] | high.seen[colour] << (2 * reach_); };
      shapes_[low.key | high.key << (2 * reach_)] =
          static_cast<std::uint8_t>(black.find(window(kBlack)) | white.find(window(kWhite)) << 4);
    }
  }
  const ShapeCodes& codes = ShapeCodes::instance();
  for (int code = 0; code < kShapeCodes; ++code) {
    const auto& four = codes.shapes(static_cast<ShapeCode>(code));
    threats_[kBlack][code] = combine(four, rule == Rule::kRenju);
    threats_[kWhite][code] = combine(four, false);
  }
}

const PatternTables& PatternTables::of(Rule rule, int win_length) {
  static std::mutex mutex;
  static std::unique_ptr<PatternTables> cache[5][2];
  if (!exist_for(win_length))
    throw std::invalid_argument("patterns support only win lengths 4 and 5, not " + std::to_string(win_length));
  const std::lock_guard lock(mutex);
  auto& entry = cache[static_cast<int>(rule)][win_length - 4];
  if (!entry) entry = std::make_unique<PatternTables>(rule, win_length);
  return *entry;
}

}  // namespace tengen
