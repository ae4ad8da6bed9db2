#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "patterns/legality.h"
#include "play/observation.h"
#include "play/vector_env.h"

namespace tengen::bindings {
namespace {

using Actions = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using SavedGame = std::tuple<std::vector<Point>, Rng::State, int, int>;
using ActionBuffer = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// An array in the memory of `self`. The array keeps `self` alive.
template <typename T, typename Self>
auto view(const Self& self, T* data, std::initializer_list<std::size_t> shape) {
  return nb::ndarray<nb::numpy, T>(data, shape, self.h);
}

using Mask = nb::ndarray<std::int8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename Plane>
using PlaneBuffer = nb::ndarray<Plane, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

template <typename Plane>
void bind_observation(nb::module_& m) {
  m.def(
      "write_observation",
      [](const Board& board, PlaneLayout layout, Colour viewer, bool channels_last, PlaneBuffer<Plane>& planes,
         Mask& mask) {
        const auto height = static_cast<std::size_t>(board.rules().height);
        const auto width = static_cast<std::size_t>(board.rules().width);
        const auto count = static_cast<std::size_t>(plane_count(layout));
        if (channels_last) {
          check_shape(planes, {height, width, count}, "planes");
        } else {
          check_shape(planes, {count, height, width}, "planes");
        }
        if (mask.shape(0) != height * width && mask.shape(0) != height * width + 1)
          check_shape(mask, {height * width}, "mask");
        write_observation(board, layout, viewer, channels_last ? PlaneOrder::kLast : PlaneOrder::kFirst, planes.data());
        write_mask(board, mask.shape(0) > height * width, mask.data());
      },
      nb::arg("board"), nb::arg("layout"), nb::arg("viewer"), nb::arg("channels_last"), nb::arg("planes").noconvert(),
      nb::arg("mask").noconvert(),
      "Write the planes [C, H, W] or [H, W, C] that `viewer` sees and the mask of the side to move. The mask may have "
      "one entry more than there are points, for resigning.");
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
          [](Env* self, const Board& board, int count, std::optional<PolicyKind> opponent, bool caller_replies,
             Side side, PlaneLayout layout, bool resign_action, int opening_moves, int threads) {
            new (self) Env(
                {board.rules(), count, opponent, caller_replies, side, layout, resign_action, opening_moves, threads});
          },
          nb::arg("board"), nb::kw_only(), nb::arg("boards"), nb::arg("opponent").none(), nb::arg("caller_replies"),
          nb::arg("side"), nb::arg("layout"), nb::arg("resign_action"), nb::arg("opening_moves"), nb::arg("threads"),
          "Create games with the rules of `board`; its stones are ignored. With `caller_replies` and no opponent, the "
          "caller supplies an opponent's moves through `reply`.")
      .def("seed", &Env::seed, nb::arg("board"), nb::arg("seed"),
           "Seed the random generator of a board; call reset_board afterwards.")
      .def("reset_board", &Env::reset_board, nb::arg("board"), "Start a new game on a board.")
      .def(
          "find_invalid",
          [](const Env& env, const Actions& actions) {
            check_shape(actions, {static_cast<std::size_t>(env.boards())}, "actions");
            return env.find_invalid(actions.data());
          },
          nb::arg("actions"), "Return the first board with an invalid action, or -1.")
      .def(
          "step",
          [](Env& env, const Actions& actions) {
            check_shape(actions, {static_cast<std::size_t>(env.boards())}, "actions");
            const nb::gil_scoped_release release;
            env.step(actions.data());
          },
          nb::arg("actions"), "Play one action on each board and update the arrays. An invalid action loses the game.")
      .def(
          "reply",
          [](Env& env, const Actions& replies) {
            check_shape(replies, {static_cast<std::size_t>(env.boards())}, "replies");
            const nb::gil_scoped_release release;
            env.reply(replies.data());
          },
          nb::arg("replies"),
          "Play the opponent's move on each board where `owed` is not 0. Repeat until it is 0 on all boards.")
      .def(
          "save",
          [](const Env& env, int index) {
            const auto saved = env.save(index);
            return std::tuple(saved.moves, saved.rng, saved.actor, saved.actions_done);
          },
          nb::arg("board"), "Return the game on a board: (moves, generator, actor, actions done).")
      .def(
          "restore",
          [](Env& env, int index, const SavedGame& saved) {
            const auto& [moves, rng, actor, actions_done] = saved;
            env.restore(index, {moves, rng, actor, actions_done});
          },
          nb::arg("board"), nb::arg("saved"), "Continue a saved game on a board; `saved` is a result of `save`.")
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
          "Return the moves of the game on a board, including the opening.")
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
      .def_prop_ro("owed", [=](Self self) { return view(self, self.p->owed(), {boards(self.p)}); })
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
  m.def("plane_count", &plane_count, nb::arg("layout"), "Return the number of planes C of a layout.");
  m.def("needs_patterns", nb::overload_cast<PlaneLayout>(&needs_patterns), nb::arg("layout"),
        "Return whether a layout needs patterns, which support only win lengths 4 and 5.");
  m.def("is_incremental", &is_incremental, nb::arg("layout"), "Return whether vector environments support a layout.");
  nb::enum_<Side>(m, "Side", "The colour that the agent plays against an opponent.")
      .value("BLACK", Side::kBlack)
      .value("WHITE", Side::kWhite)
      .value("RANDOM", Side::kRandom);
  m.def(
      "play_if_legal",
      [](Board& board, std::int64_t action) {
        if (action < 0 || action >= board.rules().area() || board.is_over() ||
            !is_legal(board, static_cast<Point>(action)))
          return -1;
        board.make(static_cast<Point>(action));
        return static_cast<int>(game_outcome(board));
      },
      nb::arg("board"), nb::arg("action"),
      "Play an action and return the Outcome as a number; change nothing and return -1 if the action is illegal.");
  bind_observation<std::int8_t>(m);
  bind_observation<std::uint8_t>(m);
  bind_observation<float>(m);
  bind_vector_env<std::int8_t>(m, "ByteVectorEnv", "Many games that advance with one call, with int8 planes.");
  bind_vector_env<float>(m, "FloatVectorEnv", "Many games that advance with one call, with float32 planes.");
}

}  // namespace tengen::bindings
