#include "play/self_play.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/checked.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

// Maximum number of walks for one game per call to collect. Walks that need no network are cheap, but a game whose
// positions are all in the cache must not keep the others waiting.
constexpr int kMaxWalksPerCall = 256;

// Largest distance of a stone in a random opening from its nearest neighbour.
constexpr int kOpeningRadius = 2;

// The legal points near other stones that do not win immediately.
PointSet quiet_points(const Board& board, int radius) {
  PointSet points = legal_points(board) & points_near_stones(board, radius);
  const PointSet wins = completing_points(board, board.to_move());
  return points.remove_all(wins);
}

}  // namespace

SelfPlay::SelfPlay(const Rules& rules, PlaneLayout layout, const PuctOptions& options, const OpeningOptions& openings,
                   int games, std::uint64_t seed)
    : rules_(rules),
      layout_(layout),
      options_(playable(options, rules)),
      openings_(openings),
      empty_board_(rules),
      with_patterns_(needs_patterns(options, rules) || needs_patterns(layout)),
      evaluations_(options_, rules, layout),
      judge_(options_),
      log_policy_(static_cast<std::size_t>(rules.area())) {
  games_.reserve(static_cast<std::size_t>(games));
  for (int i = 0; i < games; ++i) {
    games_.emplace_back(options_, empty_board_, with_patterns_, mixed_seed(seed, static_cast<std::uint64_t>(i)));
    begin_game(games_.back());
  }
}

int SelfPlay::max_rows() const { return games() * options_.leaves * evaluations_.rows_per_leaf(); }

// ---- Openings -----------------------------------------------------------------------------------------------------

void SelfPlay::make(Game& game, Point move) {
  game.board.make(move);
  game.record.moves.push_back(move);
}

void SelfPlay::begin_game(Game& game) {
  game.board = PuctBoard(empty_board_, with_patterns_);
  game.record = {};
  game.candidates.clear();
  game.candidate_weights.clear();
  game.tree.reset();
  const bool with_opening = openings_.fraction >= 1 || game.rng.uniform() < openings_.fraction;
  if (with_opening && !openings_.list.empty()) {
    const auto& moves = openings_.list[game.rng.below(static_cast<std::uint32_t>(openings_.list.size()))];
    const Symmetries symmetries(rules_.width, rules_.height);
    const Point* const to =
        symmetries.table(static_cast<int>(game.rng.below(static_cast<std::uint32_t>(symmetries.count()))));
    for (const Point move : moves) make(game, to[move]);
  } else if (with_opening && openings_.random_stones > 0) {
    place_random_stones(game);
  }
  if (game.candidates.empty()) {
    game.record.opening_length = static_cast<int>(game.record.moves.size());
    begin_search(game);
  }
}

void SelfPlay::place_random_stones(Game& game) const {
  const auto most = static_cast<std::uint32_t>(openings_.random_stones);
  for (std::uint32_t left = game.rng.below(most + 1); left > 0; --left) {
    const Board& board = game.board.board();
    PointSet points = quiet_points(board, kOpeningRadius);
    if (board.stones() == 0)  // the centre and its neighbours, not only the centre
      for (const int x : {-1, 0, 1})
        for (const int y : {-1, 0, 1}) {
          const Geometry& geometry = board.geometry();
          points.add(geometry.point(geometry.width() / 2 + x, geometry.height() / 2 + y));
        }
    if (points.size() < 2) break;
    make(game, points.at(static_cast<int>(game.rng.below(static_cast<std::uint32_t>(points.size())))));
  }
  if (openings_.balance_candidates == 0) return;
  const Board& board = game.board.board();
  PointSet points = quiet_points(board, kOpeningRadius);
  if (board.empties() < 2) return;
  while (!points.empty() && static_cast<int>(game.candidates.size()) < openings_.balance_candidates) {
    const Point point = points.at(static_cast<int>(game.rng.below(static_cast<std::uint32_t>(points.size()))));
    points.remove(point);
    game.candidates.push_back(point);
  }
}

// Request the value of the position after the next candidate.
void SelfPlay::weigh_candidate(int index, float* planes) {
  Game& game = games_[static_cast<std::size_t>(index)];
  const auto candidate = static_cast<int>(game.candidate_weights.size());
  game.board.make(game.candidates[game.candidate_weights.size()]);
  game.candidate_weights.push_back(0.0f);
  const LeafJudgement judgement = judge_.judge(game.board, options_.vcf_nodes_leaf);
  if (judgement.result == Result::kUnknown)
    add_leaf(index, judgement, evaluations_.request(game.board.board(), game.rng), planes).candidate = candidate;
  game.board.unmake();
}

