// Everything that a search guided by a network can be told. tengen.search.puct_config.PuctConfig documents each option
// and checks its range.
#pragma once

#include <cstdint>

namespace tengen {

enum class RootNoise : std::uint8_t {
  kNone,
  kRoot,   // AlphaZero: at the root only
  kEvery,  // zero9: at every expansion
};

enum class SymmetryUse : std::uint8_t {
  kNone,
  kRandom,   // each evaluation sees the position through one symmetry, drawn
  kAverage,  // each evaluation is the mean over all symmetries
};

struct PuctOptions {
  // Selection.
  int simulations = 500;
  float c_puct = 1.25f;
  float c_puct_growth = 0.0f;
  float c_puct_base = 500.0f;
  bool fpu_from_parent = false;  // otherwise a child without a visit has value 0
  float fpu_reduction = 0.0f;
  float fpu_reduction_root = 0.0f;
  float virtual_loss = 1.0f;
  int leaves = 1;  // walks of one tree that may be under way at once

  // Noise.
  RootNoise noise = RootNoise::kNone;
  float noise_alpha = 0.0f;  // of each move; 0 to share noise_alpha_total among the legal moves
  float noise_alpha_total = 10.83f;
  float noise_fraction = 0.25f;
  float root_temperature = 1.0f;  // root priors to the power of 1 / temperature

  // What is known for sure.
  bool solve = false;    // proofs go up the tree
  bool tactics = false;  // take a five, answer a four
  std::uint32_t vcf_nodes_leaf = 0;
  std::uint32_t vcf_nodes_root = 0;
  std::uint32_t vct_nodes = 0;  // at nodes that have been visited vct_visits times
  std::uint32_t vct_visits = 16;
  float discount = 1.0f;  // of values, for each ply

  // Gumbel root search.
  bool gumbel = false;
  int gumbel_candidates = 16;
  float gumbel_scale = 1.0f;
  float gumbel_visit_offset = 50.0f;
  float gumbel_value_scale = 0.1f;

  // Evaluations.
  SymmetryUse symmetry = SymmetryUse::kNone;
  int cache_entries = 0;

  // Games.
  bool reuse_tree = false;
  float forced_playouts = 0.0f;  // k of sqrt(k * P * N)
  float full_fraction = 1.0f;    // of the moves get the full search
  int fast_simulations = 0;
  float temperature = 1.0f;
  int temperature_plies = 1000;  // afterwards the final temperature
  float temperature_final = 0.0f;
  bool stop_when_proved = false;
};

}  // namespace tengen
