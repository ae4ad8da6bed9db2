#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bindings.h"
#include "eval/weights.h"
#include "patterns/defence.h"
#include "tools/pattern_walk.h"

namespace tengen::bindings {
namespace {

using ByteGrid = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<2>>;

void check_point(const PatternBoard& board, int point) {
  if (point < 0 || point >= board.rules().area()) throw nb::index_error("the point is off the board");
}

Colour checked_colour(int colour) {
  if (colour != kBlack && colour != kWhite) throw nb::value_error("a colour is 0 (black) or 1 (white)");
  return static_cast<Colour>(colour);
}

const Board& checked_board(const Board& board) {
  if (board.rules().win_length != 4 && board.rules().win_length != 5)
    throw nb::value_error("patterns exist for win lengths 4 and 5");
  return board;
}

ByteGrid make_grid(std::size_t rows, std::size_t columns) {
  auto* data = new std::uint8_t[rows * columns]();
  return ByteGrid(data, {rows, columns},
                  nb::capsule(data, [](void* memory) noexcept { delete[] static_cast<std::uint8_t*>(memory); }));
}

// Points with a stone offer nothing.
ByteGrid threats(const PatternBoard& board) {
  const int area = board.rules().area();
  ByteGrid grid = make_grid(2, static_cast<std::size_t>(area));
  for (const Colour colour : {kBlack, kWhite})
    for (Point p = 0; p < area; ++p)
      if (board.is_empty(p)) grid.data()[colour * area + p] = board.threat(colour, p);
  return grid;
}

ByteGrid shapes(const PatternBoard& board, int colour) {
  const int area = board.rules().area();
  ByteGrid grid = make_grid(kDirections, static_cast<std::size_t>(area));
  for (int d = 0; d < kDirections; ++d)
    for (Point p = 0; p < area; ++p)
      if (board.is_empty(p)) grid.data()[d * area + p] = board.shape(checked_colour(colour), d, p);
  return grid;
}

std::vector<int> to_list(const PointSet& set) {
  std::vector<int> points;
  set.for_each([&](Point p) { points.push_back(p); });
  return points;
}

void make(PatternBoard& board, int point) {
  check_point(board, point);
  if (board.board().is_over()) throw nb::value_error("the game is over");
  if (!board.is_empty(static_cast<Point>(point))) throw nb::value_error("the point is occupied");
  board.make(static_cast<Point>(point));
}

void unmake(PatternBoard& board) {
  if (!board.can_unmake()) throw nb::value_error("no move made here to take back");
  board.unmake();
}

bool is_legal(const PatternBoard& board, int colour, int point) {
  check_point(board, point);
  return board.is_empty(static_cast<Point>(point)) && board.is_legal(checked_colour(colour), static_cast<Point>(point));
}

}  // namespace

void bind_patterns(nb::module_& m) {
  nb::enum_<LineShape>(m, "LineShape", "What a stone makes along one line, weakest first (cpp/patterns/shapes.h).",
                       nb::is_arithmetic())
      .value("NOTHING", shape::kNothing)
      .value("FOUL_LINE", shape::kFoulLine)
      .value("CLOSED_ONE", shape::kClosedOne)
      .value("OPEN_ONE", shape::kOpenOne)
      .value("CLOSED_TWO", shape::kClosedTwo)
      .value("OPEN_TWO", shape::kOpenTwo)
      .value("OPEN_TWO_GOOD", shape::kOpenTwoGood)
      .value("OPEN_TWO_BEST", shape::kOpenTwoBest)
      .value("CLOSED_THREE", shape::kClosedThree)
      .value("OPEN_THREE", shape::kOpenThree)
      .value("OPEN_THREE_BEST", shape::kOpenThreeBest)
      .value("FOUR", shape::kFour)
      .value("OPEN_FOUR", shape::kOpenFour)
      .value("FIVE", shape::kFive);

  nb::class_<PatternBoard>(m, "PatternBoard",
                           "A board that knows what a stone of either colour would make on every empty point.")
      .def(
          "__init__",
          [](PatternBoard* self, const Board& board) {
            new (self) PatternBoard(checked_board(board), Weights::prior().points);
          },
          nb::arg("board"), "Copies the board, which keeps its history. Win length 4 or 5.")
      .def("make", &make, nb::arg("point"), "Play a point. Renju fouls are not checked here.")
      .def("unmake", &unmake)
      .def("pass_turn", &PatternBoard::pass, "Give the turn to the other side; a second call takes it back.")
      .def("threats", &threats, "uint8 [2, area]: the threat that black and white would make; a copy.")
      .def("shapes", &shapes, nb::arg("colour"), "uint8 [4, area]: the shape along each direction; a copy.")
      .def(
          "shape",
          [](const PatternBoard& board, int colour, int direction, int point) {
            check_point(board, point);
            if (direction < 0 || direction >= kDirections) throw nb::index_error("a direction is 0, 1, 2 or 3");
            const auto p = static_cast<Point>(point);
            return board.is_empty(p) ? board.shape(checked_colour(colour), direction, p) : shape::kNothing;
          },
          nb::arg("colour"), nb::arg("direction"), nb::arg("point"), "One entry of shapes(); NOTHING on a stone.")
      .def(
          "at",
          [](const PatternBoard& board, int point) {
            check_point(board, point);
            return int{board.board().at(static_cast<Point>(point))};
          },
          nb::arg("point"), "0 empty, 1 black, 2 white.")
      .def(
          "fives", [](const PatternBoard& board, int colour) { return to_list(board.fives(checked_colour(colour))); },
          nb::arg("colour"), "The points where that colour makes five.")
      .def("is_legal", &is_legal, nb::arg("colour"), nb::arg("point"), "Whether that colour may play there.")
      .def("check", &PatternBoard::check,
           "Empty when the incremental state agrees with the stones, else what does not.")
      .def_prop_ro("to_move", &PatternBoard::to_move);

  m.def(
      "check_pattern_walk",
      [](const Board& board, std::uint64_t seed, int steps) {
        return check_pattern_walk(checked_board(board), seed, steps);
      },
      nb::arg("board"), nb::arg("seed"), nb::arg("steps"), nb::call_guard<nb::gil_scoped_release>(),
      "Random moves made and unmade, the state checked after each: empty text, or what is wrong.");
  m.def(
      "run_make_unmake",
      [](const Board& board, const Weights& weights, std::uint64_t seed, std::uint64_t pairs) {
        return run_make_unmake(checked_board(board), weights, seed, pairs);
      },
      nb::arg("board"), nb::arg("weights"), nb::arg("seed"), nb::arg("pairs"), nb::call_guard<nb::gil_scoped_release>(),
      "Make and unmake that many moves with all pattern state; returns a signature of the states.");
}

}  // namespace tengen::bindings