void SelfPlay::finish_opening(Game& game) {
  float sum = 0;
  for (const float weight : game.candidate_weights) sum += weight;
  if (sum > 0) {
    auto left = static_cast<float>(game.rng.uniform()) * sum;
    std::size_t chosen = 0;
    for (std::size_t i = 0; i < game.candidates.size(); ++i) {
      if (game.candidate_weights[i] == 0) continue;
      chosen = i;
      left -= game.candidate_weights[i];
      if (left < 0) break;
    }
    make(game, game.candidates[chosen]);
  }
  game.candidates.clear();
  game.candidate_weights.clear();
  game.record.opening_length = static_cast<int>(game.record.moves.size());
  begin_search(game);
}

// ---- Searching and playing ----------------------------------------------------------------------------------------

void SelfPlay::begin_search(Game& game) {
  // The solver spends more nodes on the root than on a leaf. If it proves the root of a kept tree, discard the tree:
  // the first walk then judges the root again and settles it.
  if (game.tree.has_root() && options_.vcf_nodes_root > 0 &&
      judge_.judge(game.board, options_.vcf_nodes_root).result != Result::kUnknown)
    game.tree.reset();
  game.full = options_.full_fraction >= 1 || game.rng.uniform() < options_.full_fraction;
  PuctSearchPlan plan;
  plan.simulations = game.simulations = game.full ? options_.simulations : options_.fast_simulations;
  plan.noise = game.full;
  plan.forced_playouts = game.full;
  plan.gumbel = options_.gumbel;
  game.tree.begin(plan, game.rng);
}

void SelfPlay::play_move(Game& game) {
  const Board& board = game.board.board();
  const auto area = static_cast<std::size_t>(rules_.area());
  const float temperature =
      board.ply() < options_.temperature_plies ? options_.temperature : options_.temperature_final;
  SelfPlayGame& record = game.record;
  record.policies.resize(record.policies.size() + area);
  const PuctDecision decision =
      game.tree.decide(temperature, game.rng, &record.policies[record.policies.size() - area]);
  record.searched.push_back({static_cast<float>(decision.value_to_move), decision.surprise, game.full});
  const Colour mover = board.to_move();
  make(game, decision.move);
  ++counts_.moves;

  if (const Outcome outcome = game_outcome(board); outcome != Outcome::kOngoing) {
    end_game(game, outcome);
    return;
  }
  if (options_.stop_when_proved && decision.proof != Result::kUnknown) {
    const Outcome won = win_for(decision.proof == Result::kWin ? mover : opponent(mover));
    record.plies_left = decision.proof_plies - 1;
    end_game(game, decision.proof == Result::kDraw ? Outcome::kDraw : won);
    return;
  }
  if (options_.stop_when_proved && options_.tactics && is_dead(board)) {
    record.plies_left = board.empties();
    end_game(game, Outcome::kDraw);
    return;
  }
  if (options_.reuse_tree)
    game.tree.advance(decision.move);
  else
    game.tree.reset();
  begin_search(game);
}

void SelfPlay::end_game(Game& game, Outcome outcome) {
  game.record.outcome = outcome;
  finished_.push_back(std::move(game.record));
  ++counts_.games;
  begin_game(game);
}

SelfPlay::Leaf& SelfPlay::add_leaf(int index, const LeafJudgement& judgement, const EvaluationRequest& request,
                                   float* planes) {
  Game& game = games_[static_cast<std::size_t>(index)];
  evaluations_.write(game.board, request,
                     planes + static_cast<std::ptrdiff_t>(waiting_rows()) * evaluations_.row_size());
  Leaf& leaf = waiting_.emplace_back();
  leaf.game = index;
  leaf.judgement = judgement;
  leaf.request = request;
  ++game.waiting;
  ++counts_.evaluations;
  return leaf;
}

