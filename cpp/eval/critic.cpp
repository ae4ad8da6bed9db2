#include "eval/critic.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "eval/weights.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

constexpr int kStoneInputs = 4 * kStoneShapes + 2;
constexpr int kFirstThreatInput = 2 * kShapeCodes;
constexpr int kPointInputs = kFirstThreatInput + 2 * 2 * threat::kCount;

// The codes that depend on other stones: all except those that a lone stone makes.
std::array<bool, kShapeCodes> make_telling_codes() {
  std::array<bool, kShapeCodes> telling{};
  for (int code = 0; code < kShapeCodes; ++code)
    telling[code] = ShapeCodes::instance().shapes(static_cast<ShapeCode>(code)).back() > shape::kOpenOne;
  return telling;
}

bool is_telling(ShapeCode code) {
  static const std::array<bool, kShapeCodes> telling = make_telling_codes();
  return telling[code];
}

int side_of(Colour colour, Colour view) { return colour == view ? 0 : 1; }

// ---- Inputs: visit(input, amount) for each input that is not 0 ----------------------------------------------------

template <typename Visit>
void visit_inputs(const StoneShapeBoard& board, Colour view, Colour to_move, Visit visit) {
  const int turn = side_of(to_move, view);
  for (int shape = 0; shape < kStoneShapes; ++shape) {
    for (const Colour colour : {view, opponent(view)})
      if (const int count = board.count(colour, shape)) visit(4 * shape + side_of(colour, view), count);
    visit(4 * shape + 2 + turn, 1);
  }
  visit(4 * kStoneShapes + turn, 1);
}

int threat_input(int side, int threat, int level) {
  return kFirstThreatInput + (side * threat::kCount + threat) * 2 + level;
}

template <typename Visit>
void visit_inputs(const PatternBoard& board, Colour view, Colour /*to_move*/, Visit visit) {
  for (const Colour colour : {view, opponent(view)}) {
    std::array<std::int16_t, kShapeCodes> counts{};
    for (Point p = 0; p < board.rules().area(); ++p)
      if (board.is_empty(p) && is_telling(board.code(colour, p))) ++counts[board.code(colour, p)];
    for (int code = 0; code < kShapeCodes; ++code)
      if (counts[code]) visit(side_of(colour, view) * kShapeCodes + code, counts[code]);
  }
  for (const Colour colour : {view, opponent(view)})
    for (int t = threat::kNone + 1; t < threat::kCount; ++t)
      for (int level = 0; level < 2; ++level)
        if (board.count(colour, static_cast<Threat>(t)) > level)
          visit(threat_input(side_of(colour, view), t, level), 1);
}

// ---- Input changes caused by a move: constructed before the move, visited after it --------------------------------

class StoneChanges {
 public:
  StoneChanges(const StoneShapeBoard& /*board*/, Point /*move*/) {}

  template <typename Visit>
  void visit(const StoneShapeBoard& after, Colour view, Visit visit) const {
    after.visit_changes(
        [&](Colour colour, int shape, int amount) { visit(4 * shape + side_of(colour, view), amount); });
  }
};

class PointChanges {
 public:
  PointChanges(const PatternBoard& board, Point move) : move_(code_at(board, move)) {
    for (const Colour colour : {kBlack, kWhite})
      for (int t = 0; t < threat::kCount; ++t) counts_[colour][t] = board.count(colour, static_cast<Threat>(t));
    const Geometry& geometry = board.geometry();
    for (int d = 0; d < kDirections; ++d) {
      const LinePlace place = geometry.place(d, move);
      const std::uint64_t line = board.board().line(d, place.line);
      // Both bits of an empty cell are 0. Walls are not empty, so every empty cell within reach is on the board.
      const std::uint64_t reached = ((1ull << (4 * board.reach() + 2)) - 1) << (2 * (place.offset - board.reach()));
      std::uint64_t empties = ~(line | line >> 1) & 0x5555555555555555ull & reached & ~(1ull << (2 * place.offset));
      for (; empties; empties &= empties - 1) {
        const int steps = std::countr_zero(empties) / 2 - place.offset;
        near_[near_count_++] = code_at(board, static_cast<Point>(move + steps * geometry.step(d)));
      }
    }
  }

