#include "play/vector_env.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "core/assert.h"
#include "core/checked.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

// A thread takes this many boards at a time. Small parts keep threads from waiting for another's last part; large parts
// cost less to take and prefetch better.
constexpr int kLargestPart = 256;
constexpr int kSmallestPart = 8;
constexpr int kPartsPerThread = 4;

int part_size(const VectorEnvConfig& config) {
  if (config.threads == 1) return kLargestPart;
  return std::clamp(config.boards / (kPartsPerThread * config.threads), kSmallestPart, kLargestPart);
}

// While a stage of a step works on one board, it prefetches the memory of the board this many places ahead.
constexpr int kLookahead = 16;

double result_for(Colour colour, Outcome outcome) {
  if (outcome == Outcome::kOngoing || outcome == Outcome::kDraw) return 0.0;
  return outcome == win_for(colour) ? 1.0 : -1.0;
}

}  // namespace

template <typename Plane>
VectorEnv<Plane>::VectorEnv(const VectorEnvConfig& config)
    : config_(config),
      empty_board_(config.rules),
      all_points_(legal_points(empty_board_)),
      planes_size_(static_cast<std::size_t>(plane_count(config.layout) * config.rules.area())),
      shared_work_(config.threads) {
  if (config.opponent && config.caller_replies)
    throw std::invalid_argument("the caller cannot reply for a built-in opponent");
  const auto boards = static_cast<std::size_t>(config.boards);
  games_.reserve(boards);
  for (std::size_t i = 0; i < boards; ++i) games_.push_back({all_points_, Rng(i), kBlack, 0});
  boards_.resize(boards, {empty_board_});
  if (config.rules.rule == Rule::kRenju) fouls_.resize(boards);
  planes_ = std::make_unique<Plane[]>(boards * planes_size_);
  final_planes_ = std::make_unique<Plane[]>(boards * planes_size_);
  masks_ = std::make_unique<std::int8_t[]>(boards * static_cast<std::size_t>(actions()));
  terminations_ = std::make_unique<bool[]>(boards);
  colours_.resize(boards);
  final_colours_.resize(boards);
  rewards_.resize(boards);
  outcomes_.resize(boards);
  owed_.resize(boards);
  episode_returns_.resize(boards);
  episode_lengths_.resize(boards);
  for (int i = 0; i < config.boards; ++i) reset_board(i);
}

template <typename Plane>
const Board& VectorEnv<Plane>::board(int index) const {
  return board_of(checked_index(index, boards(), "board"));
}

template <typename Plane>
typename VectorEnv<Plane>::Game& VectorEnv<Plane>::at(int index) {
  return games_[static_cast<std::size_t>(checked_index(index, boards(), "board"))];
}

template <typename Plane>
void VectorEnv<Plane>::seed(int index, std::uint64_t seed) {
  at(index).rng = Rng(seed);
}

template <typename Plane>
void VectorEnv<Plane>::clear(int index) {
  const auto i = static_cast<std::size_t>(index);
  boards_[i].board = empty_board_;
  games_[i].actions_done = 0;
  games_[i].empties = all_points_;
  if (has_fouls()) fouls_[i].tracker.clear();
}

template <typename Plane>
void VectorEnv<Plane>::reset_board(int index) {
  Game& game = at(index);
  clear(index);
  Owed owed = Owed::kNothing;
  for (int i = 0; i < config_.opening_moves; ++i) make(index, draw(index, game.rng));
  if (has_opponent()) {
    game.actor = config_.side == Side::kRandom ? static_cast<Colour>(game.rng.below(2))
                                               : static_cast<Colour>(config_.side == Side::kWhite);
    if (board_of(index).to_move() != game.actor) {
      if (config_.opponent) {
        make(index, choose_reply(*config_.opponent, index));
      } else {
        owed = Owed::kFirstMove;
      }
    }
  } else {
    game.actor = board_of(index).to_move();
  }
  owed_[static_cast<std::size_t>(index)] = static_cast<std::uint8_t>(owed);
  write_all(index);
}

