#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <tuple>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "search/alphabeta/clock.h"
#include "search/alphabeta/engine.h"
#include "search/solvers/four_solver.h"
#include "search/solvers/threat_solver.h"
#include "search/stop_signal.h"

namespace tengen::bindings {
namespace {

using Int16Array = nb::ndarray<nb::numpy, std::int16_t, nb::ndim<2>, nb::c_contig>;
using ConstInt16Array = nb::ndarray<const std::int16_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Copies between the tables of Weights and int16 arrays [2, n].
template <typename Table>
void copy_in(const ConstInt16Array& array, Table& table, const char* name) {
  check_shape(array, {table.size(), table[0].size()}, name);
  for (std::size_t i = 0; i < table.size(); ++i)
    std::copy_n(array.data() + i * table[0].size(), table[0].size(), table[i].begin());
}

template <typename Table>
Int16Array copy_out(const Table& table) {
  const std::size_t columns = table[0].size();
  auto* data = new std::int16_t[table.size() * columns];
  for (std::size_t i = 0; i < table.size(); ++i) std::copy(table[i].begin(), table[i].end(), data + i * columns);
  return own_array<nb::ndim<2>, nb::c_contig>(data, {table.size(), columns});
}

// Copies between nested arrays and arrays of the same shape, with any number of dimensions.
template <typename Number>
using ConstArray = nb::ndarray<const Number, nb::c_contig, nb::device::cpu>;

template <typename Number, typename Nested>
void copy_in(const ConstArray<Number>& array, Nested& nested, std::initializer_list<std::size_t> shape,
             const char* name) {
  check_shape(array, shape, name);
  static_assert(std::is_trivially_copyable_v<Nested>);
  std::memcpy(static_cast<void*>(&nested), array.data(), sizeof(nested));
}

template <typename Number, typename Nested>
nb::ndarray<nb::numpy, Number> copy_out(const Nested& nested, std::initializer_list<std::size_t> shape) {
  auto* data = new Number[sizeof(nested) / sizeof(Number)];
  std::memcpy(data, &nested, sizeof(nested));
  return own_array(data, shape);
}

constexpr std::size_t kHidden = EvaluationNet::kHidden;
constexpr std::size_t kInputs = EvaluationNet::kInputs;
constexpr std::size_t kThreatSets = std::size_t{1} << kThreatBits;

std::shared_ptr<EvaluationNet> make_net(const ConstArray<std::int16_t>& own, const ConstArray<std::int16_t>& other,
                                        const ConstArray<std::int16_t>& first, const ConstArray<std::int32_t>& threats,
                                        const ConstArray<std::int16_t>& second,
                                        const ConstArray<std::int32_t>& second_bias,
                                        const ConstArray<std::int16_t>& output, std::int32_t output_bias) {
  auto net = std::make_shared<EvaluationNet>();
  copy_in(own, net->points.own, {2, kShapeCodes, kFeatures}, "own");
  copy_in(other, net->points.other, {2, kShapeCodes, kFeatures}, "other");
  copy_in(first, net->first, {2, kHidden, kInputs}, "first");
  copy_in(threats, net->threats, {2, kThreatSets, kHidden}, "threats");
  copy_in(second, net->second, {kHidden, kHidden}, "second");
  copy_in(second_bias, net->second_bias, {kHidden}, "second_bias");
  copy_in(output, net->output, {kHidden}, "output");
  net->output_bias = output_bias;
  return net;
}

SearchReport run_search(Engine& engine, const Board& board, const SearchLimits& limits,
                        const std::function<void(const SearchReport&)>& on_report, const StopSignal* stop) {
  const nb::gil_scoped_release release;
  if (!on_report) return engine.search(board, limits, {}, stop);
  const auto report_with_gil = [&on_report](const SearchReport& report) {
    const nb::gil_scoped_acquire acquire;
    on_report(report);
  };
  return engine.search(board, limits, report_with_gil, stop);
}

std::function<bool()> question_of(const StopSignal* stop) {
  if (!stop) return {};
  return [stop] { return stop->is_set(); };
}

void bind_ingredients(nb::module_& m) {
  nb::enum_<Ingredient>(m, "Ingredient", "A part of the search that can be disabled (cpp/search/alphabeta/options.h).",
                        nb::is_arithmetic())
      .value("STATIC_WINS", kStaticWins)
      .value("DEFENCE_SETS", kDefenceSets)
      .value("LEAF_FOURS", kLeafFours)
      .value("RAZORING", kRazoring)
      .value("FUTILITY", kFutility)
      .value("MOVE_COUNT_PRUNING", kMoveCountPruning)
      .value("REDUCTIONS", kReductions)
      .value("FOUR_EXTENSION", kFourExtension)
      .value("SINGULAR", kSingular)
      .value("ASPIRATION", kAspiration)
      .value("HISTORY", kHistory)
      .value("COUNTER_MOVE", kCounterMove)
      .value("TABLE", kTable)
      .value("ROOT_FOURS", kRootFours)
      .value("FAIL_HIGH_REDUCTION", kFailHighReduction)
      .value("NETWORK", kNetwork)
      .value("CLOCK", kClock);
}

void bind_clock(nb::module_& m) {
  nb::class_<MoveClock>(m, "MoveClock", "Decides when the search for one move ends (cpp/search/alphabeta/clock.h).")
      .def(
          "__init__",
          [](MoveClock* self, std::int64_t time_ms, std::int64_t clock_ms, std::int64_t increment_ms, int stones,
             int area,
             bool is_managed) { new (self) MoveClock({time_ms, clock_ms, increment_ms}, stones, area, is_managed); },
          nb::kw_only(), nb::arg("time_ms") = -1, nb::arg("clock_ms") = -1, nb::arg("increment_ms") = 0,
          nb::arg("stones"), nb::arg("area"), nb::arg("is_managed") = true)
      .def_prop_ro("soft_ms", &MoveClock::soft_ms, "The time that the move should take on average; -1 for no limit.")
      .def_prop_ro("hard_ms", &MoveClock::hard_ms, "The time at which the search is stopped; -1 for no limit.")
      .def("set_single_move", &MoveClock::set_single_move, "Lower the limits because there is a single move.")
      .def(
          "is_enough",
          [](MoveClock& clock, int depth, std::int64_t elapsed_ms, Point move, Value value, bool is_only_move) {
            return clock.is_enough({depth, elapsed_ms, move, value, is_only_move});
          },
          nb::kw_only(), nb::arg("depth"), nb::arg("elapsed_ms"), nb::arg("move"), nb::arg("value"),
          nb::arg("is_only_move") = false, "Record a completed iteration; return whether the search should end.");
}

}  // namespace

void bind_search(nb::module_& m) {
  nb::class_<StopSignal>(m, "StopSignal",
                         "A request to stop a search. Any thread may set it at any time; it is never cleared.")
      .def(nb::init<>())
      .def("set", &StopSignal::set)
      .def("is_set", &StopSignal::is_set);

  bind_ingredients(m);
  m.def(
      "search_parameters",
      [] {
        std::vector<std::tuple<std::string, int, int, int>> all;
        all.reserve(kParameters.size());
        for (const ParameterInfo& info : kParameters)
          all.emplace_back(info.name, SearchParameters{}.*info.member, info.low, info.high);
        return all;
      },
      "Return all search parameters: name, default, and the bounds for tuning.");

  nb::class_<EvaluationNet>(m, "EvaluationNet", "The small network of the evaluation (cpp/eval/weights.h).")
      .def(nb::new_(&make_net), nb::arg("own"), nb::arg("other"), nb::arg("first"), nb::arg("threats"),
           nb::arg("second"), nb::arg("second_bias"), nb::arg("output"), nb::arg("output_bias"))
      .def_prop_ro(
          "own",
          [](const EvaluationNet& net) { return copy_out<std::int16_t>(net.points.own, {2, kShapeCodes, kFeatures}); },
          nb::rv_policy::move)
      .def_prop_ro(
          "other",
          [](const EvaluationNet& net) {
            return copy_out<std::int16_t>(net.points.other, {2, kShapeCodes, kFeatures});
          },
          nb::rv_policy::move)
      .def_prop_ro(
          "first", [](const EvaluationNet& net) { return copy_out<std::int16_t>(net.first, {2, kHidden, kInputs}); },
          nb::rv_policy::move)
      .def_prop_ro(
          "threats",
          [](const EvaluationNet& net) { return copy_out<std::int32_t>(net.threats, {2, kThreatSets, kHidden}); },
          nb::rv_policy::move)
      .def_prop_ro(
          "second", [](const EvaluationNet& net) { return copy_out<std::int16_t>(net.second, {kHidden, kHidden}); },
          nb::rv_policy::move)
      .def_prop_ro(
          "second_bias", [](const EvaluationNet& net) { return copy_out<std::int32_t>(net.second_bias, {kHidden}); },
          nb::rv_policy::move)
      .def_prop_ro(
          "output", [](const EvaluationNet& net) { return copy_out<std::int16_t>(net.output, {kHidden}); },
          nb::rv_policy::move)
      .def_ro("output_bias", &EvaluationNet::output_bias)
      .def_prop_ro_static("FEATURES", [](nb::handle) { return kFeatures; })
      .def_prop_ro_static("HIDDEN", [](nb::handle) { return EvaluationNet::kHidden; })
      .def_prop_ro_static("SHIFT", [](nb::handle) { return EvaluationNet::kShift; })
      .def_prop_ro_static("OUTPUT_UNIT", [](nb::handle) { return EvaluationNet::kOutputUnit; });

  nb::class_<Weights>(m, "Weights", "The weights of the evaluation and of move ordering, as int16 arrays [2, n].")
      .def_static("prior", [] { return Weights(Weights::prior()); })
      .def(
          "__init__",
          [](Weights* self, const ConstInt16Array& points, const ConstInt16Array& threats,
             const ConstInt16Array& attack, const ConstInt16Array& defence, std::shared_ptr<EvaluationNet> net) {
            new (self) Weights();
            copy_in(points, self->points.value, "points");
            copy_in(threats, self->threats, "threats");
            copy_in(attack, self->attack, "attack");
            copy_in(defence, self->defence, "defence");
            self->net = std::move(net);
          },
          nb::arg("points"), nb::arg("threats"), nb::arg("attack"), nb::arg("defence"), nb::arg("net") = nb::none())
      .def(
          "evaluate",
          [](const Weights& weights, const Board& board) {
            return evaluate(PatternBoard(board, weights.points, weights.features()), weights);
          },
          nb::arg("board"), "Return the static evaluation for the side to move.")
      .def_prop_ro("net", [](const Weights& weights) { return std::const_pointer_cast<EvaluationNet>(weights.net); })
      .def_prop_ro(
          "points", [](const Weights& weights) { return copy_out(weights.points.value); }, nb::rv_policy::move)
      .def_prop_ro(
          "threats", [](const Weights& weights) { return copy_out(weights.threats); }, nb::rv_policy::move)
      .def_prop_ro(
          "attack", [](const Weights& weights) { return copy_out(weights.attack); }, nb::rv_policy::move)
      .def_prop_ro("defence", [](const Weights& weights) { return copy_out(weights.defence); }, nb::rv_policy::move);

  nb::class_<SearchLine>(m, "SearchLine", "A line of play with its value for the side to move.")
      .def_ro("value", &SearchLine::value)
      .def_ro("depth", &SearchLine::depth)
      .def_ro("reach", &SearchLine::reach)
      .def_ro("moves", &SearchLine::moves);

  nb::class_<SearchReport>(m, "SearchReport", "The state of a search after an iteration.")
      .def_ro("lines", &SearchReport::lines)
      .def_ro("depth", &SearchReport::depth)
      .def_ro("nodes", &SearchReport::nodes)
      .def_ro("elapsed_ms", &SearchReport::elapsed_ms);

  nb::class_<SearchLimits>(m, "SearchLimits")
      .def(nb::init<>())
      .def_rw("time_ms", &SearchLimits::time_ms)
      .def_rw("clock_ms", &SearchLimits::clock_ms)
      .def_rw("increment_ms", &SearchLimits::increment_ms)
      .def_rw("nodes", &SearchLimits::nodes)
      .def_rw("depth", &SearchLimits::depth)
      .def_rw("threads", &SearchLimits::threads)
      .def_rw("lines", &SearchLimits::lines)
      .def_rw("excluded", &SearchLimits::excluded);

  bind_clock(m);
  nb::class_<Engine>(m, "Engine", "The alpha-beta engine. Runs one search at a time.")
      .def(nb::init<std::size_t>(), nb::arg("table_bytes"), nb::call_guard<nb::gil_scoped_release>())
      .def("set_weights", &Engine::set_weights, nb::arg("weights"))
      .def(
          "set_options",
          [](Engine& engine, std::uint32_t ingredients, int max_four_depth,
             const std::map<std::string, int>& parameters) {
            SearchOptions options{ingredients, max_four_depth, {}};
            for (const auto& [name, value] : parameters) set_parameter(options.parameters, name, value);
            engine.set_options(options);
          },
          nb::arg("ingredients"), nb::arg("max_four_depth"), nb::arg("parameters") = std::map<std::string, int>{},
          "Set the options. Parameters that are not given get their defaults.")
      .def("set_table_bytes", &Engine::set_table_bytes, nb::arg("bytes"), nb::call_guard<nb::gil_scoped_release>())
      .def("new_game", &Engine::new_game, nb::call_guard<nb::gil_scoped_release>())
      .def("touch_table", &Engine::touch_table, nb::call_guard<nb::gil_scoped_release>(),
           "Make the table's memory resident, so that page faults do not slow down the first search.")
      .def("search", &run_search, nb::arg("board"), nb::arg("limits"), nb::arg("on_report") = nb::none(),
           nb::arg("stop") = nb::none(),
           "Search a position; the game must not be over. The callback receives a SearchReport after each iteration.")
      .def_prop_ro("table_bytes", &Engine::table_bytes)
      .def_prop_ro("table_usage", &Engine::table_usage,
                   "Entries written by the current search, per thousand entries of the table.");

  nb::enum_<Verdict>(m, "Verdict", "The result of a solver.")
      .value("UNKNOWN", Verdict::kUnknown)
      .value("WIN", Verdict::kWin)
      .value("NO_WIN", Verdict::kNoWin);

  nb::class_<FourSolver>(m, "FourSolver", "Finds wins by continuous fours (VCF).")
      .def(nb::init<int>(), nb::arg("log2_table") = 16)
      .def(
          "solve",
          [](FourSolver& solver, const Board& board, std::uint64_t max_nodes, const StopSignal* stop) {
            const nb::gil_scoped_release release;
            PatternBoard patterns(board, Weights::prior().points);
            return solver.solve(patterns, max_nodes, question_of(stop));
          },
          nb::arg("board"), nb::arg("max_nodes"), nb::arg("stop") = nb::none())
      .def_prop_ro("line", [](const FourSolver& solver) { return solver.line(); })
      .def_prop_ro("nodes", &FourSolver::nodes);

  nb::class_<ThreatSolver>(m, "ThreatSolver", "Finds wins by continuous fours and threes (VCT).")
      .def(nb::init<int>(), nb::arg("log2_table") = 20)
      .def(
          "solve",
          [](ThreatSolver& solver, const Board& board, std::uint64_t max_nodes, std::int64_t time_ms,
             const StopSignal* stop) {
            const nb::gil_scoped_release release;
            PatternBoard patterns(board, Weights::prior().points);
            return solver.solve(patterns, {max_nodes, time_ms}, question_of(stop));
          },
          nb::arg("board"), nb::arg("max_nodes"), nb::arg("time_ms"), nb::arg("stop") = nb::none())
      .def(
          "solve_fours",
          [](ThreatSolver& solver, const Board& board, std::uint64_t max_nodes, const StopSignal* stop) {
            const nb::gil_scoped_release release;
            PatternBoard patterns(board, Weights::prior().points);
            return solver.solve_fours(patterns, max_nodes, question_of(stop));
          },
          nb::arg("board"), nb::arg("max_nodes"), nb::arg("stop") = nb::none())
      .def_prop_ro("line", [](const ThreatSolver& solver) { return solver.line(); })
      .def_prop_ro("nodes", &ThreatSolver::nodes);

  m.attr("ALL_INGREDIENTS") = static_cast<std::uint32_t>(kAllIngredients);
  m.attr("MATE_BOUND") = kMateBound;
  m.def("is_proved", &is_proved, nb::arg("value"), "Return whether a search value is a proved win or loss.");
  m.def("plies_to_end", &plies_to_end, nb::arg("value"), "Return the plies to the end of the game for a win or loss.");
  m.attr("LOGISTIC_UNIT") = kLogisticUnit;
}

}  // namespace tengen::bindings
