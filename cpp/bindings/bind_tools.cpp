#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/arrays.h"
#include "bindings/bindings.h"
#include "eval/weights.h"
#include "patterns/shapes.h"
#include "tools/features.h"

namespace tengen::bindings {

void bind_tools(nb::module_& m) {
  m.def(
      "shape_codes",
      [] {
        std::vector<std::vector<int>> shapes;
        for (int code = 0; code < kShapeCodes; ++code) {
          const auto& four = ShapeCodes::instance().shapes(static_cast<ShapeCode>(code));
          shapes.emplace_back(four.begin(), four.end());
        }
        return shapes;
      },
      "The four line shapes of each code, weakest first.");
  nb::class_<PositionFeatures>(m, "PositionFeatures", "Samples for the tuner, collected game by game.")
      .def(nb::init<bool>(), nb::arg("by_colour") = false,
           "With by_colour, the codes of white have their own columns after those of black.")
      .def(
          "add",
          [](PositionFeatures& self, const Board& board, const std::vector<int>& moves, int first) {
            const nb::gil_scoped_release release;
            add_features(board, moves, first, self);
          },
          nb::arg("board"), nb::arg("moves"), nb::arg("first"),
          "Add positions of a game that starts at `board`, from move number `first` on. Win length 4 or 5.")
      .def("__len__", [](const PositionFeatures& self) { return self.threat_bits.size(); })
      .def(
          "take",
          [](PositionFeatures& self) {
            nb::dict arrays;
            arrays["games"] = to_array(self.games);
            arrays["move_indices"] = to_array(self.move_indices);
            arrays["colours"] = to_array(self.colours);
            arrays["row_starts"] = to_array(self.row_starts);
            arrays["columns"] = to_array(self.columns);
            arrays["counts"] = to_array(self.counts);
            arrays["threat_bits"] = to_array(self.threat_bits);
            arrays["pair_starts"] = to_array(self.pair_starts);
            arrays["pairs"] = to_array(self.pairs);
            arrays["pair_counts"] = to_array(self.pair_counts);
            arrays["move_starts"] = to_array(self.move_starts);
            arrays["own_codes"] = to_array(self.own_codes);
            arrays["other_codes"] = to_array(self.other_codes);
            arrays["played"] = to_array(self.played);
            self = PositionFeatures(self.by_colour);
            return arrays;
          },
          nb::sig("def take(self) -> dict[str, typing.Any]"),
          "Remove all samples and return them: the arrays of PositionFeatures by name (cpp/tools/features.h).");
  m.attr("VALUE_UNIT") = kValueUnit;
  m.attr("SHAPE_CODES") = kShapeCodes;
  m.attr("THREAT_BITS") = kThreatBits;
}

}  // namespace tengen::bindings
