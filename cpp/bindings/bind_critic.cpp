#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/checked.h"
#include "eval/critic.h"
#include "play/critic_games.h"

namespace tengen::bindings {
namespace {

using Vector = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<float> copy(const Vector& vector) { return {vector.data(), vector.data() + vector.size()}; }

void init_critic(Critic* self, CriticInput input, Activation activation, const Matrix& weights, const Vector& biases,
                 const Vector& output_weights, float output_bias) {
  Critic critic{input,
                activation,
                static_cast<int>(weights.shape(1)),
                {weights.data(), weights.data() + weights.size()},
                copy(biases),
                copy(output_weights),
                output_bias};
  critic.check();
  new (self) Critic(std::move(critic));
}

auto judge_afterstates(const Critic& critic, const Board& board, int radius) {
  std::vector<Afterstate> afterstates;
  {
    const nb::gil_scoped_release release;
    CriticBoard(critic.input, board).judge(critic, radius, afterstates);
  }
  std::vector<std::int64_t> points;
  std::vector<float> logits;
  for (const auto& [point, logit] : afterstates) {
    points.push_back(point);
    logits.push_back(logit);
  }
  return std::pair(to_array(points), to_array(logits));
}

auto read_inputs(CriticInput input, const Board& board, int view) {
  InputRows rows;
  CriticBoard(input, board).append_inputs(checked_colour(view), rows);
  return std::pair(to_array(rows.indices), to_array(rows.amounts));
}

nb::dict play_games(const Critic& learner, const Board& board, int games, std::uint64_t seed, int radius, float epsilon,
                    int random_stones, const Critic* critic_opponent, std::optional<PolicyKind> policy_opponent) {
  CriticGames played;
  {
    const nb::gil_scoped_release release;
    played = play_critic_games(
        learner, {board.rules(), radius, epsilon, random_stones, critic_opponent, policy_opponent}, games, seed);
  }
  nb::dict arrays;
  arrays["game_starts"] = to_array(played.game_starts);
  arrays["position_starts"] = to_array(played.position_starts);
  arrays["moves"] = to_array(played.moves);
  arrays["outcomes"] = to_array(played.outcomes);
  arrays["black_values"] = to_array(played.black_values);
  arrays["black_best_values"] = to_array(played.black_best_values);
  arrays["row_starts"] = to_array(played.rows.starts);
  arrays["indices"] = to_array(played.rows.indices);
  arrays["amounts"] = to_array(played.rows.amounts);
  return arrays;
}

}  // namespace

void bind_critic(nb::module_& m) {
  nb::enum_<CriticInput>(m, "CriticInput", "The inputs of a critic (cpp/eval/critic.h).")
      .value("STONES", CriticInput::kStones)
      .value("POINTS", CriticInput::kPoints);
  nb::enum_<Activation>(m, "Activation", "The activation function of the hidden units of a critic.")
      .value("SIGMOID", Activation::kSigmoid)
      .value("RELU", Activation::kRelu);
  nb::class_<Critic>(m, "Critic", "A network with one hidden layer that maps counts of shapes to the logit of a win.")
      .def("__init__", &init_critic, nb::arg("input"), nb::arg("activation"), nb::arg("weights"), nb::arg("biases"),
           nb::arg("output_weights"), nb::arg("output_bias"),
           "Shapes: weights [inputs, hidden], biases and output_weights [hidden].")
      .def_ro("input", &Critic::input)
      .def_ro("hidden", &Critic::hidden);
  m.def("critic_input_count", &input_count, nb::arg("input"), "Return the number of inputs of a critic.");
  m.def("judge_afterstates", &judge_afterstates, nb::arg("critic"), nb::arg("board"), nb::arg("radius"),
        "Return the candidate moves of the side to move, and the logit of a win for that side after each.");
  m.def("critic_inputs", &read_inputs, nb::arg("input"), nb::arg("board"), nb::arg("view"),
        "Return the indices and amounts of the non-zero inputs, from the point of view of colour `view`.");
  m.def("play_critic_games", &play_games, nb::arg("learner"), nb::arg("board"), nb::kw_only(), nb::arg("games"),
        nb::arg("seed"), nb::arg("radius"), nb::arg("epsilon"), nb::arg("random_stones"),
        nb::arg("critic_opponent").none() = nb::none(), nb::arg("policy_opponent").none() = nb::none(),
        nb::sig("def play_critic_games(learner: Critic, board: Board, *, games: int, seed: int, radius: int, epsilon: "
                "float, random_stones: int, critic_opponent: Critic | None = None, policy_opponent: PolicyKind | None "
                "= None) -> dict[str, typing.Any]"),
        "Play games with the rules of `board`; its stones are ignored. Return the arrays of CriticGames by name "
        "(cpp/play/critic_games.h).");
}

}  // namespace tengen::bindings