// Run one simulation of a game. Returns false if the game has to wait for evaluations.
bool SelfPlay::walk_once(int index, float* planes) {
  Game& game = games_[static_cast<std::size_t>(index)];
  const PuctWalk::End end = game.tree.walk(game.board, walk_);
  if (end == PuctWalk::End::kCollision) {
    game.tree.cancel(walk_);
    game.board.unmake(walk_.depth());
    return false;
  }
  if (end == PuctWalk::End::kThreats) {
    game.tree.conclude(walk_, judge_.find_threats(game.board, options_.vct_nodes));
    game.board.unmake(walk_.depth());
    return true;
  }
  if (walk_.counts) ++counts_.simulations;
  if (end == PuctWalk::End::kKnown) {
    game.tree.repeat_known(walk_);
  } else {
    const bool is_root = walk_.depth() == 0;
    const LeafJudgement judgement =
        judge_.judge(game.board, is_root ? options_.vcf_nodes_root : options_.vcf_nodes_leaf);
    if (judgement.result != Result::kUnknown) {
      game.tree.settle(walk_, judgement);
    } else {
      const EvaluationRequest request = evaluations_.request(game.board.board(), game.rng);
      float value = 0;
      if (evaluations_.find(request, log_policy_.data(), value)) {
        ++counts_.cache_hits;
        game.tree.expand(walk_, judgement, log_policy_.data(), value, game.rng);
      } else {
        add_leaf(index, judgement, request, planes).walk = walk_;
      }
    }
  }
  game.board.unmake(walk_.depth());
  return true;
}

void SelfPlay::advance(int index, float* planes) {
  Game& game = games_[static_cast<std::size_t>(index)];
  for (int walks = 0; walks < kMaxWalksPerCall && game.waiting < options_.leaves; ++walks) {
    if (!game.candidates.empty()) {
      if (game.candidate_weights.size() < game.candidates.size())
        weigh_candidate(index, planes);
      else if (game.waiting == 0)
        finish_opening(game);
      else
        return;
      continue;
    }
    const bool forced = options_.tactics && game.tree.root().edge_count == 1;
    const int wanted = forced ? std::min(game.simulations, kSimulationsOfOnlyMove) : game.simulations;
    const bool done = game.tree.is_proved() || game.tree.begun() >= wanted;
    if (!done || !game.tree.has_root()) {
      if (!walk_once(index, planes)) return;
    } else if (game.waiting == 0) {
      play_move(game);
    } else {
      return;
    }
  }
}

int SelfPlay::collect(float* planes) {
  if (!waiting_.empty()) throw std::invalid_argument("rows are waiting for their evaluation; call supply first");
  for (int i = 0; i < games(); ++i) advance(i, planes);
  return waiting_rows();
}

void SelfPlay::supply(const float* log_policies, const float* values) {
  const int rows = evaluations_.rows_per_leaf();
  for (const Leaf& leaf : waiting_) {
    Game& game = games_[static_cast<std::size_t>(leaf.game)];
    float value = 0;
    evaluations_.read(leaf.request, log_policies, values, log_policy_.data(), value);
    log_policies += static_cast<std::ptrdiff_t>(rows) * rules_.area();
    values += rows;
    if (leaf.candidate >= 0) {
      game.candidate_weights[static_cast<std::size_t>(leaf.candidate)] =
          std::pow(std::max(0.0f, 1.0f - value * value), 4.0f);
    } else {
      game.tree.expand(leaf.walk, leaf.judgement, log_policy_.data(), value, game.rng);
    }
    --game.waiting;
  }
  waiting_.clear();
}

std::vector<SelfPlayGame> SelfPlay::take_finished() { return std::exchange(finished_, {}); }

// ---- Saving and loading -------------------------------------------------------------------------------------------

const SelfPlay::Game& SelfPlay::at(int index) const {
  return games_[static_cast<std::size_t>(checked_index(index, games(), "game"))];
}

void SelfPlay::restart() {
  waiting_.clear();
  evaluations_.clear();
  judge_.clear();
  for (Game& game : games_) {
    game.waiting = 0;
    game.candidates.clear();
    game.candidate_weights.clear();
    if (game.record.searched.empty()) {
      begin_game(game);
      continue;
    }
    game.board = PuctBoard(empty_board_, with_patterns_);
    for (const Point move : game.record.moves) game.board.make(move);
    game.tree.reset();
    begin_search(game);
  }
}

void SelfPlay::set_game(int index, SelfPlayGame record, const Rng::State& rng_state) {
  Board board = empty_board_;
  for (const Point move : record.moves) {
    if (move >= rules_.area() || board.is_over() || !is_legal(board, move))
      throw std::invalid_argument("move " + std::to_string(board.ply() + 1) + " of the game cannot be played");
    board.make(move);
  }
  if (game_outcome(board) != Outcome::kOngoing)
    throw std::invalid_argument("the game is over; self-play can continue only unfinished games");
  Game& game = games_[static_cast<std::size_t>(checked_index(index, games(), "game"))];
  game.record = std::move(record);
  game.rng = Rng(rng_state);
}

}  // namespace tengen
