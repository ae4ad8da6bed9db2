// Vectors of native code as arrays of numpy.
#pragma once

#include <nanobind/ndarray.h>

#include <vector>

#include "bindings/bindings.h"

namespace tengen::bindings {

// An array that owns the values, which are moved out of the vector.
template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_array(std::vector<T>& values) {
  auto* kept = new std::vector<T>(std::move(values));
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(
      kept->data(), {kept->size()},
      nb::capsule(kept, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); }));
}

}  // namespace tengen::bindings
