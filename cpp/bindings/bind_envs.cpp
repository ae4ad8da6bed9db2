#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "play/vector_env.h"

namespace tengen::bindings {
namespace {

using Actions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ActionBuffer = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An array in memory of `self`, which it keeps alive.
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
          [](Env* self, const Board& board, int count, std::optional<PolicyKind> opponent, Side side,
             PlaneLayout layout, bool resign_action, int opening_moves, int threads) {
            new (self) Env({board.rules(), count, opponent, side, layout, resign_action, opening_moves, threads});
          },
          nb::arg("board"), nb::kw_only(), nb::arg("boards"), nb::arg("opponent").none(), nb::arg("side"),
          nb::arg("layout"), nb::arg("resign_action"), nb::arg("opening_moves"), nb::arg("threads"),
          "Create games by the rules of `board`; its stones are ignored.")
      .def("seed", &Env::seed, nb::arg("board"), nb::arg("seed"),
           "Seed the randomness of a board; call reset_board afterwards.")
      .def("reset_board", &Env::reset_board, nb::arg("board"), "Start a new game on a board.")
      .def(
          "find_invalid",
          [](const Env& env, const Actions& actions) {
            check_shape(actions, {static_cast<std::size_t>(env.boards())}, "actions");
            return env.find_invalid(actions.data());
          },
          nb::arg("actions"), "The first board on which the action is invalid, or -1.")
      .def(
          "step",
          [](Env& env, const Actions& actions) {
            check_shape(actions, {static_cast<std::size_t>(env.boards())}, "actions");
            const nb::gil_scoped_release release;
            env.step(actions.data());
          },
          nb::arg("actions"), "Play one action on each board and update the arrays. An invalid action loses the game.")
      .def(
          "sample_actions",
          [](Env& env, std::uint64_t seed, ActionBuffer& actions) {
            check_shape(actions, {static_cast<std::size_t>(env.boards())}, "actions");
            Rng rng(seed);
            const nb::gil_scoped_release release;
            env.sample_actions(rng, actions.data());
          },
          nb::arg("seed"), nb::arg("actions"), "Write a random legal point for each board into `actions`.")
      .def(
          "moves", [](const Env& env, int index) { return env.board(index).moves(); }, nb::arg("board"),
          "The moves of the game on a board, including the opening.")
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
  nb::enum_<PlaneLayout>(m, "PlaneLayout", "The planes of an observation and their order (cpp/core/plane_layout.h).")
      .value("BOARD", PlaneLayout::kBoard)
      .value("OWN_OTHER", PlaneLayout::kOwnOther)
      .value("OWN_OTHER_LAST_COLOUR", PlaneLayout::kOwnOtherLastColour)
      .value("BLACK_WHITE_OCCUPIED", PlaneLayout::kBlackWhiteOccupied)
      .value("STONES", PlaneLayout::kStones)
      .value("THREATS", PlaneLayout::kThreats)
      .value("THREATS_LAST", PlaneLayout::kThreatsLast);
  m.def("plane_count", &plane_count, nb::arg("layout"), "The number of planes C of a layout.");
  m.def("needs_patterns", nb::overload_cast<PlaneLayout>(&needs_patterns), nb::arg("layout"),
        "Whether a layout needs patterns, which exist only for win lengths 4 and 5.");
  m.def("is_incremental", &is_incremental, nb::arg("layout"), "Whether vector environments support a layout.");
  nb::enum_<Side>(m, "Side", "The colour that the agent plays against an opponent.")
      .value("BLACK", Side::kBlack)
      .value("WHITE", Side::kWhite)
      .value("RANDOM", Side::kRandom);
  bind_vector_env<std::int8_t>(m, "ByteVectorEnv", "Many games that advance with one call, with int8 planes.");
  bind_vector_env<float>(m, "FloatVectorEnv", "Many games that advance with one call, with float32 planes.");
}

}  // namespace tengen::bindings
