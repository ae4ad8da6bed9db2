#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "eval/critic.h"
#include "play/critic_games.h"

namespace tengen::bindings {
namespace {

using Vector = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<float> copy(const Vector& vector) { return {vector.data(), vector.data() + vector.size()}; }

void init_critic(Critic* self, CriticInput input, Activation activation, const Matrix& weights, const Vector& biases,
                 const Vector& output_weights, float output_bias) {
  const auto hidden = weights.shape(1);
  if (weights.shape(0) != static_cast<std::size_t>(input_count(input)))
    throw nb::value_error("one row of weights for each input is needed");
  if (hidden == 0 || hidden % kHiddenStep || hidden > kMaxHidden)
    throw nb::value_error("the hidden units must be a multiple of 8, at most 128");
  if (biases.size() != hidden || output_weights.size() != hidden)
    throw nb::value_error("one bias and one output weight for each hidden unit is needed");
  new (self) Critic{input,
                    activation,
                    static_cast<int>(hidden),
                    {weights.data(), weights.data() + weights.size()},
                    copy(biases),
                    copy(output_weights),
                    output_bias};
}

void check_input(CriticInput input, const Board& board) {
  const int win_length = board.rules().win_length;
  if (input == CriticInput::kPoints && win_length != 4 && win_length != 5)
    throw nb::value_error("shapes of points are known for win lengths 4 and 5");
}

auto judge_afterstates(const Critic& critic, const Board& board, int radius) {
  check_input(critic.input, board);
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
  check_input(input, board);
  InputRows rows;
  CriticBoard(input, board).append_inputs(static_cast<Colour>(view), rows);
  return std::pair(to_array(rows.indices), to_array(rows.amounts));
}

nb::dict play_games(const Critic& learner, const Board& board, int games, std::uint64_t seed, int radius, float epsilon,
                    int random_stones, const Critic* critic_opponent, std::optional<PolicyKind> policy_opponent) {
  check_input(learner.input, board);
  if (critic_opponent && critic_opponent->input != learner.input)
    throw nb::value_error("both critics must have the same input");
  const int most = 2 * board.rules().win_length - 2;
  if (random_stones < 0 || random_stones > most) throw nb::value_error("too many random stones for the win length");
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
  nb::enum_<CriticInput>(m, "CriticInput", "What a critic sees of a position (cpp/eval/critic.h).")
      .value("STONES", CriticInput::kStones)
      .value("POINTS", CriticInput::kPoints);
  nb::enum_<Activation>(m, "Activation", "What a critic's hidden units do to their sums.")
      .value("SIGMOID", Activation::kSigmoid)
      .value("RELU", Activation::kRelu);
  nb::class_<Critic>(m, "Critic", "Counts of shapes -> hidden units -> the logit of winning.")
      .def("__init__", &init_critic, nb::arg("input"), nb::arg("activation"), nb::arg("weights"), nb::arg("biases"),
           nb::arg("output_weights"), nb::arg("output_bias"), "Weights [inputs, hidden], the others [hidden].")
      .def_ro("input", &Critic::input)
      .def_ro("hidden", &Critic::hidden);
  m.def("critic_input_count", &input_count, nb::arg("input"), "How many inputs a critic has.");
  m.def("judge_afterstates", &judge_afterstates, nb::arg("critic"), nb::arg("board"), nb::arg("radius"),
        "Candidate points of the side to move and the logits of the positions after them, seen by it.");
  m.def("critic_inputs", &read_inputs, nb::arg("input"), nb::arg("board"), nb::arg("view"),
        "The inputs that are not 0 and their amounts, seen by a colour.");
  m.def("play_critic_games", &play_games, nb::arg("learner"), nb::arg("board"), nb::kw_only(), nb::arg("games"),
        nb::arg("seed"), nb::arg("radius"), nb::arg("epsilon"), nb::arg("random_stones"),
        nb::arg("critic_opponent").none() = nb::none(), nb::arg("policy_opponent").none() = nb::none(),
        nb::sig("def play_critic_games(learner: Critic, board: Board, *, games: int, seed: int, radius: int, epsilon: "
                "float, random_stones: int, critic_opponent: Critic | None = None, policy_opponent: PolicyKind | None "
                "= None) -> dict[str, typing.Any]"),
        "Games by the rules of `board`, and what the learner thought of them: the arrays of CriticGames by name "
        "(cpp/play/critic_games.h).");
}

}  // namespace tengen::bindings
