#include "search/fudan/checkmate.h"

#include <algorithm>

#include "search/fudan/candidates.h"

namespace tengen::fudan {
namespace {

class CheckmateSearch {
 public:
  CheckmateSearch(PointScores& scores, Colour attacker, std::uint64_t max_nodes, Budget& budget)
      : scores_(scores), attacker_(attacker), defender_(opponent(attacker)), nodes_left_(max_nodes), budget_(budget) {}

  // Plies to a win for the attacker, who is to move; 0 if there is no win in `plies`. `line` is valid only for a win.
  int attack(int plies, Variation& line) {
    if (const PointList fives = points_worth(scores_, attacker_, kFive); !fives.empty()) {
      line = {fives[0]};
      return 1;
    }
    if (plies < 3) return 0;
    const PointList enemy_fives = points_worth(scores_, defender_, kFive);
    if (enemy_fives.size() > 1) return 0;
    const PointList moves = enemy_fives.empty() ? points_worth(scores_, attacker_, kOpenThree) : enemy_fives;
    for (const Point move : moves) {
      if (!spend_node()) return 0;
      scores_.place(move, attacker_);
      const int rest = defend(plies - 1, line);
      scores_.remove(move);
      if (rest == 0) continue;
      line = Variation(move, line);
      return rest + 1;
    }
    return 0;
  }

  bool is_spent() const { return nodes_left_ == 0 || budget_.is_spent(); }

 private:
  bool spend_node() {
    if (is_spent()) return false;
    --nodes_left_;
    return budget_.spend_node();
  }

  // Like attack, but with the defender to move.
  int defend(int plies, Variation& line) {
    if (plies < 2 || !points_worth(scores_, defender_, kFive).empty()) return 0;
    const PointList fives = points_worth(scores_, attacker_, kFive);
    if (fives.size() > 1) {
      line = {fives[0], fives[1]};
      return 2;
    }
    if (fives.size() == 1) return refute(fives, plies, line);
    // Without a threatened five, the attacker must threaten an open four. Replies that neither stop it nor make a four
    // lose in four plies.
    constexpr int kOpenFourPlies = 4;
    if (plies < kOpenFourPlies || !threatens_open_four()) return 0;
    const int longest = refute(defences(), plies, line);
    return longest == 0 ? 0 : std::max(longest, kOpenFourPlies);
  }

  // Plies of the longest defence among `replies`; 0 if one of them holds.
  int refute(const PointList& replies, int plies, Variation& line) {
    int longest = 0;
    for (const Point reply : replies) {
      if (!spend_node()) return 0;
      Variation continuation;
      scores_.place(reply, defender_);
      const int rest = attack(plies - 1, continuation);
      scores_.remove(reply);
      if (rest == 0) return 0;
      if (rest < longest) continue;
      longest = rest + 1;
      line = Variation(reply, continuation);
    }
    return longest;
  }

  // Defences against a threatened open four: the points where the attacker would make a four, and counter-fours.
  PointList defences() const {
    Ranking ranking;
    for (Point p = 0; p < scores_.area(); ++p) {
      const Score best = std::max(scores_.score(attacker_, p), scores_.score(defender_, p));
      if (best >= kFour && scores_.is_empty(p)) ranking.add(p, best);
    }
    return ranking.all();
  }

  bool threatens_open_four() {
    for (const Point p : points_worth(scores_, attacker_, kOpenFour)) {
      scores_.place(p, attacker_);
      const bool is_open_four = points_worth(scores_, attacker_, kFive).size() > 1;
      scores_.remove(p);
      if (is_open_four) return true;
    }
    return false;
  }

  PointScores& scores_;
  Colour attacker_;
  Colour defender_;
  std::uint64_t nodes_left_;
  Budget& budget_;
};

class AuthorsCheckmateSearch {
 public:
  AuthorsCheckmateSearch(PointScores& scores, Colour attacker, int max_depth, std::uint64_t max_nodes, Budget& budget)
      : scores_(scores), attacker_(attacker), max_depth_(max_depth), nodes_left_(max_nodes), budget_(budget) {}

  // The winning move for the attacker, who is to move after `depth` moves, or kNoPoint if none is found.
  Point attack(int depth) {
    if (depth > max_depth_ || !points_worth(scores_, opponent(attacker_), kFive).empty()) return kNoPoint;
    for (const Point move : best_neighbours(scores_, kWidth)) {
      const Score score = scores_.score(attacker_, move);
      if (score >= kFive) return move;
      if (score >= 2 * kOpenThree && plays(move, attacker_, [&] { return defend_fails(depth + 1); })) return move;
    }
    return kNoPoint;
  }

 private:
  static constexpr int kWidth = 6;

  // Whether there are replies and all of them lose.
  bool defend_fails(int depth) {
    if (depth > max_depth_) return false;
    const Colour defender = opponent(attacker_);
    bool any = false;
    for (const Point reply : best_neighbours(scores_, kWidth)) {
      const Score score = scores_.score(defender, reply);
      if (score + scores_.score(attacker_, reply) < kFour) continue;
      if (score >= kFive || !plays(reply, defender, [&] { return attack(depth + 1) != kNoPoint; })) return false;
      any = true;
    }
    return any;
  }

  // Play a move, return the result of `ask` and undo the move. Returns false if the node limit is reached.
  template <typename Ask>
  bool plays(Point move, Colour colour, Ask ask) {
    if (nodes_left_ == 0 || !budget_.spend_node()) return false;
    --nodes_left_;
    scores_.place(move, colour);
    const bool answer = ask();
    scores_.remove(move);
    return answer;
  }

  PointScores& scores_;
  Colour attacker_;
  int max_depth_;
  std::uint64_t nodes_left_;
  Budget& budget_;
};

}  // namespace

Checkmate find_checkmate(PointScores& scores, Colour attacker, int max_plies, std::uint64_t max_nodes, Budget& budget) {
  CheckmateSearch search(scores, attacker, max_nodes, budget);
  Checkmate found;
  // The attacker makes the five, so wins take an odd number of plies.
  for (int plies = 1; plies <= max_plies && found.plies == 0 && !search.is_spent(); plies += 2)
    found.plies = search.attack(plies, found.line);
  return found;
}

Point find_authors_checkmate(PointScores& scores, Colour attacker, int max_depth, std::uint64_t max_nodes,
                             Budget& budget) {
  return AuthorsCheckmateSearch(scores, attacker, max_depth, max_nodes, budget).attack(0);
}

}  // namespace tengen::fudan
