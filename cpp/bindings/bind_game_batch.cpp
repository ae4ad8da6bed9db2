#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "play/game_batch.h"

namespace tengen::bindings {
namespace {

template <typename T, std::size_t dimensions>
using Array = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

void check_games(const GameBatch& batch, std::size_t count) {
  if (count != static_cast<std::size_t>(batch.games())) throw nb::value_error("one entry for each game is needed");
}

int checked_game(const GameBatch& batch, std::int64_t game) {
  if (game < 0 || game >= batch.games()) throw nb::index_error("no such game");
  return static_cast<int>(game);
}

void write(const GameBatch& batch, const Array<const std::int64_t, 1>& rows, const Array<const std::int8_t, 1>& turns,
           Array<float, 4>& planes, Array<bool, 2>& legal) {
  const Rules& rules = batch.rules();
  const std::size_t count = rows.shape(0);
  const int symmetries = rules.width == rules.height ? kMaxSymmetries : kMaxSymmetries / 2;
  if (turns.shape(0) != count || planes.shape(0) != count || legal.shape(0) != count ||
      planes.shape(1) != static_cast<std::size_t>(plane_count(batch.layout())) ||
      planes.shape(2) != static_cast<std::size_t>(rules.height) ||
      planes.shape(3) != static_cast<std::size_t>(rules.width) ||
      legal.shape(1) != static_cast<std::size_t>(rules.area()))
    throw nb::value_error("the arrays do not have the shapes [rows], [rows], [rows, C, height, width], [rows, area]");
  for (std::size_t i = 0; i < count; ++i) {
    checked_game(batch, rows.data()[i]);
    if (turns.data()[i] < 0 || turns.data()[i] >= symmetries) throw nb::index_error("no such symmetry");
  }
  const nb::gil_scoped_release release;
  batch.write(rows.data(), turns.data(), static_cast<int>(count), planes.data(), legal.data());
}

void choose(GameBatch& batch, const Array<const std::int8_t, 1>& policies, Array<std::int64_t, 1>& actions) {
  check_games(batch, policies.shape(0)), check_games(batch, actions.shape(0));
  for (std::size_t i = 0; i < policies.shape(0); ++i)
    if (policies.data()[i] >= kPolicyKinds) throw nb::index_error("no such policy");
  const nb::gil_scoped_release release;
  batch.choose(policies.data(), actions.data());
}

}  // namespace

void bind_game_batch(nb::module_& m) {
  nb::class_<GameBatch>(m, "GameBatch", "Many games that are played to their ends together.")
      .def(
          "__init__",
          [](GameBatch* self, const Board& board, int games, PlaneLayout layout) {
            const int k = board.rules().win_length;
            if (games < 1) throw nb::value_error("at least one game is needed");
            if (needs_patterns(layout) && k != 4 && k != 5)
              throw nb::value_error("patterns exist for win lengths 4 and 5");
            new (self) GameBatch(board.rules(), games, layout);
          },
          nb::arg("board"), nb::arg("games"), nb::arg("layout"),
          "Games by the rules of `board`, whose stones are not looked at; `begin` comes first.")
      .def(
          "begin",
          [](GameBatch& batch, std::uint64_t seed, int most_opening_moves) {
            if (most_opening_moves < 0 || most_opening_moves > 2 * batch.rules().win_length - 2)
              throw nb::value_error("so many opening moves could end a game");
            const nb::gil_scoped_release release;
            batch.begin(seed, most_opening_moves);
          },
          nb::arg("seed"), nb::arg("most_opening_moves"), "Every game anew, with up to so many random moves.")
      .def("write", &write, nb::arg("rows"), nb::arg("turns"), nb::arg("planes"), nb::arg("legal"),
           "Write planes and legal points of some games as the side to move sees them, each through its symmetry.")
      .def("choose", &choose, nb::arg("policies"), nb::arg("actions"),
           "Write the moves of simple players, by the number of their kind; negative ones are left out.")
      .def(
          "play",
          [](GameBatch& batch, const Array<const std::int64_t, 1>& actions) {
            check_games(batch, actions.shape(0));
            const nb::gil_scoped_release release;
            batch.play(actions.data());
          },
          nb::arg("actions"), "One action in each game: negative for none, an illegal one loses.")
      .def(
          "moves",
          [](const GameBatch& batch, int game) {
            const Board& board = batch.board(checked_game(batch, game));
            std::vector<int> list(static_cast<std::size_t>(board.ply()));
            for (int i = 0; i < board.ply(); ++i) list[static_cast<std::size_t>(i)] = board.move(i);
            return list;
          },
          nb::arg("game"), "The moves of a game, opening included.")
      .def_prop_ro("outcomes",
                   [](nb::pointer_and_handle<GameBatch> self) {
                     return nb::ndarray<nb::numpy, std::uint8_t>(self.p->outcomes(),
                                                                 {static_cast<std::size_t>(self.p->games())}, self.h);
                   })
      .def_prop_ro("plies", [](nb::pointer_and_handle<GameBatch> self) {
        return nb::ndarray<nb::numpy, std::int16_t>(self.p->plies(), {static_cast<std::size_t>(self.p->games())},
                                                    self.h);
      });
}

}  // namespace tengen::bindings
