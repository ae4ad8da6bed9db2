#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "bindings/bindings.h"
#include "patterns/legality.h"
#include "tools/perft.h"

namespace tengen::bindings {
namespace {

using BoolMask = nb::ndarray<nb::numpy, bool, nb::ndim<1>>;
using CellGrid = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<2>>;

void check_point(const Board& board, int point) {
  if (point < 0 || point >= board.rules().area()) throw nb::index_error("the point is off the board");
}

void make(Board& board, int point) {
  check_point(board, point);
  if (board.is_over()) throw nb::value_error("the game is over");
  if (!board.is_empty(static_cast<Point>(point))) throw nb::value_error("the point is occupied");
  board.make(static_cast<Point>(point));
}

void unmake(Board& board) {
  if (board.ply() == 0) throw nb::value_error("no move to take back");
  board.unmake();
}

void set_up(Board& board, const std::vector<int>& black, const std::vector<int>& white, int to_move) {
  if (board.stones() > 0) throw nb::value_error("the board is not empty");
  for (const auto* points : {&black, &white}) {
    for (const int p : *points) {
      check_point(board, p);
      if (!board.is_empty(static_cast<Point>(p))) throw nb::value_error("a point is given twice");
      board.add_stone(static_cast<Point>(p), points == &black ? kBlack : kWhite);
    }
  }
  if (!board.finish_setup(static_cast<Colour>(to_move))) throw nb::value_error("both colours have won");
}

Foul foul(const Board& board, int point) {
  check_point(board, point);
  if (!board.is_empty(static_cast<Point>(point))) throw nb::value_error("the point is occupied");
  return foul_at(board, static_cast<Point>(point));
}

std::vector<std::pair<int, Foul>> fouls(const Board& board) {
  std::vector<std::pair<int, Foul>> found;
  if (board.is_over() || !has_fouls(board)) return found;
  std::array<Foul, kMaxArea> kinds{};
  find_fouls(board, kinds.data());
  for (Point p = 0; p < board.rules().area(); ++p)
    if (kinds[p] != Foul::kNone) found.emplace_back(p, kinds[p]);
  return found;
}

BoolMask legal_mask(const Board& board) {
  const auto area = static_cast<std::size_t>(board.rules().area());
  auto* mask = new bool[area];
  const PointSet legal = legal_points(board);
  for (std::size_t p = 0; p < area; ++p) mask[p] = legal.has(static_cast<Point>(p));
  return BoolMask(mask, {area}, nb::capsule(mask, [](void* memory) noexcept { delete[] static_cast<bool*>(memory); }));
}

CellGrid cells(const Board& board) {
  const auto area = static_cast<std::size_t>(board.rules().area());
  auto* grid = new std::uint8_t[area];
  for (std::size_t p = 0; p < area; ++p) grid[p] = board.at(static_cast<Point>(p));
  return CellGrid(grid, {static_cast<std::size_t>(board.rules().height), static_cast<std::size_t>(board.rules().width)},
                  nb::capsule(grid, [](void* memory) noexcept { delete[] static_cast<std::uint8_t*>(memory); }));
}

std::vector<int> moves(const Board& board) {
  std::vector<int> list(static_cast<std::size_t>(board.ply()));
  for (int i = 0; i < board.ply(); ++i) list[static_cast<std::size_t>(i)] = board.move(i);
  return list;
}

std::vector<int> winning_line(const Board& board) {
  std::array<Point, kMaxSize> points{};
  const int length = board.winning_line(points);
  return {points.begin(), points.begin() + length};
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> run_perft(const Board& board, int depth) {
  std::vector<PerftPly> plies;
  {
    const nb::gil_scoped_release release;
    plies = perft(board, depth);
  }
  std::vector<std::pair<std::uint64_t, std::uint64_t>> result;
  for (const PerftPly& ply : plies) result.emplace_back(ply.nodes, ply.wins);
  return result;
}

}  // namespace

void bind_core(nb::module_& m) {
  nb::enum_<Colour>(m, "Colour", "The side that moves or owns a stone.", nb::is_arithmetic())
      .value("BLACK", kBlack)
      .value("WHITE", kWhite);
  nb::enum_<Rule>(m, "Rule", "Which lines win (tengen.core.contracts.Rule).", nb::is_arithmetic())
      .value("FREESTYLE", Rule::kFreestyle)
      .value("STANDARD", Rule::kStandard)
      .value("RENJU", Rule::kRenju)
      .value("CARO", Rule::kCaro)
      .value("CARO_EXACT", Rule::kCaroExact);
  nb::enum_<Outcome>(m, "Outcome", "The result of a game; arrays hold these numbers.", nb::is_arithmetic())
      .value("ONGOING", Outcome::kOngoing)
      .value("BLACK", Outcome::kBlackWins)
      .value("WHITE", Outcome::kWhiteWins)
      .value("DRAW", Outcome::kDraw);
  nb::enum_<Foul>(m, "Foul", "What renju forbids black.", nb::is_arithmetic())
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
      .def("set_up", &set_up, nb::arg("black"), nb::arg("white"), nb::arg("to_move"),
           "Put stones on the empty board and say who moves next.")
      .def("make", &make, nb::arg("point"), "Play a point. Renju fouls are not checked here.")
      .def("unmake", &unmake)
      .def("at", [](const Board& board,
                    int point) { return check_point(board, point), int{board.at(static_cast<Point>(point))}; })
      .def(
          "would_win",
          [](const Board& board, int point, int colour) {
            check_point(board, point);
            return board.would_win(static_cast<Point>(point), static_cast<Colour>(colour));
          },
          nb::arg("point"), nb::arg("colour"))
      .def("foul_at", &foul, nb::arg("point"), "The foul that black would commit there.")
      .def("fouls", &fouls, "Pairs (point, foul) of the side to move.")
      .def("legal_mask", &legal_mask, "bool [area]: what the side to move may play.")
      .def("cells", &cells, "uint8 [height, width]: 0 empty, 1 black, 2 white. A copy.")
      .def("moves", &moves)
      .def("winning_line", &winning_line)
      .def("outcome", &game_outcome, "The result so far; black without a legal point in renju has lost.")
      .def("check", &Board::check, "Empty when the redundant state agrees with the stones, else what does not.")
      .def("perft", &run_perft, nb::arg("depth"))
      .def_prop_ro("hash", &Board::hash)
      .def_prop_ro("to_move", &Board::to_move)
      .def_prop_ro("stones", &Board::stones)
      .def_prop_ro("ply", &Board::ply);
}

}  // namespace tengen::bindings
