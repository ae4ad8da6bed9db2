#include <nanobind/stl/function.h>
#include <nanobind/stl/vector.h>

#include <functional>

#include "bindings/bindings.h"
#include "search/fudan/search.h"

namespace tengen::bindings {
namespace {

fudan::Report run_search(fudan::Search& search, const Board& board, const fudan::Limits& limits,
                         const std::function<void(const fudan::Report&)>& on_report, const StopSignal* stop) {
  const nb::gil_scoped_release release;
  if (!on_report) return search.search(board, limits, {}, stop);
  const auto report_with_gil = [&on_report](const fudan::Report& report) {
    const nb::gil_scoped_acquire acquire;
    on_report(report);
  };
  return search.search(board, limits, report_with_gil, stop);
}

}  // namespace

void bind_fudan(nb::module_& m) {
  nb::enum_<fudan::Keys>(m, "FudanKeys", "The keys of the score dictionary.")
      .value("ALL", fudan::Keys::kAll)
      .value("AS_AUTHORED", fudan::Keys::kAsAuthored);

  nb::enum_<fudan::Evaluation>(m, "FudanEvaluation", "The method of scoring line shapes.")
      .value("DICTIONARY", fudan::Evaluation::kDictionary)
      .value("TABLE", fudan::Evaluation::kTable);

  nb::enum_<fudan::CheckmateKind>(m, "FudanCheckmate", "The checkmate search at the root.")
      .value("OFF", fudan::CheckmateKind::kOff)
      .value("BOTH_SIDES", fudan::CheckmateKind::kBothSides)
      .value("AUTHORS", fudan::CheckmateKind::kAuthors);

  m.def(
      "fudan_shape_score",
      [](fudan::Keys keys, bool low_blocked, int low_outer, int middle, int high_outer, bool high_blocked) {
        return fudan::ScoreDictionary::of(keys)[{low_blocked, low_outer, middle, high_outer, high_blocked}];
      },
      nb::arg("keys"), nb::arg("low_blocked"), nb::arg("low_outer"), nb::arg("middle"), nb::arg("high_outer"),
      nb::arg("high_blocked"), "Return the score of a shape; outer lengths range from 0 to 4, `middle` from 1 to 4.");

  nb::class_<fudan::ScoreOptions>(m, "FudanScoreOptions")
      .def(nb::init<>())
      .def_rw("keys", &fudan::ScoreOptions::keys)
      .def_rw("evaluation", &fudan::ScoreOptions::evaluation)
      .def_rw("blocked_update", &fudan::ScoreOptions::blocked_update)
      .def_rw("peer_update", &fudan::ScoreOptions::peer_update);

  nb::class_<fudan::PointScores>(m, "FudanPointScores", "The scores of all points, updated incrementally.")
      .def(nb::init<const fudan::ScoreOptions&, const Board&>(), nb::arg("options"), nb::arg("board"))
      .def("place", &fudan::PointScores::place, nb::arg("point"), nb::arg("colour"))
      .def("remove", &fudan::PointScores::remove, nb::arg("point"))
      .def(
          "score",
          [](const fudan::PointScores& scores, Colour colour, Point point) { return scores.score(colour, point); },
          nb::arg("colour"), nb::arg("point"))
      .def(
          "direction_scores",
          [](const fudan::PointScores& scores, Colour colour, Point point) {
            std::vector<fudan::Score> directions;
            directions.reserve(kDirections);
            for (int d = 0; d < kDirections; ++d) directions.push_back(scores.score(colour, point, d));
            return directions;
          },
          nb::arg("colour"), nb::arg("point"),
          "Return one score per direction: row, column, rising and falling diagonal.")
      .def("stone_sum", &fudan::PointScores::stone_sum, nb::arg("colour"))
      .def_prop_ro("hash", &fudan::PointScores::hash)
      .def_prop_ro("neighbours", [](const fudan::PointScores& scores) {
        std::vector<Point> points;
        scores.neighbours().for_each([&](Point p) { points.push_back(p); });
        return points;
      });

  nb::class_<fudan::Options>(m, "FudanOptions")
      .def(nb::init<>())
      .def_rw("scores", &fudan::Options::scores)
      .def_rw("hash_index", &fudan::Options::hash_index)
      .def_rw("checkmate", &fudan::Options::checkmate)
      .def_rw("prefers_fast_wins", &fudan::Options::prefers_fast_wins);

  nb::class_<fudan::Limits>(m, "FudanLimits")
      .def(nb::init<>())
      .def_rw("time_ms", &fudan::Limits::time_ms)
      .def_rw("nodes", &fudan::Limits::nodes)
      .def_rw("depth", &fudan::Limits::depth)
      .def_rw("lines", &fudan::Limits::lines);

  nb::class_<fudan::Line>(m, "FudanLine", "A line of play with its value for the side to move.")
      .def_ro("value", &fudan::Line::value)
      .def_ro("moves", &fudan::Line::moves);

  nb::class_<fudan::Report>(m, "FudanReport", "The state of a search after an iteration.")
      .def_ro("lines", &fudan::Report::lines)
      .def_ro("depth", &fudan::Report::depth)
      .def_ro("nodes", &fudan::Report::nodes)
      .def_ro("elapsed_ms", &fudan::Report::elapsed_ms)
      .def_ro("win_plies", &fudan::Report::win_plies);

  nb::class_<fudan::Search>(m, "FudanSearch", "The alpha-beta search of the fudan report. Runs one search at a time.")
      .def(nb::init<const fudan::Options&>(), nb::arg("options"))
      .def("search", &run_search, nb::arg("board"), nb::arg("limits"), nb::arg("on_report") = nb::none(),
           nb::arg("stop") = nb::none(),
           "Search a position; the game must not be over. The callback receives a FudanReport after each iteration.");

  m.attr("FUDAN_SCORE_UNIT") = fudan::kScoreUnit;
  m.attr("FUDAN_WIN_BOUND") = fudan::kWinBound;
}

}  // namespace tengen::bindings
