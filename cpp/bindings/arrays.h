// NumPy arrays: conversion from native vectors, and shape checks for arguments.
#pragma once

#include <nanobind/ndarray.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/bindings.h"

namespace tengen::bindings {

// A numpy array that owns `data`, which was allocated with new[]. `Config` refines the array type, for example with
// nb::ndim<2>.
template <typename... Config, typename T>
nb::ndarray<nb::numpy, T, Config...> own_array(T* data, std::initializer_list<std::size_t> shape) {
  return nb::ndarray<nb::numpy, T, Config...>(
      data, shape, nb::capsule(data, [](void* memory) noexcept { delete[] static_cast<T*>(memory); }));
}

// A numpy array that owns the values; they are moved out of the vector.
template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_array(std::vector<T>& values) {
  auto* kept = new std::vector<T>(std::move(values));
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(
      kept->data(), {kept->size()},
      nb::capsule(kept, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); }));
}

// Throw a ValueError if an array does not have this shape.
template <typename Array>
void check_shape(const Array& array, std::initializer_list<std::size_t> shape, const char* name) {
  bool fits = array.ndim() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = array.shape(i) == shape.begin()[i];
  if (fits) return;
  const auto text = [](std::size_t dimensions, const auto& length) {
    std::string result = "[";
    for (std::size_t i = 0; i < dimensions; ++i) result += (i ? ", " : "") + std::to_string(length(i));
    return result + ']';
  };
  throw std::invalid_argument(std::string(name) + " has the shape " +
                              text(array.ndim(), [&](std::size_t i) { return array.shape(i); }) + ", not " +
                              text(shape.size(), [&](std::size_t i) { return shape.begin()[i]; }));
}

}  // namespace tengen::bindings
