#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "bindings/bindings.h"
#include "patterns/planes.h"
#include "play/self_play.h"
#include "search/puct/search.h"

namespace tengen::bindings {
namespace {

using PlaneRows = nb::ndarray<float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;
using PolicyRows = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Values = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatArray = nb::ndarray<nb::numpy, float>;

FloatArray make_array(const float* values, std::initializer_list<std::size_t> shape) {
  std::size_t size = 1;
  for (const std::size_t length : shape) size *= length;
  auto* copy = new float[size];
  std::copy_n(values, size, copy);
  return FloatArray(copy, shape,
                    nb::capsule(copy, [](void* memory) noexcept { delete[] static_cast<float*>(memory); }));
}

// A field of all searched moves of a game as float32 [moves].
template <typename Field>
FloatArray column(const SelfPlayGame& game, Field field) {
  std::vector<float> values;
  for (const SelfPlayMove& move : game.searched) values.push_back(static_cast<float>(move.*field));
  return make_array(values.data(), {values.size()});
}

FloatArray policies(const SelfPlayGame& game) {
  const std::size_t rows = game.searched.size();
  return make_array(game.policies.data(), {rows, rows ? game.policies.size() / rows : 0});
}

void check_planes(const PlaneRows& planes, const Rules& rules, PlaneLayout layout, std::size_t rows) {
  if (planes.shape(0) < rows || planes.shape(1) != static_cast<std::size_t>(plane_count(layout)) ||
      planes.shape(2) != static_cast<std::size_t>(rules.height) ||
      planes.shape(3) != static_cast<std::size_t>(rules.width))
    throw nb::value_error("the planes do not have the shape [rows, C, height, width]");
}

void check_answers(const PolicyRows& log_policies, const Values& values, const Rules& rules, int rows) {
  if (log_policies.shape(0) != static_cast<std::size_t>(rows) || values.shape(0) != static_cast<std::size_t>(rows) ||
      log_policies.shape(1) != static_cast<std::size_t>(rules.area()))
    throw nb::value_error("one log-policy [area] and one value are needed for each row");
}

void write_board_planes(const Board& board, PlaneLayout layout, int viewer,
                        nb::ndarray<float, nb::ndim<3>, nb::c_contig, nb::device::cpu>& planes) {
  const Rules& rules = board.rules();
  if (planes.shape(0) != static_cast<std::size_t>(plane_count(layout)) ||
      planes.shape(1) != static_cast<std::size_t>(rules.height) ||
      planes.shape(2) != static_cast<std::size_t>(rules.width))
    throw nb::value_error("the planes do not have the shape [C, height, width]");
  if (needs_patterns(layout) && rules.win_length != 4 && rules.win_length != 5)
    throw nb::value_error("patterns exist for win lengths 4 and 5");
  const PuctBoard seen(board, needs_patterns(layout));
  const Symmetries symmetries(rules.width, rules.height);
  write_planes(board, seen.patterns(), layout, static_cast<Colour>(viewer), symmetries.table(0), planes.data());
}

// Each row replays its game on one board that is taken back afterwards: its shapes are then up to date at little cost.
void write_game_planes(const Board& start, PlaneLayout layout,
                       const nb::ndarray<const std::uint16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>& moves,
                       const nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& counts,
                       const PlaneRows& planes) {
  const Rules& rules = start.rules();
  const std::size_t rows = moves.shape(0);
  check_planes(planes, rules, layout, rows);
  if (counts.shape(0) != rows) throw nb::value_error("one count of moves is needed for each row");
  if (needs_patterns(layout) && rules.win_length != 4 && rules.win_length != 5)
    throw nb::value_error("patterns exist for win lengths 4 and 5");
  for (std::size_t row = 0; row < rows; ++row)
    if (counts.data()[row] < 0 || static_cast<std::size_t>(counts.data()[row]) > moves.shape(1))
      throw nb::value_error("a row has fewer moves than its count");
  const nb::gil_scoped_release release;
  PuctBoard board(start, needs_patterns(layout));
  const Symmetries symmetries(rules.width, rules.height);
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(plane_count(layout)) * rules.area();
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint16_t* const points = moves.data() + row * moves.shape(1);
    int made = 0;
    for (; made < counts.data()[row]; ++made) {
      if (points[made] >= rules.area() || !board.board().is_empty(static_cast<Point>(points[made])) ||
          board.board().is_over())
        break;
      board.make(static_cast<Point>(points[made]));
    }
    if (made == counts.data()[row])
      write_planes(board.board(), board.patterns(), layout, board.board().to_move(), symmetries.table(0),
                   planes.data() + static_cast<std::ptrdiff_t>(row) * size);
    board.unmake(made);
    if (made != counts.data()[row]) {
      const nb::gil_scoped_acquire acquire;
      throw nb::value_error("a row has a move that cannot be played");
    }
  }
}

void bind_options(nb::module_& m) {
  nb::enum_<RootNoise>(m, "RootNoise")
      .value("NONE", RootNoise::kNone)
      .value("ROOT", RootNoise::kRoot)
      .value("EVERY", RootNoise::kEvery);
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
        "For each simulation of sequential halving, the visits that a root move must have to be considered.");
}

