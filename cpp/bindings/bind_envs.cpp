#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bindings.h"
#include "play/vector_env.h"

namespace tengen::bindings {
namespace {

using Actions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ActionBuffer = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename Env>
void check_actions(const Env& env, std::size_t count) {
  if (count != static_cast<std::size_t>(env.boards())) throw nb::value_error("one action for each board is needed");
}

template <typename Env>
void check_board(const Env& env, int index) {
  if (index < 0 || index >= env.boards()) throw nb::index_error("no such board");
}

// An array over memory of `self`, which it keeps alive.
template <typename T, typename Self>
auto view(const Self& self, T* data, std::initializer_list<std::size_t> shape) {
  return nb::ndarray<nb::numpy, T>(data, shape, self.h);
}

template <typename Plane>
void bind_vector_env(nb::module_& m, const char* name, const char* doc) {
  using Env = VectorEnv<Plane>;
  using Self = nb::pointer_and_handle<Env>;
  const auto boards = [](const Env* env) { return static_cast<std::size_t>(env->boards()); };
  const auto view_planes = [boards](const Self& self, Plane* data) {
    const VectorEnvConfig& config = self.p->config();
    return view(self, data,
                {boards(self.p), static_cast<std::size_t>(plane_count(config.layout)),
                 static_cast<std::size_t>(config.rules.height), static_cast<std::size_t>(config.rules.width)});
  };

  nb::class_<Env>(m, name, doc)
      .def(
          "__init__",
          [](Env* self, const Board& board, int boards, std::optional<PolicyKind> opponent, Side side,
             PlaneLayout layout, bool resign_action, int opening_moves, int threads) {
            new (self) Env({board.rules(), boards, opponent, side, layout, resign_action, opening_moves, threads});
          },
          nb::arg("board"), nb::kw_only(), nb::arg("boards"), nb::arg("opponent").none(), nb::arg("side"),
          nb::arg("layout"), nb::arg("resign_action"), nb::arg("opening_moves"), nb::arg("threads"),
          "Games by the rules of `board`, whose stones are not looked at.")
      .def(
          "seed", [](Env& env, int index, std::uint64_t seed) { check_board(env, index), env.seed(index, seed); },
          nb::arg("board"), nb::arg("seed"), "Begin the randomness of a board anew; reset_board must follow.")
      .def(
          "reset_board", [](Env& env, int index) { check_board(env, index), env.reset_board(index); }, nb::arg("board"),
          "Begin a new game on a board.")
      .def(
          "find_invalid",
          [](const Env& env, const Actions& actions) {
            check_actions(env, actions.shape(0));
            return env.find_invalid(actions.data());
          },
          nb::arg("actions"), "The first board that cannot play its action, or -1.")
      .def(
          "step",
          [](Env& env, const Actions& actions) {
            check_actions(env, actions.shape(0));
            const nb::gil_scoped_release release;
            env.step(actions.data());
          },
          nb::arg("actions"), "Play one action on each board; an invalid one loses. Writes into the arrays below.")
      .def(
          "sample_actions",
          [](Env& env, std::uint64_t seed, ActionBuffer& actions) {
            check_actions(env, actions.shape(0));
            Rng rng(seed);
            const nb::gil_scoped_release release;
            env.sample_actions(rng, actions.data());
          },
          nb::arg("seed"), nb::arg("actions"), "Write a random legal point of each board into `actions`.")
      .def(
          "moves",
          [](const Env& env, int index) {
            check_board(env, index);
            const Board& board = env.board(index);
            std::vector<int> list(static_cast<std::size_t>(board.ply()));
            for (int i = 0; i < board.ply(); ++i) list[static_cast<std::size_t>(i)] = board.move(i);
            return list;
          },
          nb::arg("board"), "The moves of the game on a board, opening included.")
      .def_prop_ro("planes", [=](Self self) { return view_planes(self, self.p->planes()); })
      .def_prop_ro("final_planes", [=](Self self) { return view_planes(self, self.p->final_planes()); })
      .def_prop_ro("masks",
                   [=](Self self) {
                     return view(self, self.p->masks(), {boards(self.p), static_cast<std::size_t>(self.p->actions())});
                   })
      .def_prop_ro("colours", [=](Self self) { return view(self, self.p->colours(), {boards(self.p)}); })
      .def_prop_ro("final_colours", [=](Self self) { return view(self, self.p->final_colours(), {boards(self.p)}); })
      .def_prop_ro("rewards", [=](Self self) { return view(self, self.p->rewards(), {boards(self.p)}); })
      .def_prop_ro("terminations", [=](Self self) { return view(self, self.p->terminations(), {boards(self.p)}); })
      .def_prop_ro("outcomes", [=](Self self) { return view(self, self.p->outcomes(), {boards(self.p)}); })
      .def_prop_ro("episode_returns",
                   [=](Self self) { return view(self, self.p->episode_returns(), {boards(self.p)}); })
      .def_prop_ro("episode_lengths",
                   [=](Self self) { return view(self, self.p->episode_lengths(), {boards(self.p)}); });
}

}  // namespace

void bind_envs(nb::module_& m) {
  nb::enum_<PlaneLayout>(m, "PlaneLayout",
                         "Which planes an observation has, and in which order (cpp/core/plane_layout.h).")
      .value("BOARD", PlaneLayout::kBoard)
      .value("OWN_OTHER", PlaneLayout::kOwnOther)
      .value("OWN_OTHER_LAST_COLOUR", PlaneLayout::kOwnOtherLastColour)
      .value("BLACK_WHITE_OCCUPIED", PlaneLayout::kBlackWhiteOccupied)
      .value("STONES", PlaneLayout::kStones)
      .value("THREATS", PlaneLayout::kThreats)
      .value("THREATS_LAST", PlaneLayout::kThreatsLast);
  m.def("plane_count", &plane_count, nb::arg("layout"), "The number of planes C of a layout.");
  m.def("needs_patterns", nb::overload_cast<PlaneLayout>(&needs_patterns), nb::arg("layout"),
        "Whether a layout shows shapes, which exist for win lengths 4 and 5.");
  m.def("is_incremental", &is_incremental, nb::arg("layout"), "Whether vector environments can serve a layout.");
  nb::enum_<Side>(m, "Side", "Which colour the agent plays against an opponent.")
      .value("BLACK", Side::kBlack)
      .value("WHITE", Side::kWhite)
      .value("RANDOM", Side::kRandom);
  bind_vector_env<std::int8_t>(m, "ByteVectorEnv", "Many games advanced by one call, planes of int8.");
  bind_vector_env<float>(m, "FloatVectorEnv", "Many games advanced by one call, planes of float32.");
}

}  // namespace tengen::bindings
