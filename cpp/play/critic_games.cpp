#include "play/critic_games.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/rng.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

float chance(float logit) { return 1.0f / (1.0f + std::exp(-logit)); }

float black_chance(float logit, Colour view) { return view == kBlack ? chance(logit) : 1.0f - chance(logit); }

float black_result(Outcome outcome) {
  return outcome == Outcome::kBlackWins ? 1.0f : outcome == Outcome::kWhiteWins ? 0.0f : 0.5f;
}

// Plays games sequentially.
class GameMaker {
 public:
  GameMaker(const Critic& learner, const CriticGameOptions& options, CriticGames& games)
      : learner_(learner), options_(options), games_(games), empty_(options.rules) {}

  void play(Rng& rng, Colour opponent_colour) {
    CriticBoard board = begin(rng);
    Outcome outcome = game_outcome(board.board());
    games_.position_starts.push_back(static_cast<std::int64_t>(games_.black_values.size()) / games_.views);
    while (outcome == Outcome::kOngoing) {
      board.judge(learner_, options_.radius, afterstates_);
      // Ties go to the first move, as in the paper.
      const Afterstate best = *std::ranges::max_element(afterstates_, {}, &Afterstate::logit);
      const Point move = choose(board, best, opponent_colour, rng);
      const bool is_best = move == best.point;
      if (!is_best) value_best(board, best);
      make(board, move);
      outcome = game_outcome(board.board());
      record(board, outcome, is_best);
    }
    games_.outcomes.push_back(static_cast<std::uint8_t>(outcome));
  }

 private:
  CriticBoard begin(Rng& rng) {
    games_.game_starts.push_back(static_cast<std::int64_t>(games_.moves.size()));
    CriticBoard board(learner_.input, empty_);
    if (options_.random_stones == 0) return board;
    const int stones = 1 + below(options_.random_stones, rng);
    make(board, static_cast<Point>(below(options_.rules.area(), rng)));
    for (int i = 1; i < stones; ++i) {
      const PointSet near = board.candidates(kOpeningRadius);
      make(board, near.at(below(near.size(), rng)));
    }
    return board;
  }

  Point choose(CriticBoard& board, const Afterstate& best, Colour opponent_colour, Rng& rng) {
    const bool is_opponents = board.board().to_move() == opponent_colour;
    if (is_opponents && options_.policy_opponent) return choose_move(*options_.policy_opponent, board.board(), rng);
    if (rng.uniform() < options_.epsilon)
      return afterstates_[static_cast<std::size_t>(below(static_cast<int>(afterstates_.size()), rng))].point;
    if (is_opponents && options_.critic_opponent) {
      board.judge(*options_.critic_opponent, options_.radius, afterstates_);
      return std::ranges::max_element(afterstates_, {}, &Afterstate::logit)->point;
    }
    return best.point;
  }

  static int below(int n, Rng& rng) { return static_cast<int>(rng.below(static_cast<std::uint32_t>(n))); }

  void make(CriticBoard& board, Point point) {
    games_.moves.push_back(static_cast<std::int16_t>(point));
    board.make(point);
  }

  // The viewer for value `index` of a position.
  Colour view(const CriticBoard& board, int index) const {
    return games_.views == 2 ? static_cast<Colour>(index) : opponent(board.board().to_move());
  }

  void value_best(CriticBoard& board, const Afterstate& best) {
    board.make(best.point);
    push_values(board, game_outcome(board.board()), games_.black_best_values);
    board.unmake();
  }

  void push_values(const CriticBoard& board, Outcome outcome, std::vector<float>& values) const {
    for (int i = 0; i < games_.views; ++i) {
      const Colour seen_by = view(board, i);
      values.push_back(outcome == Outcome::kOngoing ? black_chance(board.logit(learner_, seen_by), seen_by)
                                                    : black_result(outcome));
    }
  }

  void record(const CriticBoard& board, Outcome outcome, bool is_best) {
    push_values(board, outcome, games_.black_values);
    if (is_best) {
      const auto& values = games_.black_values;
      games_.black_best_values.insert(games_.black_best_values.end(), values.end() - games_.views, values.end());
    }
    for (int i = 0; i < games_.views; ++i) {
      if (outcome == Outcome::kOngoing) {
        board.append_inputs(view(board, i), games_.rows);
      } else {
        games_.rows.starts.push_back(static_cast<std::int64_t>(games_.rows.indices.size()));
      }
    }
  }

  static constexpr int kOpeningRadius = 2;

  const Critic& learner_;
  const CriticGameOptions& options_;
  CriticGames& games_;
  Board empty_;
  std::vector<Afterstate> afterstates_;
};

}  // namespace

CriticGames play_critic_games(const Critic& learner, const CriticGameOptions& options, int games, std::uint64_t seed) {
  const int most = most_opening_moves(options.rules);
  if (options.random_stones < 0 || options.random_stones > most)
    throw std::invalid_argument(std::to_string(options.random_stones) + " random stones are outside the range 0–" +
                                std::to_string(most) + ": more stones could already make a winning line");
  if (options.critic_opponent && options.critic_opponent->input != learner.input)
    throw std::invalid_argument("the opponent critic must have the same inputs as the learner");
  CriticGames played;
  played.views = learner.input == CriticInput::kStones ? 2 : 1;
  GameMaker maker(learner, options, played);
  Rng seeds(seed);
  for (int i = 0; i < games; ++i) {
    Rng rng(seeds.next());
    maker.play(rng, i % 2 ? kWhite : kBlack);
  }
  played.game_starts.push_back(static_cast<std::int64_t>(played.moves.size()));
  played.position_starts.push_back(static_cast<std::int64_t>(played.black_values.size()) / played.views);
  played.rows.starts.push_back(static_cast<std::int64_t>(played.rows.indices.size()));
  return played;
}

}  // namespace tengen
