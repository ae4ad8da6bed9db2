// A board that maintains, for every empty point and both colours, the shapes and the threat that a stone would make.
//
// make and unmake update only the points within reach of the stone. They also update the number of points that offer
// each threat, the sets of points that offer a five, a four or a three, the sum of point values, and the candidates.
// All tactical queries in a search are then lookups.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/board.h"
#include "core/point_set.h"
#include "patterns/shapes.h"

namespace tengen {

// Value of an empty point for a colour, by the code of its four shapes. Supplied by eval/.
struct PointValues {
  std::array<std::array<std::int16_t, kShapeCodes>, 2> value{};
};

// Features of the whole board for one side: sums over the empty points, minus the same sums for the empty board. Points
// far from all stones therefore contribute nothing, and the features do not depend on the board size.
inline constexpr int kFeatures = 16;
struct alignas(32) Features {
  std::array<std::int16_t, kFeatures> values{};

  // Add Sign * max(0, a + b), element by element.
  template <int Sign>
  void add_positive(const Features& a, const Features& b) {
#ifdef __GNUC__
    // Explicit vectors, because compilers do not vectorise the loop below.
    using Lanes [[gnu::vector_size(2 * kFeatures), gnu::may_alias]] = std::int16_t;
    const Lanes sum = *reinterpret_cast<const Lanes*>(&a) + *reinterpret_cast<const Lanes*>(&b);
    const Lanes positive = sum & (sum > 0);
    *reinterpret_cast<Lanes*>(this) += Sign > 0 ? positive : -positive;
#else
    for (int i = 0; i < kFeatures; ++i)
      values[i] = static_cast<std::int16_t>(values[i] + Sign * std::max(0, a.values[i] + b.values[i]));
#endif
  }

  bool operator==(const Features&) const = default;
};

// The contribution of an empty point to a side's features, element by element: max(0, own[code of the side] +
// other[code of its opponent]). The first index is the side. Supplied by eval/.
struct PointFeatures {
  std::array<std::array<Features, kShapeCodes>, 2> own{};
  std::array<std::array<Features, kShapeCodes>, 2> other{};
};

class PatternBoard {
 public:
  // `values` and `features` must outlive the board. Without `features`, the board maintains none. Throws
  // std::invalid_argument if there are no patterns for the win length (see PatternTables::of).
  PatternBoard(const Board& board, const PointValues& values, const PointFeatures* features = nullptr);

  const Board& board() const { return board_; }
  const Rules& rules() const { return board_.rules(); }
  const Geometry& geometry() const { return board_.geometry(); }
  int reach() const { return tables_->reach(); }
  Colour to_move() const { return board_.to_move(); }
  bool is_empty(Point p) const { return board_.is_empty(p); }
  std::uint64_t hash() const { return board_.hash(); }

  void make(Point point);
  void unmake();
  // Whether there is a move to undo. Moves made before the construction of this board cannot be undone.
  bool can_unmake() const { return summaries_.size() > 1; }
  // Throws std::invalid_argument if there is no move to undo.
  void check_can_unmake() const;
  void pass() { board_.pass(); }

  // The threat, shape and shape code that a stone of `colour` would make on the empty point.
  Threat threat(Colour colour, Point p) const { return offers_[p].threat(colour); }
  LineShape shape(Colour colour, int direction, Point p) const { return offers_[p].shape(colour, direction); }
  ShapeCode code(Colour colour, Point p) const { return offers_[p].code(colour); }

  // The shape that `colour` would make on `p` if the opponent had a stone on `block`, an empty point on the same line.
  LineShape shape_if_blocked(Colour colour, int direction, Point p, Point block) const;

  // Number of empty points that offer exactly this threat.
  int count(Colour colour, Threat threat) const { return now().counts[colour][threat]; }

  // Empty points where a stone of `colour` makes five; a four of any kind; an open three but no four.
  // Points that may be fouls are in none of these sets: see doubtful().
  const PointSet& fives(Colour colour) const { return now().sets[colour][kFives]; }
  const PointSet& fours(Colour colour) const { return now().sets[colour][kFours]; }
  const PointSet& threes(Colour colour) const { return now().sets[colour][kThrees]; }

