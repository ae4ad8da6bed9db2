#include "bindings/bindings.h"
#include "core/checked.h"
#include "play/policies.h"

namespace tengen::bindings {
void bind_play(nb::module_& m) {
  nb::enum_<PolicyKind>(m, "PolicyKind", "The simple players (docs/how/players.md).")
      .value("RANDOM", PolicyKind::kRandom)
      .value("NAIVE0", PolicyKind::kNaive0)
      .value("NAIVE1", PolicyKind::kNaive1)
      .value("NAIVE2", PolicyKind::kNaive2)
      .value("NAIVE3", PolicyKind::kNaive3)
      .value("NAIVE4", PolicyKind::kNaive4)
      .value("CHAINS", PolicyKind::kChains)
      .value("RULE_BASED", PolicyKind::kRuleBased)
      .value("NAIVE_FIRST0", PolicyKind::kNaiveFirst0)
      .value("NAIVE_FIRST1", PolicyKind::kNaiveFirst1)
      .value("NAIVE_FIRST2", PolicyKind::kNaiveFirst2)
      .value("NAIVE_FIRST3", PolicyKind::kNaiveFirst3)
      .value("RULE_BASED_FIRST", PolicyKind::kRuleBasedFirst)
      .value("TREE", PolicyKind::kTree);
  nb::class_<SeededPolicy>(m, "Policy", "A simple player with its own random generator.")
      .def(nb::init<PolicyKind, std::uint64_t>(), nb::arg("kind"), nb::arg("seed") = 0)
      .def("reseed", &SeededPolicy::reseed, nb::arg("seed"),
           "Restart the random generator, as if constructed with this seed.")
      .def("choose", &SeededPolicy::choose, nb::arg("board"), nb::call_guard<nb::gil_scoped_release>(),
           "Return a legal move for the side to move. The game must not be over.")
      .def_prop_ro("kind", &SeededPolicy::kind);
  m.def(
      "chains_score",
      [](const Board& board, int point) { return chains_score(board, checked_empty_point(board, point)); },
      nb::arg("board"), nb::arg("point"),
      "Return the score that the chains player gives an empty point, for the side to move.");
}

}  // namespace tengen::bindings