  template <typename Visit>
  void visit(const PatternBoard& after, Colour view, Visit visit) const {
    const auto count = [&](Colour colour, ShapeCode code, int amount) {
      if (is_telling(code)) visit(side_of(colour, view) * kShapeCodes + code, amount);
    };
    for (const Colour colour : {kBlack, kWhite}) {
      const int side = side_of(colour, view);
      count(colour, move_.codes[colour], -1);
      for (int i = 0; i < near_count_; ++i) {
        const ShapeCode now = after.code(colour, near_[i].point);
        if (now == near_[i].codes[colour]) continue;
        count(colour, near_[i].codes[colour], -1);
        count(colour, now, 1);
      }
      for (int t = threat::kNone + 1; t < threat::kCount; ++t) {
        const int before = counts_[colour][t];
        const int now = after.count(colour, static_cast<Threat>(t));
        for (int level = 0; level < 2; ++level)
          if (const int change = (now > level) - (before > level)) visit(threat_input(side, t, level), change);
      }
    }
  }

 private:
  struct Codes {
    Point point;
    std::array<ShapeCode, 2> codes;
  };
  static Codes code_at(const PatternBoard& board, Point p) {
    return {p, {board.code(kBlack, p), board.code(kWhite, p)}};
  }

  static constexpr int kMostNear = kDirections * 2 * 5;
  Codes move_;
  std::array<Codes, kMostNear> near_;
  int near_count_ = 0;
  std::array<std::array<int, threat::kCount>, 2> counts_;
};

StoneChanges changes_of(const StoneShapeBoard& board, Point move) { return {board, move}; }
PointChanges changes_of(const PatternBoard& board, Point move) { return {board, move}; }

// ---- The network --------------------------------------------------------------------------------------------------

// The sums of the hidden units before their activation.
class Sums {
 public:
  explicit Sums(const Critic& critic) : critic_(critic) {
    std::copy_n(critic.biases.data(), critic.hidden, sums_.data());
  }

  void add(int input, int amount) {
    const auto times = static_cast<float>(amount);
    const float* row = critic_.weights.data() + static_cast<std::ptrdiff_t>(input) * critic_.hidden;
    for (int i = 0; i < critic_.hidden; ++i) sums_[i] += times * row[i];
  }

  float logit() const {
    // Eight partial sums, which the compiler can keep in one vector register.
    std::array<float, kHiddenStep> parts{};
    const float* output = critic_.output_weights.data();
    for (int i = 0; i < critic_.hidden; i += kHiddenStep)
      for (int k = 0; k < kHiddenStep; ++k) parts[k] += output[i + k] * activate(sums_[i + k]);
    float sum = critic_.output_bias;
    for (const float part : parts) sum += part;
    return sum;
  }

 private:
  float activate(float x) const {
    return critic_.activation == Activation::kRelu ? std::max(x, 0.0f) : 1.0f / (1.0f + std::exp(-x));
  }

  const Critic& critic_;
  alignas(64) std::array<float, kMaxHidden> sums_;
};

template <typename Counts>
Sums sums_of(const Critic& critic, const Counts& counts, Colour view, Colour to_move) {
  Sums sums(critic);
  visit_inputs(counts, view, to_move, [&](int input, int amount) { sums.add(input, amount); });
  return sums;
}

