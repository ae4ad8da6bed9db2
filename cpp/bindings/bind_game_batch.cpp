#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "play/game_batch.h"

namespace tengen::bindings {
namespace {

template <typename T, std::size_t dimensions>
using Array = nb::ndarray<T, nb::ndim<dimensions>, nb::c_contig, nb::device::cpu>;

void write(const GameBatch& batch, const Array<const std::int64_t, 1>& rows, const Array<const std::int8_t, 1>& turns,
           const Array<float, 4>& planes, const Array<bool, 2>& legal) {
  const Rules& rules = batch.rules();
  const std::size_t count = rows.shape(0);
  check_shape(turns, {count}, "turns");
  check_shape(planes,
              {count, static_cast<std::size_t>(plane_count(batch.layout())), static_cast<std::size_t>(rules.height),
               static_cast<std::size_t>(rules.width)},
              "planes");
  check_shape(legal, {count, static_cast<std::size_t>(rules.area())}, "legal");
  const nb::gil_scoped_release release;
  batch.write(rows.data(), turns.data(), static_cast<int>(count), planes.data(), legal.data());
}

void choose(GameBatch& batch, const Array<const std::int8_t, 1>& policies, const Array<std::int64_t, 1>& actions) {
  check_shape(policies, {static_cast<std::size_t>(batch.games())}, "policies");
  check_shape(actions, {static_cast<std::size_t>(batch.games())}, "actions");
  const nb::gil_scoped_release release;
  batch.choose(policies.data(), actions.data());
}

void play(GameBatch& batch, const Array<const std::int64_t, 1>& actions) {
  check_shape(actions, {static_cast<std::size_t>(batch.games())}, "actions");
  const nb::gil_scoped_release release;
  batch.play(actions.data());
}

}  // namespace

void bind_game_batch(nb::module_& m) {
  nb::class_<GameBatch>(m, "GameBatch", "A batch of games that are played together.")
      .def(
          "__init__",
          [](GameBatch* self, const Board& board, int games, PlaneLayout layout) {
            new (self) GameBatch(board.rules(), games, layout);
          },
          nb::arg("board"), nb::arg("games"), nb::arg("layout"),
          "Create games by the rules of `board`; its stones are ignored. Call `begin` first.")
      .def("begin", &GameBatch::begin, nb::arg("seed"), nb::arg("most_opening_moves"),
           nb::call_guard<nb::gil_scoped_release>(),
           "Reset all games. Each starts with 0 to `most_opening_moves` random moves.")
      .def("write", &write, nb::arg("rows"), nb::arg("turns"), nb::arg("planes"), nb::arg("legal"),
           "Write planes and legal points of some games from the view of the side to move, each through a symmetry.")
      .def("choose", &choose, nb::arg("policies"), nb::arg("actions"),
           "Write moves of simple players into `actions`. Skips negative policies and finished games.")
      .def("play", &play, nb::arg("actions"),
           "Play one action in each unfinished game. A negative action skips the game; an illegal one loses it.")
      .def(
          "moves", [](const GameBatch& batch, int game) { return batch.board(game).moves(); }, nb::arg("game"),
          "The moves of a game, including the opening.")
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
