#include "play/vector_env.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/checked.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

// Threads share the boards in parts of this size: small enough that no thread waits long for the last part of another,
// and large enough that taking a part costs nothing in comparison.
constexpr int kBoardsPerPart = 64;

double result_for(Colour colour, Outcome outcome) {
  if (outcome == Outcome::kOngoing || outcome == Outcome::kDraw) return 0.0;
  return outcome == win_for(colour) ? 1.0 : -1.0;
}

}  // namespace

template <typename Plane>
VectorEnv<Plane>::VectorEnv(const VectorEnvConfig& config)
    : config_(config),
      empty_board_(config.rules),
      planes_size_(static_cast<std::size_t>(plane_count(config.layout) * config.rules.area())),
      shared_work_(config.threads) {
  const auto boards = static_cast<std::size_t>(config.boards);
  games_.reserve(boards);
  for (std::size_t i = 0; i < boards; ++i)
    games_.push_back({empty_board_, EmptyPoints(config.rules.area()), Rng(i), kBlack, 0, {}, {}});
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
  return games_[static_cast<std::size_t>(checked_index(index, boards(), "board"))].board;
}

template <typename Plane>
typename VectorEnv<Plane>::Game& VectorEnv<Plane>::at(int index) {
  return games_[static_cast<std::size_t>(checked_index(index, boards(), "board"))];
}

template <typename Plane>
void VectorEnv<Plane>::seed(int index, std::uint64_t seed) {
  Game& game = at(index);
  game.rng = Rng(seed);
  game.empties = EmptyPoints(config_.rules.area());
}

template <typename Plane>
void VectorEnv<Plane>::reset_board(int index) {
  Game& game = at(index);
  game.board = empty_board_;
  game.empties.refill();
  if (config_.rules.rule == Rule::kRenju) game.tracker.clear();
  game.actions_done = 0;
  Owed owed = Owed::kNothing;
  for (int i = 0; i < config_.opening_moves; ++i) make(game, game.empties.draw_legal(game.board, game.rng));
  if (has_opponent()) {
    game.actor = config_.side == Side::kRandom ? static_cast<Colour>(game.rng.below(2))
                                               : static_cast<Colour>(config_.side == Side::kWhite);
    if (game.board.to_move() != game.actor) {
      if (config_.opponent) {
        make(game, choose_reply(*config_.opponent, game));
      } else {
        owed = Owed::kFirstMove;
      }
    }
  } else {
    game.actor = game.board.to_move();
  }
  owed_[static_cast<std::size_t>(index)] = static_cast<std::uint8_t>(owed);
  write_all(index);
}

template <typename Plane>
int VectorEnv<Plane>::find_invalid(const std::int64_t* actions) const {
  for (int i = 0; i < config_.boards; ++i) {
    const bool resigns = config_.resign_action && actions[i] == config_.rules.area();
    if (!resigns && !is_playable(games_[static_cast<std::size_t>(i)], actions[i])) return i;
  }
  return -1;
}

template <typename Plane>
template <typename Work>
void VectorEnv<Plane>::for_each_board(const Work& work) {
  const int parts = (config_.boards + kBoardsPerPart - 1) / kBoardsPerPart;
  shared_work_.run(parts, [this, &work](int part) {
    const int last = std::min((part + 1) * kBoardsPerPart, config_.boards);
    for (int i = part * kBoardsPerPart; i < last; ++i) work(i);
  });
}

template <typename Plane>
void VectorEnv<Plane>::step(const std::int64_t* actions) {
  if (std::ranges::any_of(owed_, [](std::uint8_t owed) { return owed != 0; }))
    throw std::invalid_argument("a board is waiting for the opponent's move: call reply first");
  for_each_board([this, actions](int i) { step_board(i, actions[i]); });
}

template <typename Plane>
void VectorEnv<Plane>::reply(const std::int64_t* replies) {
  const auto owes = [this](int i) { return owed_[static_cast<std::size_t>(i)] != 0; };
  for (int i = 0; i < config_.boards; ++i)
    if (owes(i) && !(replies[i] >= 0 && replies[i] < config_.rules.area() &&
                     is_legal(games_[static_cast<std::size_t>(i)].board, static_cast<Point>(replies[i]))))
      throw std::invalid_argument("the reply " + std::to_string(replies[i]) + " is illegal on board " +
                                  std::to_string(i));
  for_each_board([&](int i) {
    if (owes(i)) reply_on_board(i, static_cast<Point>(replies[i]));
  });
}

template <typename Plane>
void VectorEnv<Plane>::sample_actions(Rng& rng, std::int64_t* actions) {
  for (Game& game : games_) *actions++ = game.empties.draw_legal(game.board, rng);
}

template <typename Plane>
Point VectorEnv<Plane>::choose_reply(PolicyKind policy, Game& game) {
  if (policy == PolicyKind::kRandom) return game.empties.draw_legal(game.board, game.rng);
  return choose_move(policy, game.board, game.rng);
}

