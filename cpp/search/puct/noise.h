// Random numbers from the distributions that the PUCT search needs.
#pragma once

#include <cmath>
#include <numbers>

#include "core/rng.h"

namespace tengen {

// Uniform over (0, 1].
inline float draw_unit(Rng& rng) { return 1.0f - static_cast<float>(rng.next() >> 40) * 0x1.0p-24f; }

// Exponential with mean 1.
inline float draw_exponential(Rng& rng) { return -std::log(draw_unit(rng)); }

// Standard Gumbel. The action with the highest log-probability plus Gumbel noise is a sample of the policy.
inline float draw_gumbel(Rng& rng) { return -std::log(draw_exponential(rng) + 1e-20f); }

// Gamma with shape alpha > 0 and scale 1: a sum of exponentials for the integer part of alpha, and the rejection method
// of Ahrens and Dieter (1974, algorithm GS) for the fraction.
inline float draw_gamma(Rng& rng, float alpha) {
  float sum = 0.0f;
  while (alpha >= 1.0f) {
    sum += draw_exponential(rng);
    alpha -= 1.0f;
  }
  if (alpha <= 0.0f) return sum;
  const float edge = 1.0f + alpha / std::numbers::e_v<float>;
  for (;;) {
    const float place = edge * draw_unit(rng);
    if (place <= 1.0f) {
      const float x = std::pow(place, 1.0f / alpha);
      if (draw_unit(rng) <= std::exp(-x)) return sum + x;
    } else {
      const float x = -std::log((edge - place) / alpha);
      if (draw_unit(rng) <= std::pow(x, alpha - 1.0f)) return sum + x;
    }
  }
}

}  // namespace tengen
