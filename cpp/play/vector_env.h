// Many games that advance with one call, for tengen.envs.GomokuVectorEnv.
//
// A step plays one action on each board, lets the opponent answer, updates planes and masks, and immediately starts a
// new game on each board whose game has ended. Boards never share randomness, so the games for a given seed do not
// depend on the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/board.h"
#include "core/point_set.h"
#include "core/rng.h"
#include "patterns/foul_tracker.h"
#include "play/incremental_planes.h"
#include "play/policies.h"
#include "play/shared_work.h"

namespace tengen {

// The agent's colour when playing against an opponent.
enum class Side : std::uint8_t { kBlack, kWhite, kRandom };

// The opponent's move that a board is waiting for before the agent acts again, if the caller supplies those moves.
enum class Owed : std::uint8_t { kNothing, kReply, kFirstMove };

struct VectorEnvConfig {
  Rules rules;
  int boards = 1;
  std::optional<PolicyKind> opponent;  // without an opponent, the caller plays both colours in turn
  bool caller_replies = false;         // the caller supplies the moves of an opponent through `reply`
  Side side = Side::kBlack;
  PlaneLayout layout = PlaneLayout::kBlackWhiteOccupied;
  bool resign_action = false;  // action number `area` resigns
  int opening_moves = 0;       // random moves before the first action; at most 2 * win_length - 3, so that no game ends
  int threads = 1;
};

// `Plane` is std::int8_t or float.
template <typename Plane>
class VectorEnv {
 public:
  // All boards start with a new game and are seeded by board number.
  explicit VectorEnv(const VectorEnvConfig& config);

  const VectorEnvConfig& config() const { return config_; }
  int boards() const { return config_.boards; }
  int actions() const { return config_.rules.area() + (config_.resign_action ? 1 : 0); }
  // These throw std::out_of_range if there is no such board.
  const Board& board(int index) const;
  // Seed the randomness of a board; call reset_board afterwards.
  void seed(int index, std::uint64_t seed);
  void reset_board(int index);

  // Return the first board with an invalid action (occupied, foul, out of range), or -1.
  int find_invalid(const std::int64_t* actions) const;

  // Play one action on each board. An invalid action loses the game.
  void step(const std::int64_t* actions);

  // Play replies[i], a legal move, on each board that owes one. Finished games start again, and a new game may owe the
  // opponent's first move, so repeat this until no board owes anything. Only with `caller_replies`.
  void reply(const std::int64_t* replies);

  // Draw a random legal point for each board with `rng`.
  void sample_actions(Rng& rng, std::int64_t* actions);

  // The state after the last step or reset, one entry or block per board, in memory owned by this object.
  Plane* planes() { return planes_.get(); }           // [boards, C, area]
  std::int8_t* masks() { return masks_.get(); }       // [boards, actions]
  std::int8_t* colours() { return colours_.data(); }  // the colour to act next; also the viewer of the planes
  double* rewards() { return rewards_.data(); }       // from the last step, for the colour that acted
  bool* terminations() { return terminations_.get(); }
  std::uint8_t* owed() { return owed_.data(); }  // see Owed
  // Results of the games that ended in the last step. Entries for other boards are outdated.
  Plane* final_planes() { return final_planes_.get(); }
  std::int8_t* final_colours() { return final_colours_.data(); }
  std::uint8_t* outcomes() { return outcomes_.data(); }
  double* episode_returns() { return episode_returns_.data(); }  // for the agent; for black if there is no opponent
  std::int64_t* episode_lengths() { return episode_lengths_.data(); }

  // A game in progress, for saving and restoring. Restoring checks everything but the random generator; it throws
  // std::invalid_argument and leaves the board unchanged if the game is not one that `save` returns.
  struct SavedGame {
    std::vector<Point> moves;
    Rng::State rng{};
    int actor = kBlack;
    int actions_done = 0;
  };
  SavedGame save(int index) const;
  void restore(int index, const SavedGame& saved);

 private:
  // What every step accesses, apart from the boards: steps and sampling read it in sequence.
  struct Game {
    PointSet empties;
    Rng rng;
    Colour actor;      // the colour to act next
    int actions_done;  // in this game
  };
  struct alignas(64) AlignedBoard {
    Board board;  // begins with a cache line
  };
  struct Fouls {
    FoulTracker tracker;
    PointSet points;  // of the colour to act; the mask excludes them
  };

  Game& at(int index);
  Board& board_of(int index) { return boards_[static_cast<std::size_t>(index)].board; }
  const Board& board_of(int index) const { return boards_[static_cast<std::size_t>(index)].board; }
  void clear(int index);
  Point choose_reply(PolicyKind policy, int index);
  bool is_playable(int index, std::int64_t action) const;
  Point draw(int index, Rng& rng) const;
  bool has_fouls() const { return config_.rules.rule == Rule::kRenju; }
  bool has_opponent() const { return config_.opponent || config_.caller_replies; }
  template <typename Work>
  void for_each_part(const Work& work);
  void step_part(int first, int last, const std::int64_t* actions);
  void prefetch_state(int index) const;
  void prefetch_move(int index, Point point);
  Outcome act(int index, std::int64_t action);
  void reply_on_board(int index, Point reply);
  void finish_step(int index, Outcome outcome);
  void make(int index, Point point);
  void place(int index, Point point);
  void finish(int index, Outcome outcome);
  void write_all(int index);
  void update_fouls(int index);

  IncrementalPlanes<Plane> planes_of(int index);
  std::int8_t* mask_of(int index) { return masks_.get() + static_cast<std::ptrdiff_t>(index) * actions(); }

  VectorEnvConfig config_;
  Board empty_board_;
  PointSet all_points_;
  std::size_t planes_size_;  // for one board
  std::vector<Game> games_;
  std::vector<AlignedBoard> boards_;
  std::vector<Fouls> fouls_;  // only in renju
  std::unique_ptr<Plane[]> planes_;
  std::unique_ptr<Plane[]> final_planes_;
  std::unique_ptr<std::int8_t[]> masks_;
  std::unique_ptr<bool[]> terminations_;
  std::vector<std::int8_t> colours_;
  std::vector<std::int8_t> final_colours_;
  std::vector<double> rewards_;
  std::vector<std::uint8_t> outcomes_;
  std::vector<std::uint8_t> owed_;
  std::vector<double> episode_returns_;
  std::vector<std::int64_t> episode_lengths_;
  SharedWork shared_work_;
};

extern template class VectorEnv<std::int8_t>;
extern template class VectorEnv<float>;

}  // namespace tengen
