#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/bindings.h"
#include "patterns/shapes.h"
#include "tools/features.h"

namespace tengen::bindings {
namespace {

template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_array(std::vector<T>& values) {
  auto* kept = new std::vector<T>(std::move(values));
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(
      kept->data(), {kept->size()}, nb::capsule(kept, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); }));
}

}  // namespace

void bind_tools(nb::module_& m) {
  m.def("shape_codes", [] {
    std::vector<std::vector<int>> shapes;
    for (int code = 0; code < kShapeCodes; ++code) {
      const auto& four = ShapeCodes::instance().shapes(static_cast<ShapeCode>(code));
      shapes.emplace_back(four.begin(), four.end());
    }
    return shapes;
  }, "The four line shapes of each code, weakest first.");
  nb::class_<PositionFeatures>(m, "PositionFeatures", "Samples for the tuner, collected game by game.")
      .def(nb::init<>())
      .def("add", [](PositionFeatures& self, const Board& board, const std::vector<int>& moves, int first) {
             const nb::gil_scoped_release release;
             add_features(board, moves, first, self);
           }, nb::arg("board"), nb::arg("moves"), nb::arg("first"))
      .def("__len__", [](const PositionFeatures& self) { return self.threat_bits.size(); })
      .def("take", [](PositionFeatures& self) {
             auto result = std::make_tuple(to_array(self.row_starts), to_array(self.codes), to_array(self.counts),
                                           to_array(self.threat_bits), to_array(self.plies), to_array(self.move_starts),
                                           to_array(self.own_codes), to_array(self.other_codes), to_array(self.played));
             self = PositionFeatures();
             return result;
           }, "row_starts, codes, counts, threat_bits, plies, move_starts, own_codes, other_codes, played; then empty.");
}

}  // namespace tengen::bindings