template <typename Plane>
int VectorEnv<Plane>::find_invalid(const std::int64_t* actions) const {
  for (int i = 0; i < config_.boards; ++i) {
    const bool resigns = config_.resign_action && actions[i] == config_.rules.area();
    if (!resigns && !is_playable(i, actions[i])) return i;
  }
  return -1;
}

template <typename Plane>
template <typename Work>
void VectorEnv<Plane>::for_each_part(const Work& work) {
  const int size = part_size(config_);
  shared_work_.run((config_.boards + size - 1) / size, [this, &work, size](int part) {
    const int first = part * size;
    work(first, std::min(first + size, config_.boards));
  });
}

template <typename Plane>
void VectorEnv<Plane>::step(const std::int64_t* actions) {
  if (std::ranges::any_of(owed_, [](std::uint8_t owed) { return owed != 0; }))
    throw std::invalid_argument("a board is waiting for the opponent's move: call reply first");
  for_each_part([this, actions](int first, int last) { step_part(first, last, actions); });
}

// Thousands of boards do not fit into the cache. Therefore, each stage runs on all boards of a part before the next
// stage begins, and the memory of later boards is prefetched while earlier boards are processed.
template <typename Plane>
void VectorEnv<Plane>::step_part(int first, int last, const std::int64_t* actions) {
  // Prefetching reads the boards. With several threads, those of the next part may belong to another thread.
  const int end = config_.threads == 1 ? config_.boards : last;
  const auto prefetch_action = [&](int i) {
    if (i < end && actions[i] >= 0 && actions[i] < config_.rules.area())
      prefetch_move(i, static_cast<Point>(actions[i]));
  };
  for (int i = first; i < std::min(first + 2 * kLookahead, end); ++i) prefetch_state(i);
  for (int i = first; i < first + kLookahead; ++i) prefetch_action(i);
  std::array<Outcome, kLargestPart> outcomes;
  for (int i = first; i < last; ++i) {
    if (i + 2 * kLookahead < end) prefetch_state(i + 2 * kLookahead);
    prefetch_action(i + kLookahead);
    outcomes[static_cast<std::size_t>(i - first)] = act(i, actions[i]);
  }
  const auto is_ongoing = [&](int i) { return outcomes[static_cast<std::size_t>(i - first)] == Outcome::kOngoing; };

  if (config_.opponent) {
    std::array<Point, kLargestPart> replies;
    for (int i = first; i < last; ++i) {
      if (!is_ongoing(i)) continue;
      const Point reply = choose_reply(*config_.opponent, i);
      prefetch_move(i, reply);
      replies[static_cast<std::size_t>(i - first)] = reply;
    }
    for (int i = first; i < last; ++i) {
      if (!is_ongoing(i)) continue;
      place(i, replies[static_cast<std::size_t>(i - first)]);
      outcomes[static_cast<std::size_t>(i - first)] = game_outcome(board_of(i));
    }
  }

  for (int i = first; i < last; ++i) {
    if (config_.caller_replies && is_ongoing(i)) {
      owed_[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(Owed::kReply);
    } else {
      finish_step(i, outcomes[static_cast<std::size_t>(i - first)]);
    }
  }
}

// Fetch the memory that `act` or `place` will access for `point` into the cache. prefetch_move reads addresses from the
// memory that prefetch_state fetches.
template <typename Plane>
void VectorEnv<Plane>::prefetch_state(int index) const {
  board_of(index).prefetch_state();
}

template <typename Plane>
void VectorEnv<Plane>::prefetch_move(int index, Point point) {
  const Board& board = board_of(index);
  board.prefetch_move(point);
  planes_of(index).prefetch_add(point, board.to_move(), games_[static_cast<std::size_t>(index)].actor);
  prefetch(mask_of(index) + point);
}

template <typename Plane>
void VectorEnv<Plane>::reply(const std::int64_t* replies) {
  const auto owes = [this](int i) { return owed_[static_cast<std::size_t>(i)] != 0; };
  for (int i = 0; i < config_.boards; ++i)
    if (owes(i) && !(replies[i] >= 0 && replies[i] < config_.rules.area() &&
                     is_legal(board_of(i), static_cast<Point>(replies[i]))))
      throw std::invalid_argument("the reply " + std::to_string(replies[i]) + " is illegal on board " +
                                  std::to_string(i));
  for_each_part([&](int first, int last) {
    for (int i = first; i < last; ++i)
      if (owes(i)) reply_on_board(i, static_cast<Point>(replies[i]));
  });
}

template <typename Plane>
void VectorEnv<Plane>::sample_actions(Rng& rng, std::int64_t* actions) {
  for (int i = 0; i < config_.boards; ++i) actions[i] = draw(i, rng);
}

// Draw a random legal point. Without fouls, this does not access the board, which may not be in the cache.
template <typename Plane>
Point VectorEnv<Plane>::draw(int index, Rng& rng) const {
  const PointSet& empties = games_[static_cast<std::size_t>(index)].empties;
  if (has_fouls()) return draw_legal(board_of(index), empties, rng);
  TENGEN_ASSERT(!empties.empty());
  return empties.at(static_cast<int>(rng.below(static_cast<std::uint32_t>(empties.size()))));
}

template <typename Plane>
Point VectorEnv<Plane>::choose_reply(PolicyKind policy, int index) {
  Game& game = games_[static_cast<std::size_t>(index)];
  return policy == PolicyKind::kRandom ? draw(index, game.rng) : choose_move(policy, board_of(index), game.rng);
}

template <typename Plane>
bool VectorEnv<Plane>::is_playable(int index, std::int64_t action) const {
  if (action < 0 || action >= config_.rules.area()) return false;
  const auto i = static_cast<std::size_t>(index);
  const auto point = static_cast<Point>(action);
  return boards_[i].board.is_empty(point) && !(has_fouls() && fouls_[i].points.has(point));
}

// Play the agent's action and return the outcome before the opponent's reply.
template <typename Plane>
Outcome VectorEnv<Plane>::act(int index, std::int64_t action) {
  Game& game = at(index);
  ++game.actions_done;
  if (!is_playable(index, action)) return win_for(opponent(game.actor));  // after a resignation or an invalid action
  place(index, static_cast<Point>(action));
  return game_outcome(board_of(index));
}

template <typename Plane>
void VectorEnv<Plane>::reply_on_board(int index, Point reply) {
  const auto i = static_cast<std::size_t>(index);
  const auto owed = static_cast<Owed>(owed_[i]);
  owed_[i] = static_cast<std::uint8_t>(Owed::kNothing);
  place(index, reply);
  if (owed == Owed::kReply) {
    finish_step(index, game_outcome(boards_[i].board));
  } else {
    update_fouls(index);  // the first move cannot end the game; keep the results of the last step
  }
}

// Write the results of a step on one board. Start a new game if the game is over.
template <typename Plane>
void VectorEnv<Plane>::finish_step(int index, Outcome outcome) {
  const auto i = static_cast<std::size_t>(index);
  Game& game = games_[i];
  rewards_[i] = result_for(game.actor, outcome);
  terminations_[i] = outcome != Outcome::kOngoing;
  if (!has_opponent() && board_of(index).to_move() != game.actor) {  // not after a resignation or an invalid action
    game.actor = board_of(index).to_move();
    planes_of(index).turn(game.actor);
  }
  if (outcome != Outcome::kOngoing) {
    finish(index, outcome);
    reset_board(index);
  } else {
    colours_[i] = static_cast<std::int8_t>(game.actor);
    update_fouls(index);
  }
}

template <typename Plane>
void VectorEnv<Plane>::make(int index, Point point) {
  const auto i = static_cast<std::size_t>(index);
  boards_[i].board.make(point);
  games_[i].empties.remove(point);
  if (has_fouls()) fouls_[i].tracker.add(boards_[i].board, point);
}

// Make a move and update the planes and the mask.
template <typename Plane>
void VectorEnv<Plane>::place(int index, Point point) {
  Game& game = games_[static_cast<std::size_t>(index)];
  const Colour mover = board_of(index).to_move();
  const Point previous = board_of(index).last_move();
  make(index, point);
  planes_of(index).add(point, mover, game.actor, previous);
  mask_of(index)[point] = 0;
}

template <typename Plane>
void VectorEnv<Plane>::finish(int index, Outcome outcome) {
  const auto i = static_cast<std::size_t>(index);
  const Game& game = games_[i];
  std::copy_n(planes_.get() + i * planes_size_, planes_size_, final_planes_.get() + i * planes_size_);
  final_colours_[i] = static_cast<std::int8_t>(game.actor);
  outcomes_[i] = static_cast<std::uint8_t>(outcome);
  episode_returns_[i] = result_for(has_opponent() ? game.actor : kBlack, outcome);
  episode_lengths_[i] = game.actions_done;
}

// Write the planes, mask and colour of a board, based on its stones.
template <typename Plane>
void VectorEnv<Plane>::write_all(int index) {
  Game& game = games_[static_cast<std::size_t>(index)];
  const Board& board = board_of(index);
  IncrementalPlanes<Plane> planes = planes_of(index);
  std::int8_t* mask = mask_of(index);
  planes.clear(game.actor);
  std::fill_n(mask, actions(), std::int8_t{1});
  for (int ply = 0; ply < board.ply(); ++ply) {
    const Point point = board.move(ply);
    const Colour mover = ply % 2 == 0 ? kBlack : kWhite;
    planes.add(point, mover, game.actor, ply > 0 ? board.move(ply - 1) : kNoPoint);
    mask[point] = 0;
  }
  colours_[static_cast<std::size_t>(index)] = static_cast<std::int8_t>(game.actor);
  if (has_fouls()) fouls_[static_cast<std::size_t>(index)].points = {};
  update_fouls(index);
}

// Mask out the fouls of the side to move, and restore the points masked out before. White has no fouls.
template <typename Plane>
void VectorEnv<Plane>::update_fouls(int index) {
  if (!has_fouls()) return;
  const Board& board = board_of(index);
  Fouls& fouls = fouls_[static_cast<std::size_t>(index)];
  std::int8_t* const mask = mask_of(index);
  fouls.points.for_each([&](Point p) { mask[p] = board.is_empty(p); });
  fouls.points = tengen::has_fouls(board) ? fouls.tracker.find(board) : PointSet{};
  fouls.points.for_each([&](Point p) { mask[p] = 0; });
}

template <typename Plane>
typename VectorEnv<Plane>::SavedGame VectorEnv<Plane>::save(int index) const {
  const Game& game = games_[static_cast<std::size_t>(checked_index(index, boards(), "board"))];
  return {board_of(index).moves(), game.rng.state(), game.actor, game.actions_done};
}

template <typename Plane>
void VectorEnv<Plane>::restore(int index, const SavedGame& saved) {
  Board board = empty_board_;
  for (const Point point : saved.moves) {
    if (point >= config_.rules.area() || game_outcome(board) != Outcome::kOngoing || !is_legal(board, point))
      throw std::invalid_argument("the moves of board " + std::to_string(index) + " are not a game in progress");
    board.make(point);
  }
  const Colour actor = checked_colour(saved.actor);
  if (game_outcome(board) != Outcome::kOngoing || board.to_move() != actor || saved.actions_done < 0)
    throw std::invalid_argument("board " + std::to_string(index) + " does not wait for an action");
  Game& game = at(index);
  clear(index);
  for (const Point point : saved.moves) make(index, point);
  game.rng = Rng(saved.rng);
  game.actor = actor;
  game.actions_done = saved.actions_done;
  owed_[static_cast<std::size_t>(index)] = static_cast<std::uint8_t>(Owed::kNothing);
  write_all(index);
}

template <typename Plane>
IncrementalPlanes<Plane> VectorEnv<Plane>::planes_of(int index) {
  return {planes_.get() + static_cast<std::size_t>(index) * planes_size_, config_.layout, config_.rules.area()};
}

template class VectorEnv<std::int8_t>;
template class VectorEnv<float>;

}  // namespace tengen
