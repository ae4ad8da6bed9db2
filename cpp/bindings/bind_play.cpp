#include "bindings/bindings.h"
#include "patterns/legality.h"
#include "play/policies.h"

namespace tengen::bindings {
namespace {

// A simple player with its own randomness: one stream for each colour, so that it can play against itself.
class Policy {
 public:
  Policy(PolicyKind kind, std::uint64_t seed) : kind_(kind), streams_{Rng(seed), Rng(~seed)} {}

  void reseed(std::uint64_t seed) { streams_ = {Rng(seed), Rng(~seed)}; }

  int choose(const Board& board) {
    if (board.is_over()) throw nb::value_error("the game is over");
    Point point = kNoPoint;
    {
      const nb::gil_scoped_release release;
      point = choose_move(kind_, board, streams_[board.to_move()]);
    }
    if (point == kNoPoint) throw nb::value_error("black has no legal point");
    return point;
  }

  PolicyKind kind() const { return kind_; }

 private:
  PolicyKind kind_;
  std::array<Rng, 2> streams_;
};

int checked_chains_score(const Board& board, int point) {
  if (point < 0 || point >= board.rules().area()) throw nb::index_error("the point is off the board");
  if (!board.is_empty(static_cast<Point>(point))) throw nb::value_error("the point is occupied");
  return chains_score(board, static_cast<Point>(point));
}

}  // namespace

void bind_play(nb::module_& m) {
  nb::enum_<PolicyKind>(m, "PolicyKind", "The simple players (docs/players.md).")
      .value("RANDOM", PolicyKind::kRandom)
      .value("NAIVE0", PolicyKind::kNaive0)
      .value("NAIVE1", PolicyKind::kNaive1)
      .value("NAIVE2", PolicyKind::kNaive2)
      .value("NAIVE3", PolicyKind::kNaive3)
      .value("NAIVE4", PolicyKind::kNaive4)
      .value("CHAINS", PolicyKind::kChains)
      .value("RULE_BASED", PolicyKind::kRuleBased);
  nb::class_<Policy>(m, "Policy", "A simple player with its seeded randomness.")
      .def(nb::init<PolicyKind, std::uint64_t>(), nb::arg("kind"), nb::arg("seed") = 0)
      .def("reseed", &Policy::reseed, nb::arg("seed"), "Begin again, as if made with this seed.")
      .def("choose", &Policy::choose, nb::arg("board"), "A legal point for the side to move of an unfinished game.")
      .def_prop_ro("kind", &Policy::kind);
  m.def("chains_score", &checked_chains_score, nb::arg("board"), nb::arg("point"),
        "What the chains player thinks of an empty point, for the side to move.");
}

}  // namespace tengen::bindings
