#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/checked.h"
#include "eval/weights.h"
#include "patterns/defence.h"
#include "tools/pattern_walk.h"

namespace tengen::bindings {
namespace {

using ByteGrid = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<2>>;

ByteGrid make_grid(std::size_t rows, std::size_t columns) {
  return own_array<nb::ndim<2>>(new std::uint8_t[rows * columns](), {rows, columns});
}

ByteGrid threats(const PatternBoard& board) {
  const int area = board.rules().area();
  ByteGrid grid = make_grid(2, static_cast<std::size_t>(area));
  for (const Colour colour : {kBlack, kWhite})
    for (Point p = 0; p < area; ++p)
      if (board.is_empty(p)) grid.data()[colour * area + p] = board.threat(colour, p);
  return grid;
}

ByteGrid shapes(const PatternBoard& board, int colour_number) {
  const Colour colour = checked_colour(colour_number);
  const int area = board.rules().area();
  ByteGrid grid = make_grid(kDirections, static_cast<std::size_t>(area));
  for (int d = 0; d < kDirections; ++d)
    for (Point p = 0; p < area; ++p)
      if (board.is_empty(p)) grid.data()[d * area + p] = board.shape(colour, d, p);
  return grid;
}

std::vector<int> to_list(const PointSet& set) {
  std::vector<int> points;
  set.for_each([&](Point p) { points.push_back(p); });
  return points;
}

bool is_legal(const PatternBoard& board, int colour, int index) {
  const Point point = checked_point(board.board(), index);
  return board.is_empty(point) && board.is_legal(checked_colour(colour), point);
}

LineShape shape_at(const PatternBoard& board, int colour, int direction, int index) {
  const Point point = checked_point(board.board(), index);
  const LineShape shape =
      board.shape(checked_colour(colour), checked_index(direction, kDirections, "direction"), point);
  return board.is_empty(point) ? shape : shape::kNothing;
}

}  // namespace

void bind_patterns(nb::module_& m) {
  nb::enum_<LineShape>(m, "LineShape",
                       "The shape that a stone makes along one line, weakest first (cpp/patterns/shapes.h).",
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
          [](PatternBoard* self, const Board& board) { new (self) PatternBoard(board, Weights::prior().points); },
          nb::arg("board"), "Copy a board with its history. Only for win lengths 4 and 5.")
      .def(
          "make", [](PatternBoard& board, int point) { board.make(checked_move(board.board(), point)); },
          nb::arg("point"), "Play a point. Renju fouls are not checked.")
      .def(
          "unmake", [](PatternBoard& board) { board.check_can_unmake(), board.unmake(); },
          "Take back the last move made on this board.")
      .def("pass_turn", &PatternBoard::pass, "Give the turn to the other side; a second call gives it back.")
      .def("threats", &threats, "uint8 [2, area]: the threats that black and white would make; 0 on stones. A copy.")
      .def("shapes", &shapes, nb::arg("colour"), "uint8 [4, area]: the shapes along each direction. A copy.")
      .def("shape", &shape_at, nb::arg("colour"), nb::arg("direction"), nb::arg("point"),
           "One entry of shapes(); NOTHING on a stone.")
      .def(
          "at",
          [](const PatternBoard& board, int point) {
            return int{board.board().at(checked_point(board.board(), point))};
          },
          nb::arg("point"), "Return 0 for an empty point, 1 for a black stone, 2 for a white stone.")
      .def(
          "fives", [](const PatternBoard& board, int colour) { return to_list(board.fives(checked_colour(colour))); },
          nb::arg("colour"), "The empty points where that colour makes five.")
      .def("is_legal", &is_legal, nb::arg("colour"), nb::arg("point"), "Whether that colour may play the point.")
      .def("check", &PatternBoard::check, "Compare the incremental state with the stones; return '' or the fault.")
      .def_prop_ro("to_move", &PatternBoard::to_move);

  m.def("check_pattern_walk", &check_pattern_walk, nb::arg("board"), nb::arg("seed"), nb::arg("steps"),
        nb::call_guard<nb::gil_scoped_release>(),
        "Make and unmake random moves and check the state after each; return '' or the fault.");
  m.def("run_make_unmake", &run_make_unmake, nb::arg("board"), nb::arg("weights"), nb::arg("seed"), nb::arg("pairs"),
        nb::call_guard<nb::gil_scoped_release>(),
        "Make and unmake `pairs` moves with all pattern state; return a signature of the states.");
}

}  // namespace tengen::bindings
