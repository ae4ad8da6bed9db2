#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/checked.h"
#include "patterns/legality.h"
#include "tools/perft.h"

namespace tengen::bindings {
namespace {

nb::ndarray<nb::numpy, bool, nb::ndim<1>> legal_mask(const Board& board) {
  const auto area = static_cast<std::size_t>(board.rules().area());
  auto* mask = new bool[area];
  const PointSet legal = legal_points(board);
  for (std::size_t p = 0; p < area; ++p) mask[p] = legal.has(static_cast<Point>(p));
  return own_array<nb::ndim<1>>(mask, {area});
}

nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<2>> cells(const Board& board) {
  const auto area = static_cast<std::size_t>(board.rules().area());
  auto* grid = new std::uint8_t[area];
  for (std::size_t p = 0; p < area; ++p) grid[p] = board.at(static_cast<Point>(p));
  return own_array<nb::ndim<2>>(
      grid, {static_cast<std::size_t>(board.rules().height), static_cast<std::size_t>(board.rules().width)});
}

std::vector<std::pair<Point, Foul>> fouls(const Board& board) {
  std::vector<std::pair<Point, Foul>> pairs;
  for (const auto& [point, foul] : list_fouls(board)) pairs.emplace_back(point, foul);
  return pairs;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> run_perft(const Board& board, int depth) {
  std::vector<PerftPly> plies;
  {
    const nb::gil_scoped_release release;
    plies = perft(board, depth);
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
  result.reserve(plies.size());
  for (const PerftPly& ply : plies) result.emplace_back(ply.nodes, ply.wins);
  return result;
}

}  // namespace

void bind_core(nb::module_& m) {
  nb::enum_<Colour>(m, "Colour", "A side.", nb::is_arithmetic()).value("BLACK", kBlack).value("WHITE", kWhite);
  nb::enum_<Rule>(m, "Rule", "The rule that defines which lines win (tengen.core.contracts.Rule).", nb::is_arithmetic())
      .value("FREESTYLE", Rule::kFreestyle)
      .value("STANDARD", Rule::kStandard)
      .value("RENJU", Rule::kRenju)
      .value("CARO", Rule::kCaro)
      .value("CARO_EXACT", Rule::kCaroExact);
  nb::enum_<Outcome>(m, "Outcome", "The result of a game. Arrays contain these numbers.", nb::is_arithmetic())
      .value("ONGOING", Outcome::kOngoing)
      .value("BLACK", Outcome::kBlackWins)
      .value("WHITE", Outcome::kWhiteWins)
      .value("DRAW", Outcome::kDraw);
  nb::enum_<Foul>(m, "Foul", "A kind of move that renju forbids for black.", nb::is_arithmetic())
      .value("NONE", Foul::kNone)
      .value("OVERLINE", Foul::kOverline)
      .value("DOUBLE_FOUR", Foul::kDoubleFour)
      .value("DOUBLE_THREE", Foul::kDoubleThree);

  nb::class_<Board>(m, "Board", "A board with make and unmake. Points are indices y * width + x.")
      .def(
          "__init__",
          [](Board* self, int width, int height, int win_length, Rule rule) {
            new (self) Board(Rules{width, height, win_length, rule});
          },
          nb::arg("width"), nb::arg("height"), nb::arg("win_length"), nb::arg("rule"))
      .def("copy", [](const Board& board) { return Board(board); })
      .def(
          "set_up",
          [](Board& board, const std::vector<int>& black, const std::vector<int>& white, int to_move) {
            board.set_up(black, white, checked_colour(to_move));
          },
          nb::arg("black"), nb::arg("white"), nb::arg("to_move"),
          "Place stones on an empty board and set the side to move.")
      .def(
          "make", [](Board& board, int point) { board.make(checked_move(board, point)); }, nb::arg("point"),
          "Play a point. Renju fouls are not checked.")
      .def(
          "unmake", [](Board& board) { check_has_moves(board), board.unmake(); }, "Undo the last move.")
      .def(
          "at", [](const Board& board, int point) { return int{board.at(checked_point(board, point))}; },
          nb::arg("point"), "Return 0 for an empty point, 1 for a black stone, 2 for a white stone.")
      .def(
          "would_win",
          [](const Board& board, int point, int colour) {
            return board.would_win(checked_empty_point(board, point), checked_colour(colour));
          },
          nb::arg("point"), nb::arg("colour"), "Return whether a stone of the colour would complete a winning line.")
      .def(
          "foul_at", [](const Board& board, int point) { return foul_at(board, checked_empty_point(board, point)); },
          nb::arg("point"), "Return the foul that black would commit on the empty point.")
      .def("fouls", &fouls, "Return the fouls of the side to move as pairs (point, foul).")
      .def("legal_mask", &legal_mask, "Return the legal points of the side to move, bool [area].")
      .def("cells", &cells, "Return a copy of the stones, uint8 [height, width]: 0 empty, 1 black, 2 white.")
      .def("moves", &Board::moves)
      .def("winning_line", &Board::winning_line, "Return the points of a winning line; empty if neither side has won.")
      .def("outcome", &game_outcome, "Return the result so far. In renju, black loses if no legal move is left.")
      .def("check", &Board::check, "Compare the incremental state with the stones; return '' or the error.")
      .def("perft", &run_perft, nb::arg("depth"),
           "Return pairs (sequences, wins) for each number of moves up to `depth`.")
      .def_prop_ro("hash", &Board::hash)
      .def_prop_ro("to_move", &Board::to_move)
      .def_prop_ro("stones", &Board::stones)
      .def_prop_ro("ply", &Board::ply);
}

}  // namespace tengen::bindings
