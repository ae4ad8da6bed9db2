#include "search/fudan/search.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "search/fudan/candidates.h"
#include "search/fudan/variation.h"

namespace tengen::fudan {
namespace {

// Number of moves tried at each ply; the last width applies to all deeper plies.
constexpr std::array<int, 7> kWidths = {8, 6, 4, 3, 3, 3, 3};
// Number of moves that are checked for fives and open fours, and number of root moves tried against a checkmate.
constexpr int kConsidered = 20;

constexpr int kCheckmatePlies = 16;
constexpr int kAuthorsCheckmateDepth = 11;
// Of the 64 wins that 20,000 nodes find in 345 positions, 57 need at most 5,000 nodes and 49 at most 1,000.
constexpr std::uint64_t kCheckmateNodes = 5'000;
constexpr std::uint64_t kEscapeNodes = 1'000;

// Weight of the enemy's stones in tenths: with the agent to move, with the enemy to move.
constexpr Value kEnemyWeight[2] = {9, 11};

constexpr Value kInfinite = kWinByFive + 1;

int width_at(int ply) { return kWidths[std::min<std::size_t>(ply, kWidths.size() - 1)]; }

// One fixed-depth tree. The agent is the side to move at its root.
class Tree {
 public:
  Tree(const Options& options, PointScores& scores, HashIndex& index, Budget& budget, Colour agent, int depth)
      : options_(options), scores_(scores), index_(index), budget_(budget), agent_(agent), depth_(depth) {
    index_.begin_tree();
  }

  // The value of playing `move` at `ply`, for `player`.
  Value after(Point move, Colour player, int ply, Value alpha, Value beta, Variation& line) {
    scores_.place(move, player);
    const Value value = -search(opponent(player), ply + 1, -beta, -alpha, line);
    scores_.remove(move);
    return value;
  }

  // The value of a win that needs no search: a five, or an open four if the enemy has no five.
  Value claim(Value win, int ply) const { return options_.prefers_fast_wins ? win - ply : win; }

 private:
  // Fail-soft alpha-beta. The value is for the side to move; it is meaningless once the budget is spent.
  Value search(Colour to_move, int ply, Value alpha, Value beta, Variation& line) {
    line = {};
    if (!budget_.spend_node()) return 0;
    if (scores_.stones() == scores_.area()) return 0;
    if (ply == depth_) return evaluate(to_move);

    const std::uint64_t key = scores_.hash();
    const HashIndex::Entry* entry = index_.find(key);
    if (entry && (entry->bound == Bound::kExact || (entry->bound == Bound::kLower && entry->value >= beta) ||
                  (entry->bound == Bound::kUpper && entry->value <= alpha)))
      return entry->value;

    const PointList moves = best_neighbours(scores_, kConsidered);
    const Point own = best_for(to_move, moves);
    if (scores_.score(to_move, own) >= kFive) {
      line = {own};
      return claim(kWinByFive, ply);
    }
    const Point enemy = best_for(opponent(to_move), moves);
    const bool is_forced = scores_.score(opponent(to_move), enemy) >= kFive;
    if (!is_forced && scores_.score(to_move, own) >= kOpenFour) {
      line = {own};
      return claim(kWinByOpenFour, ply);
    }

    Value best = -kInfinite;
    Value bar = alpha;
    const int width = is_forced ? 1 : std::min(width_at(ply), moves.size());
    for (int i = 0; i < width && best < beta; ++i) {
      const Point move = is_forced ? enemy : moves[i];
      Variation rest;
      const Value value = after(move, to_move, ply, bar, beta, rest);
      if (budget_.is_spent()) return 0;
      if (value > best) {
        best = value;
        line = Variation(move, rest);
      }
      bar = std::max(bar, best);
    }
    index_.store(key, best, best >= beta ? Bound::kLower : best <= alpha ? Bound::kUpper : Bound::kExact);
    return best;
  }

  Value evaluate(Colour to_move) const {
    const Value value =
        kScoreUnit * scores_.stone_sum(agent_) - kEnemyWeight[to_move != agent_] * scores_.stone_sum(opponent(agent_));
    return to_move == agent_ ? value : -value;
  }

  // The move with the highest score for a colour; ties go to the first one. `moves` must not be empty.
  Point best_for(Colour colour, const PointList& moves) const {
    return *std::max_element(moves.begin(), moves.end(),
                             [&](Point a, Point b) { return scores_.score(colour, a) < scores_.score(colour, b); });
  }

  const Options& options_;
  PointScores& scores_;
  HashIndex& index_;
  Budget& budget_;
  Colour agent_;
  int depth_;
};

struct RootMove {
  Value value = 0;
  Variation line;  // begins with the move

  Point move() const { return *line.begin(); }
};

// The root of a search.
class Root {
 public:
  Root(const Options& options, HashIndex& index, const Board& board, const Limits& limits,
       const std::function<void(const Report&)>& on_report, const StopSignal* stop)
      : options_(options),
        index_(index),
        limits_(limits),
        on_report_(on_report),
        budget_(limits.time_ms, limits.nodes, stop),
        scores_(options.scores, board),
        agent_(board.to_move()) {}

