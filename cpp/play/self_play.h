// Games that a network plays against itself, many at once.
//
// All games advance together: `collect` walks every tree to leaves and writes their planes, the caller asks the
// network, `supply` brings the answers back. Moves are decided and games begun anew on the way. Games share no
// randomness, so that the same seed and the same answers give the same games.
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
  std::vector<std::vector<Point>> list;  // move sequences, one of which is drawn and seen through a random symmetry
  float fraction = 1.0f;                 // of the games begin with an opening; the others with the empty board
  int random_stones = 0;                 // at most so many stones near each other, when there is no list
  // One more stone is drawn from so many candidates, the more even the network finds the position the likelier;
  // 0 for none.
  int balance_candidates = 0;
};

// What the search said of one position of a game, seen by the side to move there.
struct SelfPlayMove {
  float value = 0;
  float surprise = 0;
  bool full = true;  // a full search, not a quick one
};

struct SelfPlayGame {
  std::vector<Point> moves;  // opening included
  int opening_length = 0;
  Outcome outcome = Outcome::kOngoing;
  int plies_left = 0;                  // of a proof that ended the game before the board did
  std::vector<SelfPlayMove> searched;  // one for each move after the opening
  std::vector<float> policies;         // [searched, area]
};

struct SelfPlayCounts {
  std::uint64_t simulations = 0;
  std::uint64_t evaluations = 0;  // leaves handed to the network
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
  // The most rows that one `collect` writes.
  int max_rows() const;
  // Rows written that wait for their answers.
  int waiting_rows() const { return static_cast<int>(waiting_.size()) * evaluations_.rows_per_leaf(); }

  // Write planes [rows, C, area] of the leaves that need an evaluation; the number of rows, possibly 0. Nothing may be
  // waiting.
  int collect(float* planes);
  // The network's answers to all rows: log-policy [rows, area], values [rows] for the side to move.
  void supply(const float* log_policies, const float* values);

  // The games that have ended since the last call.
  std::vector<SelfPlayGame> take_finished();
  int finished_count() const { return static_cast<int>(finished_.size()); }
  const SelfPlayCounts& counts() const { return counts_; }
  // The network has changed: what it has said is forgotten, trees are kept.
  void clear_cache() { evaluations_.clear(); }

  // Games under way, for keeping them in a file. `restart` forgets trees, walks and the cache: from there the games go
  // on exactly as those of another object that was given the same states.
  void restart();
  const SelfPlayGame& game(int index) const { return games_[static_cast<std::size_t>(index)].record; }
  const Rng::State& rng_state(int index) const { return games_[static_cast<std::size_t>(index)].rng.state(); }
  // False when the moves are not those of a game under way. `restart` must follow.
  bool set_game(int index, SelfPlayGame game, const Rng::State& rng_state);

 private:
  struct Game {
    Game(const PuctOptions& options, const Board& board, bool with_patterns, std::uint64_t seed)
        : rng(seed), board(board, with_patterns), tree(options, board.rules().area()) {}

    Rng rng;
    PuctBoard board;
    PuctTree tree;
    SelfPlayGame record;
    bool full = true;
    int simulations = 0;
    int waiting = 0;  // leaves
    // Candidates for the stone that makes the opening even; the game proper begins when all have their weight.
    std::vector<Point> candidates;
    std::vector<float> candidate_weights;
  };

  // A leaf that waits for its evaluation.
  struct Leaf {
    int game = 0;
    PuctWalk walk;
    LeafJudgement judgement;
    EvaluationRequest request;
    int candidate = -1;  // of an opening, when it is not of a tree
  };

  void begin_game(Game& game);
  void begin_search(Game& game);
  void advance(int index, float* planes);
  bool walk_once(int index, float* planes);
  void weigh_candidate(int index, float* planes);
  void finish_opening(Game& game);
  void play_move(Game& game);
  void end_game(Game& game, Outcome outcome);
  void place_random_stones(Game& game);
  void make(Game& game, Point move);
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