template <typename Counts>
void judge_candidates(const Critic& critic, Counts& counts, const PointSet& candidates,
                      std::vector<Afterstate>& afterstates) {
  const Board& board = counts.board();
  const Colour own = board.to_move();
  const bool fills = board.empties() == 1;
  const Sums before = sums_of(critic, counts, own, opponent(own));
  candidates.for_each([&](Point p) {
    if (board.would_win(p, own)) {
      afterstates.push_back({p, kWonLogit});
    } else if (fills) {
      afterstates.push_back({p, 0.0f});
    } else {
      const auto changes = changes_of(counts, p);
      counts.make(p);
      Sums after = before;
      changes.visit(counts, own, [&](int input, int amount) { after.add(input, amount); });
      afterstates.push_back({p, after.logit()});
      counts.unmake();
    }
  });
}

std::variant<StoneShapeBoard, PatternBoard> make_counts(CriticInput input, const Board& board) {
  if (input == CriticInput::kStones) return StoneShapeBoard(board);
  return PatternBoard(board, Weights::prior().points);
}

}  // namespace

void Critic::check() const {
  const auto units = static_cast<std::size_t>(hidden);
  if (hidden <= 0 || hidden % kHiddenStep != 0 || hidden > kMaxHidden)
    throw std::invalid_argument("the number of hidden units must be a multiple of 8 and at most 128, not " +
                                std::to_string(hidden));
  if (weights.size() != static_cast<std::size_t>(input_count(input)) * units)
    throw std::invalid_argument("the weights of a critic must have one row for each input");
  if (biases.size() != units || output_weights.size() != units)
    throw std::invalid_argument("a critic must have one bias and one output weight for each hidden unit");
}

int input_count(CriticInput input) { return input == CriticInput::kStones ? kStoneInputs : kPointInputs; }

CriticBoard::CriticBoard(CriticInput input, const Board& board) : counts_(make_counts(input, board)) {}

const Board& CriticBoard::board() const {
  return std::visit([](const auto& counts) -> const Board& { return counts.board(); }, counts_);
}

void CriticBoard::make(Point point) {
  std::visit([point](auto& counts) { counts.make(point); }, counts_);
}

void CriticBoard::unmake() {
  std::visit([](auto& counts) { counts.unmake(); }, counts_);
}

PointSet CriticBoard::candidates(int radius) const {
  const Board& on = board();
  const Geometry& geometry = on.geometry();
  const int area = geometry.area();
  PointSet near;
  PointSet legal;
  if (on.stones() == 0) near.add(geometry.point(geometry.width() / 2, geometry.height() / 2));
  for (Point p = 0; p < area; ++p) {
    if (on.is_empty(p)) {
      if (is_legal(on, p)) legal.add(p);
      continue;
    }
    const int px = geometry.x(p);
    const int py = geometry.y(p);
    for (int y = std::max(0, py - radius); y <= std::min(geometry.height() - 1, py + radius); ++y)
      for (int x = std::max(0, px - radius); x <= std::min(geometry.width() - 1, px + radius); ++x)
        near.add(geometry.point(x, y));
  }
  near &= legal;
  return near.empty() ? legal : near;
}

void CriticBoard::judge(const Critic& critic, int radius, std::vector<Afterstate>& afterstates) {
  afterstates.clear();
  const PointSet points = candidates(radius);
  std::visit([&](auto& counts) { judge_candidates(critic, counts, points, afterstates); }, counts_);
}

float CriticBoard::logit(const Critic& critic, Colour view) const {
  return std::visit([&](const auto& counts) { return sums_of(critic, counts, view, counts.board().to_move()).logit(); },
                    counts_);
}

void CriticBoard::append_inputs(Colour view, InputRows& rows) const {
  rows.starts.push_back(static_cast<std::int64_t>(rows.indices.size()));
  std::visit(
      [&](const auto& counts) {
        visit_inputs(counts, view, counts.board().to_move(), [&](int input, int amount) {
          rows.indices.push_back(input);
          rows.amounts.push_back(static_cast<float>(amount));
        });
      },
      counts_);
}

}  // namespace tengen