  Report run() {
    if (scores_.stones() == 0) {
      const Geometry& geometry = scores_.geometry();
      return report({{0, {geometry.point(geometry.width() / 2, geometry.height() / 2)}}}, 0);
    }
    if (find_own_win()) return report(best_, 0);
    choose_moves();
    best_ = {{0, {moves_.front()}}};
    const int deepest = std::min(limits_.depth > 0 ? limits_.depth : kMaxPlies, scores_.area() - scores_.stones());
    int completed = 0;
    while (completed < deepest && search_depth(completed + 1)) {
      ++completed;
      if (on_report_) on_report_(report(best_, completed));
      if (std::abs(best_.front().value) >= kWinBound) break;
    }
    return report(best_, completed);
  }

 private:
  // Find a win that needs no tree: a five, a checkmate or an open four.
  bool find_own_win() {
    const PointList fives = points_worth(scores_, agent_, kFive);
    if (!fives.empty()) {
      win_plies_ = 1;
      best_ = {{kWinByFive, {fives[0]}}};
      return true;
    }
    if (options_.checkmate == CheckmateKind::kBothSides) {
      const Checkmate win = find_checkmate(scores_, agent_, kCheckmatePlies, kCheckmateNodes, budget_);
      if (win.plies > 0) {
        // If keys are missing, the search may overlook a defence, so the win is not proved.
        if (options_.scores.keys == Keys::kAll) win_plies_ = win.plies;
        best_ = {{kWinByFive, win.line}};
        return true;
      }
    } else if (options_.checkmate == CheckmateKind::kAuthors) {
      const Point move = find_authors_checkmate(scores_, agent_, kAuthorsCheckmateDepth, kCheckmateNodes, budget_);
      if (move != kNoPoint) {
        best_ = {{kWinByFive, {move}}};
        return true;
      }
    }
    if (!points_worth(scores_, opponent(agent_), kFive).empty()) return false;
    const PointList open_fours = points_worth(scores_, agent_, kOpenFour);
    if (!open_fours.empty()) best_ = {{kWinByOpenFour, {open_fours[0]}}};
    return !open_fours.empty();
  }

  // Choose the root moves and the order in which they are tried.
  void choose_moves() {
    const PointList enemy_fives = points_worth(scores_, opponent(agent_), kFive);
    if (!enemy_fives.empty()) {
      moves_ = {enemy_fives[0]};
      return;
    }
    const PointList considered = best_neighbours(scores_, kConsidered);
    const std::size_t width = static_cast<std::size_t>(std::min(kWidths[0], considered.size()));
    if (options_.checkmate == CheckmateKind::kBothSides && enemy_wins(kCheckmateNodes))
      for (const Point move : considered) {
        if (moves_.size() == width) break;
        scores_.place(move, agent_);
        const bool escapes = !enemy_wins(kEscapeNodes);
        scores_.remove(move);
        if (budget_.is_spent()) break;
        if (escapes) moves_.push_back(move);
      }
    if (moves_.empty()) moves_.assign(considered.begin(), considered.begin() + width);
  }

  // Whether the enemy, if it were to move, would have a checkmate.
  bool enemy_wins(std::uint64_t max_nodes) {
    return find_checkmate(scores_, opponent(agent_), kCheckmatePlies, max_nodes, budget_).plies > 0;
  }

  // Search all root moves to the given depth. Returns false if the budget runs out first. The partial result
  // is then used only if it includes the best move so far.
  bool search_depth(int depth) {
    Tree tree(options_, scores_, index_, budget_, agent_, depth);
    const auto lines = static_cast<std::size_t>(std::max(1, limits_.lines));
    std::vector<RootMove> found;
    for (const Point move : moves_) {
      const Value bar = found.size() < lines ? -kInfinite : found[lines - 1].value;
      Variation rest;
      const Value value = tree.after(move, agent_, 0, bar, kInfinite, rest);
      if (budget_.is_spent()) break;
      const RootMove next{value, Variation(move, rest)};
      // Insert after moves with the same value, so that the first of equal moves is played.
      const auto place = std::upper_bound(found.begin(), found.end(), next,
                                          [](const RootMove& a, const RootMove& b) { return a.value > b.value; });
      found.insert(place, next);
    }
    const bool is_complete = found.size() == moves_.size();
    const auto has_best = [&](const RootMove& each) { return each.move() == best_.front().move(); };
    if (is_complete || std::any_of(found.begin(), found.end(), has_best)) best_ = std::move(found);
    return is_complete;
  }

  Report report(const std::vector<RootMove>& moves, int depth) const {
    Report report;
    report.depth = depth;
    report.nodes = budget_.nodes();
    report.elapsed_ms = budget_.elapsed_ms();
    report.win_plies = win_plies_;
    const std::size_t lines = std::min(moves.size(), static_cast<std::size_t>(std::max(1, limits_.lines)));
    for (std::size_t i = 0; i < lines; ++i)
      report.lines.push_back({moves[i].value, {moves[i].line.begin(), moves[i].line.end()}});
    return report;
  }

  const Options& options_;
  HashIndex& index_;
  const Limits& limits_;
  const std::function<void(const Report&)>& on_report_;
  Budget budget_;
  PointScores scores_;
  Colour agent_;
  std::vector<Point> moves_;
  std::vector<RootMove> best_;
  int win_plies_ = 0;
};

}  // namespace

Search::Search(const Options& options) : options_(options), index_(options.hash_index) {}

Report Search::search(const Board& board, const Limits& limits, const std::function<void(const Report&)>& on_report,
                      const StopSignal* stop) {
  return Root(options_, index_, board, limits, on_report, stop).run();
}

}  // namespace tengen::fudan
