#include "play/vector_env.h"

#include <algorithm>
#include <thread>

#include "core/checked.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

// With fewer boards per thread than this, a thread costs more than it saves.
constexpr int kBoardsPerThread = 128;

// Call work(first, last) on disjoint ranges that cover all boards. The threads end before the call returns, so the
// process can be forked safely. Starting a thread costs less than a hundredth of its work.
template <typename Work>
void share_out(int boards, int threads, const Work& work) {
  const int shares = std::clamp(boards / kBoardsPerThread, 1, threads);
  const auto border = [&](int share) { return static_cast<int>(std::int64_t{boards} * share / shares); };
  std::vector<std::jthread> helpers;
  for (int share = 1; share < shares; ++share)
    helpers.emplace_back([&work, first = border(share), last = border(share + 1)] { work(first, last); });
  work(0, border(1));
}

double result_for(Colour colour, Outcome outcome) {
  if (outcome == Outcome::kOngoing || outcome == Outcome::kDraw) return 0.0;
  return outcome == win_for(colour) ? 1.0 : -1.0;
}

}  // namespace

template <typename Plane>
VectorEnv<Plane>::VectorEnv(const VectorEnvConfig& config)
    : config_(config),
      empty_board_(config.rules),
      planes_size_(static_cast<std::size_t>(plane_count(config.layout) * config.rules.area())) {
  const auto boards = static_cast<std::size_t>(config.boards);
  games_.reserve(boards);
  for (std::size_t i = 0; i < boards; ++i)
    games_.push_back({empty_board_, EmptyPoints(config.rules.area()), Rng(i), kBlack, 0});
  planes_ = std::make_unique<Plane[]>(boards * planes_size_);
  final_planes_ = std::make_unique<Plane[]>(boards * planes_size_);
  masks_ = std::make_unique<std::int8_t[]>(boards * static_cast<std::size_t>(actions()));
  terminations_ = std::make_unique<bool[]>(boards);
  colours_.resize(boards);
  final_colours_.resize(boards);
  rewards_.resize(boards);
  outcomes_.resize(boards);
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
  game.actions_done = 0;
  const auto make = [&game](Point point) {
    game.board.make(point);
    game.empties.remove(point);
  };
  for (int i = 0; i < config_.opening_moves; ++i) make(game.empties.draw_legal(game.board, game.rng));
  if (config_.opponent) {
    game.actor = config_.side == Side::kRandom ? static_cast<Colour>(game.rng.below(2))
                                               : static_cast<Colour>(config_.side == Side::kWhite);
    if (game.board.to_move() != game.actor) make(choose_reply(*config_.opponent, game));
  } else {
    game.actor = game.board.to_move();
  }
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
void VectorEnv<Plane>::step(const std::int64_t* actions) {
  share_out(config_.boards, config_.threads, [this, actions](int first, int last) {
    for (int i = first; i < last; ++i) step_board(i, actions[i]);
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
  return action >= 0 && action < config_.rules.area() && is_legal(game.board, static_cast<Point>(action));
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
    if (config_.opponent && outcome == Outcome::kOngoing) {
      place(index, choose_reply(*config_.opponent, game));
      outcome = game_outcome(game.board);
    }
    if (!config_.opponent) {
      game.actor = game.board.to_move();
      planes_of(index).turn(game.actor);
    }
  }
  rewards_[i] = result_for(actor, outcome);
  terminations_[i] = outcome != Outcome::kOngoing;
  if (outcome != Outcome::kOngoing) {
    finish(index, outcome);
    reset_board(index);
  } else {
    colours_[i] = static_cast<std::int8_t>(game.actor);
    if (config_.rules.rule == Rule::kRenju) write_renju_mask(index);
  }
}

// Make a move and update the planes and the mask.
template <typename Plane>
void VectorEnv<Plane>::place(int index, Point point) {
  Game& game = games_[static_cast<std::size_t>(index)];
  const Colour mover = game.board.to_move();
  const Point previous = game.board.last_move();
  game.board.make(point);
  game.empties.remove(point);
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
  episode_returns_[i] = result_for(config_.opponent ? game.actor : kBlack, outcome);
  episode_lengths_[i] = game.actions_done;
}

// Write the planes, mask and colour of a board, based on its stones.
template <typename Plane>
void VectorEnv<Plane>::write_all(int index) {
  const Game& game = games_[static_cast<std::size_t>(index)];
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
  if (config_.rules.rule == Rule::kRenju) write_renju_mask(index);
}

// One stone can create or remove distant fouls, and white has no fouls, so all points are written again.
template <typename Plane>
void VectorEnv<Plane>::write_renju_mask(int index) {
  const Board& board = this->board(index);
  std::int8_t* mask = mask_of(index);
  std::array<Foul, kMaxArea> fouls{};
  if (has_fouls(board)) find_fouls(board, fouls.data());
  for (Point p = 0; p < config_.rules.area(); ++p) mask[p] = board.is_empty(p) && fouls[p] == Foul::kNone;
}

template <typename Plane>
IncrementalPlanes<Plane> VectorEnv<Plane>::planes_of(int index) {
  return {planes_.get() + static_cast<std::size_t>(index) * planes_size_, config_.layout, config_.rules.area()};
}

template class VectorEnv<std::int8_t>;
template class VectorEnv<float>;

}  // namespace tengen
