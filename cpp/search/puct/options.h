// Options for the network-guided search. tengen.search.puct_config.PuctConfig documents each option and checks its
// range.
#pragma once

#include <cstdint>

namespace tengen {

enum class RootNoise : std::uint8_t {
  kNone,
  kRoot,    // at the root only, as in AlphaZero
  kEvery,   // at every expansion, as in zero9
  kChoice,  // not in the priors, but in the move probabilities when a move is sampled
};

enum class SymmetryUse : std::uint8_t {
  kNone,
  kRandom,   // evaluate one random symmetry of the position
  kAverage,  // average over all symmetries of the position
};

struct PuctOptions {
  // Selection.
  int simulations = 500;
  float c_puct = 1.25f;
  float c_puct_growth = 0.0f;
  float c_puct_base = 500.0f;
  bool fpu_from_parent = false;  // if false, the value of an unvisited child is first_play_value
  float first_play_value = 0.0f;
  float fpu_reduction = 0.0f;
  float fpu_reduction_root = 0.0f;
  float virtual_loss = 1.0f;
  int leaves = 1;  // maximum number of pending walks per tree

  // Noise.
  RootNoise noise = RootNoise::kNone;
  float noise_alpha = 0.0f;  // per move; 0 divides noise_alpha_total among the legal moves
  float noise_alpha_total = 10.83f;
  float noise_fraction = 0.25f;
  float root_temperature = 1.0f;  // root priors are raised to the power of 1 / temperature

  // Proofs.
  bool solve = false;    // back up proofs through the tree
  bool tactics = false;  // make five if possible, else answer a four
  std::uint32_t vcf_nodes_leaf = 0;
  std::uint32_t vcf_nodes_root = 0;
  std::uint32_t vct_nodes = 0;  // at nodes with vct_visits visits
  std::uint32_t vct_visits = 16;
  float discount = 1.0f;  // applied to values once per ply

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
  float forced_playouts = 0.0f;  // k in sqrt(k * P * N)
  float full_fraction = 1.0f;    // fraction of moves that get a full search
  int fast_simulations = 0;
  float temperature = 1.0f;
  int temperature_plies = 1000;  // number of plies after which temperature_final applies
  float temperature_final = 0.0f;
  bool stop_when_proved = false;
};

}  // namespace tengen
