// Self-play: many games that a network plays against itself.
//
// All games advance together. `collect` walks every tree to leaves and writes their planes, the caller evaluates them
// with the network, and `supply` returns the results. Both choose moves and start new games as needed. Games share no
// randomness, so the same seed and the same evaluations produce the same games.
#pragma once

#include <cstdint>
#include <vector>

#include "core/board.h"
#include "core/plane_layout.h"
#include "core/rng.h"
#include "search/puct/evaluation.h"
#include "search/puct/leaf.h"
#include "search/puct/tree.h"

namespace tengen {

// Openings of self-play games.
struct OpeningOptions {
  std::vector<std::vector<Point>> list;  // move sequences; one is sampled and transformed by a random symmetry
  float fraction = 1.0f;                 // fraction of the games that start with an opening
  int random_stones = 0;                 // without a list: maximum number of random stones near each other
  // Number of candidates for one more stone after the random stones. The more balanced the network considers the
  // position after a candidate, the more likely it is chosen. 0 for no such stone.
  int balance_candidates = 0;
};

// The search result of one position of a game, from the point of view of the side to move.
struct SelfPlayMove {
  float value = 0;
  float surprise = 0;
  bool full = true;  // a full search, not a fast one
};

// A game, finished or not. SelfPlay fills it; set_game restores one from a file.
struct SelfPlayGame {
  std::vector<Point> moves;  // including the opening
  int opening_length = 0;
  Outcome outcome = Outcome::kOngoing;
  int plies_left = 0;                  // to the end of the game, if a proof stopped it early
  std::vector<SelfPlayMove> searched;  // one per move after the opening
  std::vector<float> policies;         // [searched, area]
};

struct SelfPlayCounts {
  std::uint64_t simulations = 0;
  std::uint64_t evaluations = 0;  // leaves passed to the network
  std::uint64_t cache_hits = 0;
  std::uint64_t moves = 0;
  std::uint64_t games = 0;
};

class SelfPlay {
 public:
  SelfPlay(const Rules& rules, PlaneLayout layout, const PuctOptions& options, const OpeningOptions& openings,
           int games, std::uint64_t seed);
  SelfPlay(const SelfPlay&) = delete;
  SelfPlay& operator=(const SelfPlay&) = delete;

  const Rules& rules() const { return rules_; }
  PlaneLayout layout() const { return layout_; }
  int games() const { return static_cast<int>(games_.size()); }
  // The largest number of rows that one call of `collect` writes.
  int max_rows() const;
  // Number of rows that are waiting for their evaluation.
  int waiting_rows() const { return static_cast<int>(waiting_.size()) * evaluations_.rows_per_leaf(); }

  // Write the planes [rows, C, area] of leaves that need an evaluation, and return the number of rows, which may be 0.
  // Throws std::invalid_argument if rows are still waiting for their evaluation.
  int collect(float* planes);
  // Supply the evaluation of all waiting rows: log-policies [rows, area], values [rows] for the side to move.
  void supply(const float* log_policies, const float* values);

  // Return the games that have finished since the last call.
  std::vector<SelfPlayGame> take_finished();
  int finished_count() const { return static_cast<int>(finished_.size()); }
  const SelfPlayCounts& counts() const { return counts_; }
  // Clear the cached evaluations after a change of the network. Trees are kept.
  void clear_cache() { evaluations_.clear(); }

  // Access to unfinished games, to save and load them. `restart` discards trees, walks and the cache. After it, two
  // objects with the same games and generator states continue identically.
  void restart();
  // These throw std::out_of_range if there is no such game.
  const SelfPlayGame& game(int index) const { return at(index).record; }
  const Rng::State& rng_state(int index) const { return at(index).rng.state(); }
  // Replace a game; call `restart` afterwards. Throws std::invalid_argument if the moves are not those of an unfinished
  // game.
  void set_game(int index, SelfPlayGame record, const Rng::State& rng_state);

 private:
  struct Game {
    Game(const PuctOptions& options, const Board& start, bool with_patterns, std::uint64_t seed)
        : rng(seed), board(start, with_patterns), tree(options, start.rules().area()) {}

    Rng rng;
    PuctBoard board;
    PuctTree tree;
    SelfPlayGame record;
    bool full = true;
    int simulations = 0;
    int waiting = 0;  // leaves that are waiting for their evaluation
    // Candidates for the stone that balances the opening. The game starts once all candidates have weights.
    std::vector<Point> candidates;
    std::vector<float> candidate_weights;
  };

  // A leaf that is waiting for its evaluation.
  struct Leaf {
    int game = 0;
    PuctWalk walk;
    LeafJudgement judgement;
    EvaluationRequest request;
    int candidate = -1;  // index of the candidate if the leaf belongs to an opening, not to a tree
  };

  const Game& at(int index) const;
  void begin_game(Game& game);
  void begin_search(Game& game);
  void advance(int index, float* planes);
  bool walk_once(int index, float* planes);
  void weigh_candidate(int index, float* planes);
  void finish_opening(Game& game);
  void play_move(Game& game);
  void end_game(Game& game, Outcome outcome);
  void place_random_stones(Game& game) const;
  static void make(Game& game, Point move);
  Leaf& add_leaf(int index, const LeafJudgement& judgement, const EvaluationRequest& request, float* planes);

  Rules rules_;
  PlaneLayout layout_;
  PuctOptions options_;
  OpeningOptions openings_;
  Board empty_board_;
  bool with_patterns_;
  PuctEvaluations evaluations_;
  LeafJudge judge_;
  std::vector<Game> games_;
  std::vector<Leaf> waiting_;
  std::vector<SelfPlayGame> finished_;
  SelfPlayCounts counts_;
  PuctWalk walk_;
  std::vector<float> log_policy_;  // [area]
};

}  // namespace tengen