void bind_self_play(nb::module_& m) {
  nb::class_<OpeningOptions>(m, "OpeningOptions", "See tengen.search.puct_self_play.Openings.")
      .def(nb::init<>())
      .def_rw("list", &OpeningOptions::list)
      .def_rw("fraction", &OpeningOptions::fraction)
      .def_rw("random_stones", &OpeningOptions::random_stones)
      .def_rw("balance_candidates", &OpeningOptions::balance_candidates);

  nb::class_<SelfPlayGame>(m, "SelfPlayGame", "A game of self-play, finished or under way.")
      .def(nb::init<>())
      .def_rw("moves", &SelfPlayGame::moves)
      .def_rw("opening_length", &SelfPlayGame::opening_length)
      .def_ro("outcome", &SelfPlayGame::outcome)
      .def_ro("plies_left", &SelfPlayGame::plies_left)
      .def_prop_ro("policies", &policies, nb::rv_policy::move, "float32 [searched, area], a copy.")
      .def_prop_ro(
          "values", [](const SelfPlayGame& game) { return column(game, &SelfPlayMove::value); }, nb::rv_policy::move)
      .def_prop_ro(
          "surprises", [](const SelfPlayGame& game) { return column(game, &SelfPlayMove::surprise); },
          nb::rv_policy::move)
      .def_prop_ro(
          "full", [](const SelfPlayGame& game) { return column(game, &SelfPlayMove::full); }, nb::rv_policy::move,
          "float32 [searched]: 1 for full searches, 0 for quick ones.")
      .def("set_searched", [](SelfPlayGame& game, const PolicyRows& policies, const Values& values,
                              const Values& surprises, const Values& full) {
        const std::size_t rows = policies.shape(0);
        if (values.shape(0) != rows || surprises.shape(0) != rows || full.shape(0) != rows)
          throw nb::value_error("the arrays of a game differ in length");
        game.policies.assign(policies.data(), policies.data() + policies.size());
        game.searched.clear();
        for (std::size_t i = 0; i < rows; ++i)
          game.searched.push_back({values.data()[i], surprises.data()[i], full.data()[i] != 0});
      });

  nb::class_<SelfPlay>(m, "SelfPlay", "Games that a network plays against itself, many at once.")
      .def(
          "__init__",
          [](SelfPlay* self, const Board& board, PlaneLayout layout, const PuctOptions& options,
             const OpeningOptions& openings, int games,
             std::uint64_t seed) { new (self) SelfPlay(board.rules(), layout, options, openings, games, seed); },
          nb::arg("board"), nb::arg("layout"), nb::arg("options"), nb::arg("openings"), nb::arg("games"),
          nb::arg("seed"), "Games by the rules of `board`, whose stones are not looked at.")
      .def(
          "collect",
          [](SelfPlay& self, PlaneRows& planes) {
            if (self.waiting_rows() > 0) throw nb::value_error("rows are waiting for their answers");
            check_planes(planes, self.rules(), self.layout(), static_cast<std::size_t>(self.max_rows()));
            const nb::gil_scoped_release release;
            return self.collect(planes.data());
          },
          nb::arg("planes"), "Write the planes of leaves; the number of rows.")
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
      .def(
          "set_game",
          [](SelfPlay& self, int index, const SelfPlayGame& game, const Rng::State& rng_state) {
            if (!self.set_game(index, game, rng_state)) throw nb::value_error("not a game under way");
          },
          nb::arg("index"), nb::arg("game"), nb::arg("rng_state"))
      .def_prop_ro("max_rows", &SelfPlay::max_rows)
      .def_prop_ro("games", &SelfPlay::games)
      .def_prop_ro("finished_count", &SelfPlay::finished_count, "Games that take_finished would return.")
      .def_prop_ro(
          "counts",
          [](const SelfPlay& self) {
            const SelfPlayCounts& counts = self.counts();
            return std::vector<std::uint64_t>{counts.simulations, counts.evaluations, counts.cache_hits, counts.moves,
                                              counts.games};
          },
          "Simulations, evaluations, cache hits, moves, games.");
}

void check_worker(const PuctSearch& search, int worker) {
  if (worker < 0 || worker >= search.workers()) throw nb::index_error("no such worker");
}