  // Empty points where black in renju may commit a foul.
  const PointSet& doubtful() const { return now().sets[kBlack][kDoubtful]; }

  // Whether a stone of `colour` makes a four along some line. At doubtful points, `threat` is kForbidden, so the
  // shapes decide.
  bool makes_four(Colour colour, Point p) const {
    for (int d = 0; d < kDirections; ++d)
      if (shape(colour, d, p) == shape::kFour || shape(colour, d, p) == shape::kOpenFour) return true;
    return false;
  }

  // Empty points near a stone, or the centre of an empty board.
  PointSet candidates() const;
  // Points near `point`, including occupied ones.
  const PointSet& neighbourhood(Point point) const { return neighbours_[point]; }
  const PointSet& occupied() const { return now().occupied; }

  // The threat that `p` would offer if its shape along `direction` were `other`.
  Threat threat_with(Colour colour, Point p, int direction, LineShape other) const;

  // Sum of point values, black minus white.
  int value_sum() const { return now().value_sum; }

  bool has_features() const { return features_ != nullptr; }
  // The features of the board for `colour`. Requires has_features().
  const Features& features(Colour colour) const { return now().features[colour]; }

  // Whether `colour` may play the empty point `p`. Only doubtful points need the exact foul finder.
  bool is_legal(Colour colour, Point p) const;

  // Compare the incremental state with the stones. Returns an empty string, or a description of the error.
  std::string check() const;

 private:
  // The shapes, codes and threats of one empty point, packed into one word: a byte of shapes per direction (black in
  // the low four bits, white in the high four), then twelve bits of code per colour, then four bits of threat per
  // colour.
  struct Offer {
    std::uint64_t bits = 0;

    std::uint32_t shapes() const { return static_cast<std::uint32_t>(bits); }
    LineShape shape(Colour colour, int direction) const {
      return static_cast<LineShape>(bits >> (8 * direction + 4 * colour) & 15);
    }
    ShapeCode code(Colour colour) const { return static_cast<ShapeCode>(bits >> (32 + 12 * colour) & 0xFFF); }
    Threat threat(Colour colour) const { return static_cast<Threat>(bits >> (56 + 4 * colour) & 15); }
  };
  static_assert(kShapeCodes <= 1 << 12 && threat::kCount <= 1 << 4 && shape::kCount <= 1 << 4);

  // Classes of empty points by the threat that they offer.
  enum PointClass : std::uint8_t { kQuiet, kThrees, kFours, kFives, kDoubtful, kClasses };
  static constexpr std::array<PointClass, threat::kCount> make_classes();
  static const std::array<PointClass, threat::kCount> kClassOf;

  // The state of the whole board. make works on a copy, so unmake only has to discard the copy.
  struct Summary {
    std::array<std::array<std::int16_t, threat::kCount>, 2> counts{};
    std::array<std::array<PointSet, kClasses>, 2> sets;
    PointSet occupied;
    PointSet near;  // points near a stone, including occupied ones
    std::array<Features, 2> features{};
    int value_sum = 0;
    std::uint32_t first_change = 0;  // index in changes_ of the last move's first change

    bool operator==(const Summary&) const = default;
  };

  struct Change {
    Point point;
    Offer before;
  };

  static int sign(Colour colour) { return colour == kBlack ? 1 : -1; }
  const Summary& now() const { return summaries_.back(); }

  void refresh_all();
  void refresh_around(Summary& summary, Point point);
  void refresh_features(Summary& summary) const;
  Offer offer_of(std::uint32_t shapes) const;
  Offer offer_at(const Board& board, Point p) const;
  template <int Sign>
  void add_features(std::array<Features, 2>& sums, Offer offer) const;
  void count_in(Summary& summary, Point p) const;
  void count_out(Summary& summary, Point p) const;

  Board board_;
  const PatternTables* tables_;
  const ShapeCodes* shape_codes_;
  const PointValues* values_;
  const PointFeatures* features_;
  const PointSet* neighbours_;  // by point

  std::array<Offer, kMaxArea> offers_{};
  std::vector<Summary> summaries_;  // the initial state, then one after each move
  std::vector<Change> changes_;     // the first change_count_ are in use
  std::size_t change_count_ = 0;
};

}  // namespace tengen
