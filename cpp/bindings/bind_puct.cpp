#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "core/checked.h"
#include "patterns/planes.h"
#include "play/game_planes.h"
#include "play/self_play.h"
#include "search/puct/search.h"

namespace tengen::bindings {
namespace {

using PlaneRows = nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using PolicyRows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatArray = nb::ndarray<nb::numpy, float>;

FloatArray copy_array(const float* values, std::initializer_list<std::size_t> shape) {
  std::size_t size = 1;
  for (const std::size_t length : shape) size *= length;
  auto* copy = new float[size];
  std::copy_n(values, size, copy);
  return own_array(copy, shape);
}

// One field of each searched move in a game, as float32 [moves].
template <typename Field>
FloatArray column(const SelfPlayGame& game, Field field) {
  std::vector<float> values;
  values.reserve(game.searched.size());
  for (const SelfPlayMove& move : game.searched) values.push_back(static_cast<float>(move.*field));
  return copy_array(values.data(), {values.size()});
}

FloatArray policies(const SelfPlayGame& game) {
  const std::size_t rows = game.searched.size();
  return copy_array(game.policies.data(), {rows, rows ? game.policies.size() / rows : 0});
}

// Check that the planes have space for at least `rows` rows.
void check_planes(const PlaneRows& planes, const Rules& rules, PlaneLayout layout, int rows) {
  check_shape(planes,
              {std::max(planes.shape(0), static_cast<std::size_t>(rows)), static_cast<std::size_t>(plane_count(layout)),
               static_cast<std::size_t>(rules.height), static_cast<std::size_t>(rules.width)},
              "planes");
}

void check_answers(const PolicyRows& log_policies, const Values& values, const Rules& rules, int rows) {
  check_shape(log_policies, {static_cast<std::size_t>(rows), static_cast<std::size_t>(rules.area())}, "log_policies");
  check_shape(values, {static_cast<std::size_t>(rows)}, "values");
}

void write_board_planes(const Board& board, PlaneLayout layout, int viewer,
                        const nb::ndarray<float, nb::ndim<3>, nb::c_contig, nb::device::cpu>& planes) {
  const Rules& rules = board.rules();
  check_shape(planes,
              {static_cast<std::size_t>(plane_count(layout)), static_cast<std::size_t>(rules.height),
               static_cast<std::size_t>(rules.width)},
              "planes");
  const PuctBoard seen(board, needs_patterns(layout));
  const Symmetries symmetries(rules.width, rules.height);
  write_planes(board, seen.patterns(), layout, checked_colour(viewer), symmetries.table(0), planes.data());
}

void write_rows(const Board& start, PlaneLayout layout,
                const nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& moves,
                const nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& counts,
                const PlaneRows& planes) {
  const std::size_t rows = moves.shape(0);
  check_planes(planes, start.rules(), layout, static_cast<int>(rows));
  check_shape(counts, {rows}, "counts");
  const nb::gil_scoped_release release;
  write_game_planes(start, layout, {moves.data(), moves.size()}, {counts.data(), rows}, planes.data());
}

void bind_options(nb::module_& m) {
  nb::enum_<RootNoise>(m, "RootNoise")
      .value("NONE", RootNoise::kNone)
      .value("ROOT", RootNoise::kRoot)
      .value("EVERY", RootNoise::kEvery)
      .value("CHOICE", RootNoise::kChoice);
  nb::enum_<SymmetryUse>(m, "SymmetryUse")
      .value("NONE", SymmetryUse::kNone)
      .value("RANDOM", SymmetryUse::kRandom)
      .value("AVERAGE", SymmetryUse::kAverage);

  nb::class_<PuctOptions>(m, "PuctOptions", "See tengen.search.puct_config.PuctConfig.")
      .def(nb::init<>())
      .def_rw("simulations", &PuctOptions::simulations)
      .def_rw("c_puct", &PuctOptions::c_puct)
      .def_rw("c_puct_growth", &PuctOptions::c_puct_growth)
      .def_rw("c_puct_base", &PuctOptions::c_puct_base)
      .def_rw("fpu_from_parent", &PuctOptions::fpu_from_parent)
      .def_rw("fpu_reduction", &PuctOptions::fpu_reduction)
      .def_rw("fpu_reduction_root", &PuctOptions::fpu_reduction_root)
      .def_rw("first_play_value", &PuctOptions::first_play_value)
      .def_rw("virtual_loss", &PuctOptions::virtual_loss)
      .def_rw("leaves", &PuctOptions::leaves)
      .def_rw("noise", &PuctOptions::noise)
      .def_rw("noise_alpha", &PuctOptions::noise_alpha)
      .def_rw("noise_alpha_total", &PuctOptions::noise_alpha_total)
      .def_rw("noise_fraction", &PuctOptions::noise_fraction)
      .def_rw("root_temperature", &PuctOptions::root_temperature)
      .def_rw("solve", &PuctOptions::solve)
      .def_rw("tactics", &PuctOptions::tactics)
      .def_rw("vcf_nodes_leaf", &PuctOptions::vcf_nodes_leaf)
      .def_rw("vcf_nodes_root", &PuctOptions::vcf_nodes_root)
      .def_rw("vct_nodes", &PuctOptions::vct_nodes)
      .def_rw("vct_visits", &PuctOptions::vct_visits)
      .def_rw("discount", &PuctOptions::discount)
      .def_rw("gumbel", &PuctOptions::gumbel)
      .def_rw("gumbel_candidates", &PuctOptions::gumbel_candidates)
      .def_rw("gumbel_scale", &PuctOptions::gumbel_scale)
      .def_rw("gumbel_visit_offset", &PuctOptions::gumbel_visit_offset)
      .def_rw("gumbel_value_scale", &PuctOptions::gumbel_value_scale)
      .def_rw("symmetry", &PuctOptions::symmetry)
      .def_rw("cache_entries", &PuctOptions::cache_entries)
      .def_rw("reuse_tree", &PuctOptions::reuse_tree)
      .def_rw("forced_playouts", &PuctOptions::forced_playouts)
      .def_rw("full_fraction", &PuctOptions::full_fraction)
      .def_rw("fast_simulations", &PuctOptions::fast_simulations)
      .def_rw("temperature", &PuctOptions::temperature)
      .def_rw("temperature_plies", &PuctOptions::temperature_plies)
      .def_rw("temperature_final", &PuctOptions::temperature_final)
      .def_rw("stop_when_proved", &PuctOptions::stop_when_proved);

  m.def("plan_halving", &plan_halving, nb::arg("candidates"), nb::arg("simulations"),
        "Return, for each simulation of sequential halving, the visit count that a root move needs to be considered.");
}

void bind_self_play(nb::module_& m) {
  nb::class_<OpeningOptions>(m, "OpeningOptions", "See tengen.search.puct_self_play.Openings.")
      .def(nb::init<>())
      .def_rw("list", &OpeningOptions::list)
      .def_rw("fraction", &OpeningOptions::fraction)
      .def_rw("random_stones", &OpeningOptions::random_stones)
      .def_rw("balance_candidates", &OpeningOptions::balance_candidates);

  nb::class_<SelfPlayGame>(m, "SelfPlayGame", "A game of self-play, finished or not.")
      .def(nb::init<>())
      .def_rw("moves", &SelfPlayGame::moves)
      .def_rw("opening_length", &SelfPlayGame::opening_length)
      .def_ro("outcome", &SelfPlayGame::outcome)
      .def_ro("plies_left", &SelfPlayGame::plies_left)
      .def_prop_ro("policies", &policies, nb::rv_policy::move, "A copy of the policies, float32 [searched, area].")
      .def_prop_ro(
          "values", [](const SelfPlayGame& game) { return column(game, &SelfPlayMove::value); }, nb::rv_policy::move)
      .def_prop_ro(
          "surprises", [](const SelfPlayGame& game) { return column(game, &SelfPlayMove::surprise); },
          nb::rv_policy::move)
      .def_prop_ro(
          "full", [](const SelfPlayGame& game) { return column(game, &SelfPlayMove::full); }, nb::rv_policy::move,
          "float32 [searched]: 1 for full searches, 0 for fast ones.")
      .def("set_searched", [](SelfPlayGame& game, const PolicyRows& policies, const Values& values,
                              const Values& surprises, const Values& full) {
        const std::size_t rows = policies.shape(0);
        check_shape(values, {rows}, "values");
        check_shape(surprises, {rows}, "surprises");
        check_shape(full, {rows}, "full");
        game.policies.assign(policies.data(), policies.data() + policies.size());
        game.searched.clear();
        for (std::size_t i = 0; i < rows; ++i)
          game.searched.push_back({values.data()[i], surprises.data()[i], full.data()[i] != 0});
      });

  nb::class_<SelfPlay>(m, "SelfPlay", "Many games that a network plays against itself.")
      .def(
          "__init__",
          [](SelfPlay* self, const Board& board, PlaneLayout layout, const PuctOptions& options,
             const OpeningOptions& openings, int games,
             std::uint64_t seed) { new (self) SelfPlay(board.rules(), layout, options, openings, games, seed); },
          nb::arg("board"), nb::arg("layout"), nb::arg("options"), nb::arg("openings"), nb::arg("games"),
          nb::arg("seed"), "Create games with the rules of `board`; its stones are ignored.")
      .def(
          "collect",
          [](SelfPlay& self, const PlaneRows& planes) {
            check_planes(planes, self.rules(), self.layout(), self.max_rows());
            const nb::gil_scoped_release release;
            return self.collect(planes.data());
          },
          nb::arg("planes"), "Write the planes of leaves that need an evaluation; return the number of rows.")
      .def(
          "supply",
          [](SelfPlay& self, const PolicyRows& log_policies, const Values& values) {
            check_answers(log_policies, values, self.rules(), self.waiting_rows());
            const nb::gil_scoped_release release;
            self.supply(log_policies.data(), values.data());
          },
          nb::arg("log_policies"), nb::arg("values"))
      .def("take_finished", &SelfPlay::take_finished)
      .def("clear_cache", &SelfPlay::clear_cache)
      .def("restart", &SelfPlay::restart, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "game", [](const SelfPlay& self, int index) { return SelfPlayGame(self.game(index)); }, nb::arg("index"))
      .def("rng_state", &SelfPlay::rng_state, nb::arg("index"))
      .def("set_game", &SelfPlay::set_game, nb::arg("index"), nb::arg("game"), nb::arg("rng_state"))
      .def_prop_ro("max_rows", &SelfPlay::max_rows)
      .def_prop_ro("games", &SelfPlay::games)
      .def_prop_ro("finished_count", &SelfPlay::finished_count, "Number of games that take_finished would return.")
      .def_prop_ro(
          "counts",
          [](const SelfPlay& self) {
            const SelfPlayCounts& counts = self.counts();
            return std::vector<std::uint64_t>{counts.simulations, counts.evaluations, counts.cache_hits, counts.moves,
                                              counts.games};
          },
          "Simulations, evaluations, cache hits, moves, games.");
}

void bind_puct_search(nb::module_& m) {
  nb::class_<PuctMove>(m, "PuctMove", "Statistics of one root move, from the point of view of the side to move.")
      .def_ro("move", &PuctMove::move)
      .def_ro("visits", &PuctMove::visits)
      .def_ro("prior", &PuctMove::prior)
      .def_ro("value_to_move", &PuctMove::value_to_move)
      .def_ro("proof", &PuctMove::proof)
      .def_ro("proof_plies", &PuctMove::proof_plies)
      .def_ro("line", &PuctMove::line);

  nb::class_<PuctReport>(m, "PuctReport", "The state of a search. The chosen move comes first.")
      .def_ro("moves", &PuctReport::moves)
      .def_ro("policy", &PuctReport::policy)
      .def_ro("simulations", &PuctReport::simulations)
      .def_prop_ro("proof", [](const PuctReport& report) { return report.decision.proof; })
      .def_prop_ro("proof_plies", [](const PuctReport& report) { return report.decision.proof_plies; });

  nb::class_<PuctSearch>(m, "PuctSearch", "Network-guided search of one position by workers that share a tree.")
      .def(
          "__init__",
          [](PuctSearch* self, const Board& board, PlaneLayout layout, const PuctOptions& options,
             std::size_t memory_bytes) { new (self) PuctSearch(board.rules(), layout, options, memory_bytes); },
          nb::arg("board"), nb::arg("layout"), nb::arg("options"), nb::arg("memory_bytes"),
          "Create a search for positions with the rules of `board`; its stones are ignored.")
      .def("begin", &PuctSearch::begin, nb::arg("board"), nb::arg("simulations"), nb::arg("time_ms"),
           nb::arg("excluded"), nb::arg("workers"), nb::arg("seed"), nb::arg("stop") = nb::none(),
           nb::call_guard<nb::gil_scoped_release>())
      .def(
          "collect",
          [](PuctSearch& self, int worker, const PlaneRows& planes) {
            check_planes(planes, self.rules(), self.layout(), self.max_rows());
            const nb::gil_scoped_release release;
            return self.collect(worker, planes.data());
          },
          nb::arg("worker"), nb::arg("planes"),
          "Write the planes of leaves that need an evaluation; return the number of rows.")
      .def_prop_ro("has_work", &PuctSearch::has_work, "Whether `collect` may find more leaves or visit more nodes.")
      .def(
          "supply",
          [](PuctSearch& self, int worker, const PolicyRows& log_policies, const Values& values) {
            check_answers(log_policies, values, self.rules(), self.waiting_rows(worker));
            const nb::gil_scoped_release release;
            self.supply(worker, log_policies.data(), values.data());
          },
          nb::arg("worker"), nb::arg("log_policies"), nb::arg("values"))
      .def("abandon", &PuctSearch::abandon, nb::arg("worker"), nb::call_guard<nb::gil_scoped_release>(),
           "Cancel the pending walks of a worker whose rows will not be evaluated.")
      .def("report", &PuctSearch::report, nb::arg("lines"), nb::arg("temperature"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("end", &PuctSearch::end)
      .def("clear", &PuctSearch::clear, nb::call_guard<nb::gil_scoped_release>())
      .def("check", &PuctSearch::check,
           "Check that the counts of the tree are consistent and no walk is pending; return '' or the error.")
      .def_prop_ro("is_over", &PuctSearch::is_over, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("simulations", &PuctSearch::simulations, nb::call_guard<nb::gil_scoped_release>(),
                   "Number of finished simulations.")
      .def_prop_ro("max_rows", &PuctSearch::max_rows);
}

}  // namespace

void bind_puct(nb::module_& m) {
  m.def("write_planes", &write_board_planes, nb::arg("board"), nb::arg("layout"), nb::arg("viewer"), nb::arg("planes"),
        "Write the planes for the viewer (0 black, 1 white), float32 [C, height, width].");
  m.def("write_game_planes", &write_rows, nb::arg("start"), nb::arg("layout"), nb::arg("moves"), nb::arg("counts"),
        nb::arg("planes"),
        "Write planes, float32 [B, C, height, width], for the side to move. Row i of `moves`, uint16 [B, L], is a game "
        "from `start`; its position is the one after counts[i] moves, int32 [B].");
  bind_options(m);
  bind_self_play(m);
  bind_puct_search(m);
}

}  // namespace tengen::bindings