void bind_puct_search(nb::module_& m) {
  nb::class_<PuctMove>(m, "PuctMove", "What a search says about one root move, seen by the side to move.")
      .def_ro("move", &PuctMove::move)
      .def_ro("visits", &PuctMove::visits)
      .def_ro("prior", &PuctMove::prior)
      .def_ro("value_to_move", &PuctMove::value_to_move)
      .def_ro("proof", &PuctMove::proof)
      .def_ro("proof_plies", &PuctMove::proof_plies)
      .def_ro("line", &PuctMove::line);

  nb::class_<PuctReport>(m, "PuctReport", "The state of a search; the decided move is first.")
      .def_ro("moves", &PuctReport::moves)
      .def_ro("policy", &PuctReport::policy)
      .def_ro("simulations", &PuctReport::simulations)
      .def_prop_ro("proof", [](const PuctReport& report) { return report.decision.proof; })
      .def_prop_ro("proof_plies", [](const PuctReport& report) { return report.decision.proof_plies; });

  nb::class_<PuctSearch>(m, "PuctSearch", "One position searched with a network, by workers that share the tree.")
      .def(
          "__init__",
          [](PuctSearch* self, const Board& board, PlaneLayout layout, const PuctOptions& options,
             std::size_t memory_bytes) { new (self) PuctSearch(board.rules(), layout, options, memory_bytes); },
          nb::arg("board"), nb::arg("layout"), nb::arg("options"), nb::arg("memory_bytes"),
          "For positions by the rules of `board`.")
      .def(
          "begin",
          [](PuctSearch& self, const Board& board, int simulations, std::int64_t time_ms,
             const std::vector<Point>& excluded, int workers, std::uint64_t seed, std::shared_ptr<StopSignal> stop) {
            if (board.rules() != self.rules()) throw nb::value_error("the board has other rules");
            const nb::gil_scoped_release release;
            self.begin(board, simulations, time_ms, excluded, workers, seed, std::move(stop));
          },
          nb::arg("board"), nb::arg("simulations"), nb::arg("time_ms"), nb::arg("excluded"), nb::arg("workers"),
          nb::arg("seed"), nb::arg("stop") = nb::none())
      .def(
          "collect",
          [](PuctSearch& self, int worker, PlaneRows& planes) {
            check_worker(self, worker);
            if (self.waiting_rows(worker) > 0) throw nb::value_error("rows are waiting for their answers");
            check_planes(planes, self.rules(), self.layout(), static_cast<std::size_t>(self.max_rows()));
            const nb::gil_scoped_release release;
            return self.collect(worker, planes.data());
          },
          nb::arg("worker"), nb::arg("planes"), "Write the planes of leaves; the number of rows.")
      .def_prop_ro("has_work", &PuctSearch::has_work, "Whether `collect` may find more leaves or visit more nodes.")
      .def(
          "supply",
          [](PuctSearch& self, int worker, const PolicyRows& log_policies, const Values& values) {
            check_worker(self, worker);
            check_answers(log_policies, values, self.rules(), self.waiting_rows(worker));
            const nb::gil_scoped_release release;
            self.supply(worker, log_policies.data(), values.data());
          },
          nb::arg("worker"), nb::arg("log_policies"), nb::arg("values"))
      .def(
          "abandon", [](PuctSearch& self, int worker) { check_worker(self, worker), self.abandon(worker); },
          nb::arg("worker"), nb::call_guard<nb::gil_scoped_release>(), "Take back walks that will get no answer.")
      .def("report", &PuctSearch::report, nb::arg("lines"), nb::arg("temperature"),
           nb::call_guard<nb::gil_scoped_release>())
      .def("end", &PuctSearch::end)
      .def("clear", &PuctSearch::clear, nb::call_guard<nb::gil_scoped_release>())
      .def("check", &PuctSearch::check, "Empty when the tree's counts agree and no walk is under way.")
      .def_prop_ro("is_over", &PuctSearch::is_over, nb::call_guard<nb::gil_scoped_release>())
      .def_prop_ro("simulations", &PuctSearch::simulations, nb::call_guard<nb::gil_scoped_release>(),
                   "Those done so far.")
      .def_prop_ro("max_rows", &PuctSearch::max_rows);
}

}  // namespace

void bind_puct(nb::module_& m) {
  m.def("write_planes", &write_board_planes, nb::arg("board"), nb::arg("layout"), nb::arg("viewer"), nb::arg("planes"),
        "Write float32 [C, height, width] as the viewer (0 black, 1 white) sees the board.");
  m.def("write_game_planes", &write_game_planes, nb::arg("start"), nb::arg("layout"), nb::arg("moves"),
        nb::arg("counts"), nb::arg("planes"),
        "Write float32 [B, C, height, width] as the side to move sees each row of uint16 moves [B, L] after its count "
        "of moves, int32 [B], played from the start.");
  bind_options(m);
  bind_self_play(m);
  bind_puct_search(m);
}

}  // namespace tengen::bindings