template <typename Plane>
bool VectorEnv<Plane>::is_playable(const Game& game, std::int64_t action) const {
  if (action < 0 || action >= config_.rules.area()) return false;
  const auto point = static_cast<Point>(action);
  return game.board.is_empty(point) && !game.fouls.has(point);
}

template <typename Plane>
void VectorEnv<Plane>::step_board(int index, std::int64_t action) {
  const auto i = static_cast<std::size_t>(index);
  Game& game = games_[i];
  const Colour actor = game.actor;
  ++game.actions_done;
  Outcome outcome = win_for(opponent(actor));  // after a resignation or an invalid action
  if (is_playable(game, action)) {
    place(index, static_cast<Point>(action));
    outcome = game_outcome(game.board);
    if (has_opponent() && outcome == Outcome::kOngoing) {
      if (!config_.opponent) {
        owed_[i] = static_cast<std::uint8_t>(Owed::kReply);
        return;
      }
      place(index, choose_reply(*config_.opponent, game));
      outcome = game_outcome(game.board);
    }
    if (!has_opponent()) {
      game.actor = game.board.to_move();
      planes_of(index).turn(game.actor);
    }
  }
  settle(index, actor, outcome);
}

template <typename Plane>
void VectorEnv<Plane>::reply_on_board(int index, Point reply) {
  const auto i = static_cast<std::size_t>(index);
  const auto owed = static_cast<Owed>(owed_[i]);
  owed_[i] = static_cast<std::uint8_t>(Owed::kNothing);
  place(index, reply);
  if (owed == Owed::kReply) {
    settle(index, games_[i].actor, game_outcome(games_[i].board));
  } else {
    update_fouls(index);  // the first move cannot end the game; keep the results of the last step
  }
}

// Write the results of a step on one board. Start a new game if the game is over.
template <typename Plane>
void VectorEnv<Plane>::settle(int index, Colour actor, Outcome outcome) {
  const auto i = static_cast<std::size_t>(index);
  rewards_[i] = result_for(actor, outcome);
  terminations_[i] = outcome != Outcome::kOngoing;
  if (outcome != Outcome::kOngoing) {
    finish(index, outcome);
    reset_board(index);
  } else {
    colours_[i] = static_cast<std::int8_t>(games_[i].actor);
    update_fouls(index);
  }
}

template <typename Plane>
void VectorEnv<Plane>::make(Game& game, Point point) {
  game.board.make(point);
  game.empties.remove(point);
  if (config_.rules.rule == Rule::kRenju) game.tracker.add(game.board, point);
}

// Make a move and update the planes and the mask.
template <typename Plane>
void VectorEnv<Plane>::place(int index, Point point) {
  Game& game = games_[static_cast<std::size_t>(index)];
  const Colour mover = game.board.to_move();
  const Point previous = game.board.last_move();
  make(game, point);
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
  const Board& board = game.board;
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
  game.fouls = {};
  update_fouls(index);
}

// Mask out the fouls of the side to move, and restore the points masked out before. White has no fouls.
template <typename Plane>
void VectorEnv<Plane>::update_fouls(int index) {
  if (config_.rules.rule != Rule::kRenju) return;
  Game& game = games_[static_cast<std::size_t>(index)];
  std::int8_t* const mask = mask_of(index);
  game.fouls.for_each([&](Point p) { mask[p] = game.board.is_empty(p); });
  game.fouls = has_fouls(game.board) ? game.tracker.find(game.board) : PointSet{};
  game.fouls.for_each([&](Point p) { mask[p] = 0; });
}

template <typename Plane>
typename VectorEnv<Plane>::SavedGame VectorEnv<Plane>::save(int index) const {
  const Game& game = games_[static_cast<std::size_t>(checked_index(index, boards(), "board"))];
  return {game.board.moves(), game.empties.order(), game.rng.state(), game.actor, game.actions_done};
}

template <typename Plane>
void VectorEnv<Plane>::restore(int index, const SavedGame& saved) {
  Game game{empty_board_, EmptyPoints(config_.rules.area()), Rng(saved.rng), checked_colour(saved.actor), 0, {}, {}};
  for (const Point point : saved.moves) {
    if (point >= config_.rules.area() || game_outcome(game.board) != Outcome::kOngoing || !is_legal(game.board, point))
      throw std::invalid_argument("the moves of board " + std::to_string(index) + " are not a game in progress");
    make(game, point);
  }
  game.empties.set_order(saved.order);
  const bool empties_match = std::ranges::all_of(saved.order.begin(), saved.order.begin() + game.empties.size(),
                                                 [&game](Point p) { return game.board.is_empty(p); });
  if (!empties_match) throw std::invalid_argument("the empty points of board " + std::to_string(index) + " are wrong");
  if (game_outcome(game.board) != Outcome::kOngoing || game.board.to_move() != game.actor || saved.actions_done < 0)
    throw std::invalid_argument("board " + std::to_string(index) + " does not wait for an action");
  game.actions_done = saved.actions_done;
  at(index) = game;
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
