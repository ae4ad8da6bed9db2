#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "search/rollout/hmcts.h"
#include "search/rollout/playout.h"
#include "search/rollout/uct.h"

namespace tengen::bindings {
namespace {

template <typename Searcher>
RolloutReport run_rollouts(Searcher& searcher, const Board& board, const RolloutLimits& limits, std::uint64_t seed,
                           const OnRolloutReport& on_report, const StopSignal* stop) {
  const nb::gil_scoped_release release;
  if (!on_report) return searcher.search(board, limits, seed, {}, stop);
  const auto report_with_gil = [&on_report](const RolloutReport& report) {
    const nb::gil_scoped_acquire acquire;
    on_report(report);
  };
  return searcher.search(board, limits, seed, report_with_gil, stop);
}

template <typename Searcher>
void bind_searcher(nb::class_<Searcher>& searcher) {
  searcher.def(
      "search", &run_rollouts<Searcher>, nb::arg("board"), nb::arg("limits"), nb::arg("seed"),
      nb::arg("on_report") = nb::none(), nb::arg("stop") = nb::none(),
      "Search a position; the game must not be over. The callback receives a RolloutReport at increasing intervals.");
}

std::pair<std::vector<Point>, Outcome> play_out(const Board& board, PlayoutPolicy policy, std::uint64_t seed) {
  Rng rng(seed);
  PlayoutBoard playout(board, policy);
  const Outcome outcome = playout.play_out(rng);
  std::vector<Point> moves;
  for (int i = board.ply(); i < playout.board().ply(); ++i) moves.push_back(playout.board().move(i));
  return {moves, outcome};
}

}  // namespace

void bind_rollout(nb::module_& m) {
  nb::enum_<PlayoutPolicy>(m, "PlayoutPolicy")
      .value("RANDOM", PlayoutPolicy::kRandom)
      .value("HEURISTIC", PlayoutPolicy::kHeuristic);

  nb::enum_<Result>(m, "ProofResult", "A result that a search has proved for the side to move.")
      .value("UNKNOWN", Result::kUnknown)
      .value("WIN", Result::kWin)
      .value("LOSS", Result::kLoss)
      .value("DRAW", Result::kDraw);

  m.def("play_out", &play_out, nb::arg("board"), nb::arg("policy"), nb::arg("seed"),
        "Run one playout; return its moves and the outcome.");

  m.def(
      "tally_playouts",
      [](const Board& board, PlayoutPolicy policy, std::uint64_t count, std::uint64_t seed) {
        const nb::gil_scoped_release release;
        const PlayoutTally tally = tally_playouts(board, policy, count, seed);
        return std::vector<std::uint64_t>{tally.outcomes[1], tally.outcomes[2], tally.outcomes[3], tally.moves};
      },
      nb::arg("board"), nb::arg("policy"), nb::arg("count"), nb::arg("seed"),
      "Run `count` playouts; return black's wins, white's wins, the draws and the total number of moves.");

  nb::class_<RolloutLimits>(m, "RolloutLimits")
      .def(nb::init<>())
      .def_rw("time_ms", &RolloutLimits::time_ms)
      .def_rw("playouts", &RolloutLimits::playouts)
      .def_rw("threads", &RolloutLimits::threads)
      .def_rw("lines", &RolloutLimits::lines)
      .def_rw("excluded", &RolloutLimits::excluded);

  nb::class_<RolloutMove>(m, "RolloutMove", "Statistics of one root move, from the point of view of the side to move.")
      .def_ro("move", &RolloutMove::move)
      .def_ro("visits", &RolloutMove::visits)
      .def_ro("value_to_move", &RolloutMove::value_to_move)
      .def_ro("proof", &RolloutMove::proof)
      .def_ro("proof_plies", &RolloutMove::proof_plies)
      .def_ro("line", &RolloutMove::line);

  nb::class_<RolloutReport>(m, "RolloutReport", "The state of a rollout search. The best move comes first.")
      .def_ro("moves", &RolloutReport::moves)
      .def_ro("playouts", &RolloutReport::playouts)
      .def_ro("nodes", &RolloutReport::nodes)
      .def_ro("elapsed_ms", &RolloutReport::elapsed_ms);

  nb::class_<UctOptions>(m, "UctOptions")
      .def(nb::init<>())
      .def_rw("exploration", &UctOptions::exploration)
      .def_rw("policy", &UctOptions::policy)
      .def_rw("radius", &UctOptions::radius)
      .def_rw("expand_after", &UctOptions::expand_after)
      .def_rw("solve", &UctOptions::solve)
      .def_rw("memory_bytes", &UctOptions::memory_bytes);

  nb::class_<HmctsOptions>(m, "HmctsOptions")
      .def(nb::init<>())
      .def_rw("policy", &HmctsOptions::policy)
      .def_rw("radius", &HmctsOptions::radius)
      .def_rw("playouts_a_candidate", &HmctsOptions::playouts_a_candidate);

  nb::class_<Uct> uct(m, "Uct", "UCT. Runs one search at a time.");
  uct.def(nb::init<const UctOptions&>(), nb::arg("options"));
  bind_searcher(uct);

  nb::class_<Hmcts> hmcts(m, "Hmcts", "HMCTS. Runs one search at a time.");
  hmcts.def(nb::init<const HmctsOptions&>(), nb::arg("options"));
  bind_searcher(hmcts);
}

}  // namespace tengen::bindings
