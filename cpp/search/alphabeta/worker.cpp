#include "search/alphabeta/worker.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/assert.h"
#include "patterns/defence.h"
#include "patterns/legality.h"
#include "search/alphabeta/move_picker.h"

namespace tengen {
namespace {

// Natural logarithms in thousandths. They are integers, so that the search is identical on every machine.
struct Logarithms {
  std::array<int, 256> table{};
  Logarithms() noexcept {
    for (int i = 1; i < 256; ++i) table[i] = static_cast<int>(std::lround(1000 * std::log(i)));
  }
};
const Logarithms kLogarithms;

int distance(const Geometry& geometry, Point a, Point b) {
  if (a == kNoPoint || b == kNoPoint) return kMaxSize;
  return std::max(std::abs(geometry.x(a) - geometry.x(b)), std::abs(geometry.y(a) - geometry.y(b)));
}

// Depths under which search_fours stores its results: it tries all nearby fours or, in a long chain, only some of them.
constexpr int kAllFours = 0;
constexpr int kFewFours = -1;

// Number of nodes between limit checks: few enough to react within milliseconds, but enough to make the cost of the
// checks negligible.
constexpr std::uint32_t kNodesBetweenChecks = 512;

}  // namespace

Worker::Worker(SharedSearch& shared, const Board& board)
    : shared_(shared),
      options_(shared.options),
      parameters_(shared.options.parameters),
      weights_(*shared.weights),
      table_(*shared.table),
      board_(board, shared.weights->points, options_.has(kNetwork) ? shared.weights->features() : nullptr),
      frames_(kMaxPly + 8) {
  history_.clear();
  for (int depth = 0; depth < static_cast<int>(move_counts_.size()); ++depth)
    move_counts_[depth] =
        parameters_.move_count_base / 100 + static_cast<int>(std::pow(depth, parameters_.move_count_power / 100.0));
}

Depth Worker::base_reduction(Depth depth, int number) const {
  const std::int64_t logs =
      std::int64_t{kLogarithms.table[std::min(depth / kPly, 63)]} * kLogarithms.table[std::min(number, 255)];
  return static_cast<Depth>(parameters_.reduction_scale * logs / 1'000'000);
}

int Worker::move_count_limit(Depth depth, bool improving) const {
  const int limit = move_counts_[std::clamp(depth / kPly, 0, 63)];
  return improving ? limit : limit / 2;
}

bool Worker::should_stop() {
  if (shared_.stop.load(std::memory_order_relaxed)) return true;
  if (until_check_-- > 0) return false;
  until_check_ = kNodesBetweenChecks;
  const std::uint64_t own_nodes = nodes.load(std::memory_order_relaxed);
  const std::uint64_t uncounted = own_nodes - counted_nodes_;
  const std::uint64_t done = shared_.nodes.fetch_add(uncounted, std::memory_order_relaxed) + uncounted;
  counted_nodes_ = own_nodes;
  if (const std::uint64_t limit = shared_.limits.nodes) {
    // With one thread, the search must end at exactly the same node every time.
    if (done >= limit) shared_.stop.store(true);
    until_check_ =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kNodesBetweenChecks, limit > done ? limit - done : 0));
  }
  if (shared_.is_over()) shared_.stop.store(true);
  return shared_.stop.load(std::memory_order_relaxed);
}

void Worker::sort_roots() {
  const Colour own = board_.to_move();
  const Colour other = opponent(own);
  const auto score = [&](const RootMove& root) {
    return weights_.attack[own][board_.code(own, root.move)] + weights_.defence[own][board_.code(other, root.move)];
  };
  std::stable_sort(roots.begin(), roots.end(),
                   [&](const RootMove& a, const RootMove& b) { return score(a) > score(b); });
}

void Worker::make(int ply, Point move) {
  TENGEN_ASSERT(board_.is_empty(move) && board_.is_legal(board_.to_move(), move));
  Frame& frame = frames_[ply];
  frame.move = move;
  frame.own_threat = board_.threat(board_.to_move(), move);
  board_.make(move);
}

void Worker::set_line(int ply, Point move) {
  Frame& frame = frames_[ply];
  const Frame& child = frames_[ply + 1];
  frame.line[0] = move;
  std::copy(child.line, child.line + child.line_length, frame.line + 1);
  frame.line_length = child.line_length + 1;
}

// Whether a four-three wins: the opponent answers the four, then the open three becomes an open four. This fails only
// if the answer to the four is itself a four.
bool Worker::four_three_wins(Colour own) const {
  const Colour other = opponent(own);
  const Geometry& geometry = board_.geometry();
  bool wins = false;
  board_.fours(own).for_each([&](Point p) {
    if (wins || board_.threat(own, p) != threat::kFourThree) return;
    bool answered = false;
    for (int d = 0; d < kDirections && !answered; ++d) {
      if (board_.shape(own, d, p) != shape::kFour) continue;
      const LinePlace place = geometry.place(d, p);
      const std::uint64_t line = board_.board().line(d, place.line);
      for (int i = -4; i <= 4 && !answered; ++i) {
        if (i == 0 || cell_in_line(line, place.offset + i) != kEmpty) continue;
        const auto answer = static_cast<Point>(p + i * geometry.step(d));
        // The answer is the point that completes the five. Before p is played, that point makes a four as well.
        if (board_.shape(own, d, answer) < shape::kFour) continue;
        answered = board_.threat(other, answer) >= threat::kFour ||
                   (other == kBlack && board_.threat(other, answer) == threat::kForbidden);
      }
    }
    wins = !answered;
  });
  return wins;
}

// Whether `colour` has a doubtful point that may be a legal four.
bool Worker::has_doubtful_four(Colour colour) const {
  bool has = false;
  if (colour == kBlack) board_.doubtful().for_each([&](Point p) { has |= board_.makes_four(kBlack, p); });
  return has;
}

// The value of a win or loss that the threat counts prove without a search, or 0.
Value Worker::static_win(int ply) const {
  const Colour own = board_.to_move();
  const Colour other = opponent(own);
  if (board_.count(own, threat::kFive)) return win_in(ply + 1);
  const int enemy_fives = board_.count(other, threat::kFive);
  if (enemy_fives >= 2 && five_defences(board_, other).empty()) return loss_in(ply + 2);
  if (enemy_fives) return 0;
  if (board_.count(own, threat::kOpenFour)) return win_in(ply + 3);

  // In renju, one of black's threes may be false, because its open four is a foul. Only the search can decide.
  const bool threes_are_sure = board_.rules().rule != Rule::kRenju || own == kWhite;
  if (!options_.has(kStaticWins) || !threes_are_sure) return 0;
  const bool one_answer = !lines_can_be_closed(board_.rules());
  if (one_answer && board_.count(own, threat::kFourThree) && four_three_wins(own)) return win_in(ply + 5);
  if (board_.count(own, threat::kDoubleThree) && board_.fours(other).empty() && !has_doubtful_four(other))
    return win_in(ply + 5);
  return 0;
}

bool Worker::answers(const TableEntry& entry, int depth) const {
  if (entry.value == kNoValue || (is_proving_ && is_expected(entry.value))) return false;
  if (entry.depth >= depth) return true;
  // A win that is a lower bound and a loss that is an upper bound hold at any depth.
  return (is_win(entry.value) && (entry.bound & kLower)) || (is_loss(entry.value) && (entry.bound & kUpper));
}

bool Worker::has_all_roots() const {
  if (!shared_.limits.excluded.empty()) return false;
  const Pressure pressure = pressure_on(board_);
  if (pressure == Pressure::kFour || (pressure == Pressure::kOpenThree && options_.has(kDefenceSets))) return true;
  return is_proving_ || roots.size() == static_cast<std::size_t>(board_.board().empties());
}

void Worker::begin_proof() {
  const bool is_complete = has_all_roots();
  is_proving_ = true;
  if (is_complete || !shared_.limits.excluded.empty()) return;
  const Colour own = board_.to_move();
  for (Point p = 0; p < board_.rules().area(); ++p) {
    const bool is_listed = std::ranges::find(roots, p, &RootMove::move) != roots.end();
    if (!is_listed && board_.is_empty(p) && board_.is_legal(own, p)) roots.push_back({.move = p, .line = {p}});
  }
}

bool Worker::deepen(int depth, std::size_t lines) {
  depth_ = depth;
  bool finished = true;
  for (std::size_t line = 0; line < lines && finished; ++line) {
    const RootMove& root = roots[line];
    finished = iterate(depth, line, root.value > -kInfinite ? root.value : root.previous);
  }
  // A later line can turn out to be better than an earlier one.
  std::stable_sort(roots.begin(), roots.begin() + static_cast<std::ptrdiff_t>(lines),
                   [](const RootMove& a, const RootMove& b) { return a.value > b.value; });
  if (finished) {
    completed_.clear();
    for (std::size_t i = 0; i < lines && roots[i].value > -kInfinite; ++i)
      completed_.push_back(line_of(roots[i], depth));
    // Later lines state only that their own move loses. The first one states that all moves do.
    if (!is_root_loss_proved_) completed_.front().value = expect_loss(completed_.front().value);
  }
  return finished;
}

bool Worker::has_better_move() const {
  return !completed_.empty() && roots.front().value > -kInfinite &&
         roots.front().move != completed_.front().moves.front();
}

Value Worker::best_value() const {
  if (!completed_.empty() && !has_better_move()) return completed_.front().value;
  return expect_loss(roots.front().value);  // the other moves were not searched
}

bool Worker::has_only_move() const {
  return !roots.front().is_lost &&
         std::all_of(roots.begin() + 1, roots.end(), [](const RootMove& root) { return root.is_lost; });
}

std::vector<SearchLine> Worker::best_lines(std::size_t lines) const {
  std::vector<SearchLine> best;
  const auto add = [&](SearchLine line) {
    const auto is_same = [&](const SearchLine& other) { return other.moves.front() == line.moves.front(); };
    if (best.size() >= lines || std::ranges::any_of(best, is_same)) return;
    // The value may be from an earlier depth, but the move is now known to be no better than the previous line.
    if (!best.empty()) line.value = std::min(line.value, best.back().value);
    best.push_back(std::move(line));
  };
  if (completed_.empty()) {
    for (const RootMove& root : roots) {
      SearchLine line = line_of(root, root.value > -kInfinite ? depth_ : 0);
      if (root.value == -kInfinite) line.value = evaluate(board_, weights_);
      add(std::move(line));
    }
    return best;
  }
  if (has_better_move()) {
    add(line_of(roots.front(), depth_));
    best.front().value = best_value();
  }
  for (const SearchLine& line : completed_) add(line);
  return best;
}

SearchLine Worker::line_of(const RootMove& root, int depth) const {
  SearchLine line{root.value, depth, root.reach, root.line};
  if (line.moves.empty()) line.moves.push_back(root.move);
  if (depth > 0) extend(line);
  line.reach = std::max(line.reach, static_cast<int>(line.moves.size()));
  return line;
}

// Continue a line that a cutoff or a table entry has shortened with the best moves in the table.
void Worker::extend(SearchLine& line) const {
  const auto longest = static_cast<std::size_t>(is_decided(line.value) ? plies_to_end(line.value) : line.depth);
  if (!options_.has(kTable) || line.moves.size() >= longest) return;
  Board board = board_.board();
  for (const Point move : line.moves) board.make(move);
  while (line.moves.size() < longest && !board.is_over()) {
    TableEntry entry;
    if (!table_.probe(board.hash(), 0, entry) || entry.move == kNoPoint) return;
    if (entry.move >= board.rules().area() || !is_legal(board, entry.move)) return;
    line.moves.push_back(entry.move);
    board.make(entry.move);
  }
}

bool Worker::iterate(int depth, std::size_t first, Value guess) {
  TENGEN_ASSERT(depth > 0 && depth < kMaxPly && first < roots.size());
  first_root_ = first;
  for (std::size_t i = first; i < roots.size(); ++i) {
    // For later lines at the same depth, `previous` already holds the values from the previous depth.
    if (first == 0) roots[i].previous = roots[i].value;
    roots[i].value = -kInfinite;
  }
  const bool narrow = options_.has(kAspiration) && depth >= kAspirationMinDepth && std::abs(guess) < kMateBound;
  Value delta = parameters_.aspiration;
  Value alpha = narrow ? guess - delta : -kInfinite;
  Value beta = narrow ? guess + delta : kInfinite;
  int fail_highs = 0;
  reach_ = 0;
  const auto better = [](const RootMove& a, const RootMove& b) {
    return a.value != b.value ? a.value > b.value : a.previous > b.previous;
  };
  while (true) {
    const Depth searched = std::max(kPly, (depth - fail_highs / kFailHighsPerPly) * kPly);
    const Value value = search<kRoot>(0, alpha, beta, searched, false);
    std::stable_sort(roots.begin() + static_cast<std::ptrdiff_t>(first), roots.end(), better);
    if (shared_.stop.load(std::memory_order_relaxed)) return false;
    if (value <= alpha && alpha > -kInfinite) {
      beta = (alpha + beta) / 2;
      alpha = std::max(value - delta, -kInfinite);
      fail_highs = 0;
    } else if (value >= beta && beta < kInfinite) {
      beta = std::min(value + delta, kInfinite);
      ++fail_highs;
    } else {
      break;
    }
    delta *= 2;
    if (std::abs(value) >= kMateBound || delta > kAspirationMaxDelta) {
      alpha = -kInfinite;
      beta = kInfinite;
    }
  }
  return true;
}

template <Worker::NodeType Type>
Value Worker::search(int ply, Value alpha, Value beta, Depth depth, bool cut_node) {
  constexpr bool kIsRoot = Type == kRoot;
  constexpr bool kIsPv = Type != kNonPv;

  TENGEN_ASSERT(-kInfinite <= alpha && alpha < beta && beta <= kInfinite);
  TENGEN_ASSERT(kIsPv || alpha == beta - 1);
  TENGEN_ASSERT(kIsRoot ? ply == 0 : 0 < ply && ply < kMaxPly);
  TENGEN_ASSERT(depth < 2 * kMaxPly * kPly);
  TENGEN_ASSERT(!(kIsPv && cut_node));

  // Step 1. Below depth zero, search only fours.
  if (depth <= 0) return search_fours<kIsPv>(ply, alpha, beta, 0);

  Frame& frame = frames_[ply];
  frame.line_length = 0;
  if (kIsPv) reach_ = std::max(reach_, ply);
  nodes.fetch_add(1, std::memory_order_relaxed);
  const Colour own = board_.to_move();
  const Colour other = opponent(own);
  const Point last_move = ply > 0 ? frames_[ply - 1].move : board_.board().last_move();

  if constexpr (!kIsRoot) {
    // Step 2. Check the limits, the end of the game and the size of the stack.
    if (should_stop()) return 0;
    if (board_.board().is_over()) return final_value(ply);
    if (ply >= kMaxPly - 2) return evaluate(board_, weights_);

    // Step 3. Static wins and losses.
    if (const Value value = static_win(ply); value != 0) return value;

    // Step 4. Mate distance pruning: a shorter win or loss is already known.
    alpha = std::max(alpha, loss_in(ply));
    beta = std::min(beta, win_in(ply + 1));
    if (alpha >= beta) return alpha;
  }

  // Step 5. Transposition table.
  const Point excluded = frame.excluded;
  // A search with an excluded move has its own table key, because its result is different.
  const std::uint64_t key = board_.hash() ^ (excluded == kNoPoint ? 0 : 0x9E3779B97F4A7C15ull * (excluded + 1u));
  TableEntry entry;
  const bool hit = options_.has(kTable) && table_.probe(key, ply, entry);
  const bool deep_enough = hit && answers(entry, depth / kPly);
  if (!kIsPv && deep_enough && (entry.bound & (entry.value >= beta ? kLower : kUpper))) {
    if (entry.move != kNoPoint && entry.value >= beta && !board_.count(other, threat::kFive) && options_.has(kHistory))
      history_.update(own, entry.move, kind_of(board_, entry.move),
                      parameters_.history_bonus * (depth / kPly) * (depth / kPly));
    return entry.value;
  }
  const Point table_move = kIsRoot && !roots.empty() ? roots[first_root_].move : hit ? entry.move : kNoPoint;
  const bool was_pv = kIsPv || (hit && entry.was_pv);

  // Step 6. Evaluation. Against a four it is meaningless, because the move is forced.
  const Pressure pressure = pressure_on(board_);
  bool improving = false;
  Value evaluation = kNoValue;
  if (pressure == Pressure::kFour) {
    frame.evaluation = ply > 0 && frames_[ply - 1].evaluation != kNoValue ? -frames_[ply - 1].evaluation : kNoValue;
  } else {
    if (excluded != kNoPoint && frame.evaluation != kNoValue) {
      evaluation = frame.evaluation;
    } else if (hit && entry.evaluation != kNoValue) {
      evaluation = entry.evaluation;
    } else {
      evaluation = evaluate(board_, weights_);
      // Store the evaluation for the next visit.
      if (!hit && options_.has(kTable)) table_.store(key, ply, {.evaluation = evaluation, .was_pv = was_pv});
    }
    frame.evaluation = evaluation;
    if (hit && entry.value != kNoValue && (entry.bound & (entry.value > evaluation ? kLower : kUpper)))
      evaluation = entry.value;
    improving = ply >= 2 && frames_[ply - 2].evaluation != kNoValue && frame.evaluation > frames_[ply - 2].evaluation;
  }

  if constexpr (!kIsPv) {
    if (pressure != Pressure::kFour && excluded == kNoPoint) {
      // Step 7. Razoring: the node is near the leaves and so far below alpha that only fours can help.
      if (options_.has(kRazoring) && depth < parameters_.razor_depth &&
          evaluation + parameters_.razor_base + parameters_.razor_slope * depth / kPly < alpha && !is_win(alpha))
        return search_fours<false>(ply, alpha, beta, 0);

      // Step 8. Futility: the evaluation is so far above beta that the remaining depth is not expected to change the
      // result. Not used within a chain of fours, where the evaluation is too optimistic.
      const bool chain_of_fours =
          ply >= 4 && frames_[ply - 2].own_threat >= threat::kFour && frames_[ply - 4].own_threat >= threat::kFour;
      if (options_.has(kFutility) && pressure == Pressure::kNone && !is_win(evaluation) && !is_loss(beta) &&
          evaluation - std::max(0, parameters_.futility_slope * (depth - kPly - improving * kPly) / kPly) >= beta &&
          !chain_of_fours)
        return evaluation;
    }
  }

  // Step 9. Depth adjustments. If the parent and the evaluation both expect a fail-high, a shallower search is enough
  // to show it.
  const bool likely_cut = options_.has(kFailHighReduction) && !kIsPv && cut_node && evaluation != kNoValue &&
                          evaluation >= beta + parameters_.likely_cut_base +
                                            parameters_.likely_cut_slope * depth / kPly +
                                            (pressure == Pressure::kOpenThree) * parameters_.likely_cut_three;

  // If the table entry of a PV node is shallower than this search, its move has not been the best for some time.
  if (kIsPv && !kIsRoot && hit && table_move != kNoPoint && depth > kPly && pressure != Pressure::kFour)
    depth -= std::clamp((depth - entry.depth * kPly) * parameters_.stale_share / 100, 0, parameters_.stale_limit);
  if (depth <= 0) return search_fours<kIsPv>(ply, alpha, beta, 0);

  // Step 10. Loop over the moves.
  MovePicker picker(board_, weights_, options_, history_, table_move, last_move);
  Value best_value = -kInfinite;
  Point best_move = kNoPoint;
  std::array<Point, 64> tried;
  int tried_count = 0;
  int number = 0;
  std::size_t next_root = first_root_;
  const Point counter = options_.has(kCounterMove) ? history_.counter(own, last_move) : kNoPoint;
  // Whether all moves that could prevent a loss are tried.
  bool has_all_moves =
      kIsRoot ? has_all_roots()
              : pressure == Pressure::kFour || (pressure == Pressure::kOpenThree && options_.has(kDefenceSets));

  bool all_proved = true;  // whether all moves so far are proved losses

  while (true) {
    Point move = kNoPoint;
    if constexpr (kIsRoot)
      move = next_root < roots.size() ? roots[next_root++].move : kNoPoint;
    else
      move = picker.next();
    if (move == kNoPoint) {
      if (kIsRoot || has_all_moves || !is_proving_ || !is_loss(best_value)) break;
      has_all_moves = true;
      if (!picker.add_rest()) break;
      continue;
    }
    if (move == excluded) continue;
    ++number;

    const Threat own_threat = board_.threat(own, move);
    const Threat other_threat = board_.threat(other, move);
    const bool patternless = own_threat == threat::kNone && other_threat == threat::kNone;

    // Step 11. Once a move that does not lose is known, prune late and patternless moves.
    if (!kIsRoot && options_.has(kMoveCountPruning) && !is_loss(best_value) && best_value > -kInfinite) {
      if (number >= move_count_limit(depth, improving)) break;
      if (patternless && depth < parameters_.patternless_depth) continue;
    }

    // Step 12. Extensions.
    Depth extension = 0;
    if (pressure == Pressure::kFour) {
      if (options_.has(kFourExtension)) extension = parameters_.four_extension;
    } else if (options_.has(kSingular) && !kIsRoot && move == table_move && excluded == kNoPoint &&
               depth >= parameters_.singular_depth && entry.value != kNoValue && std::abs(entry.value) < kMateBound &&
               (entry.bound & kLower) && entry.depth >= depth / kPly - kSingularTableSlack) {
      // The table move is singular if all other moves fail low against a bound below its value.
      const Value singular_beta =
          entry.value - (depth / kPly) * (was_pv && !kIsPv ? 2 : 1) * parameters_.singular_margin / 100;
      frame.excluded = move;
      const Value value = search<kNonPv>(ply, singular_beta - 1, singular_beta, depth / 2, cut_node);
      frame.excluded = kNoPoint;
      if (value < singular_beta)
        extension = !kIsPv && value < singular_beta - parameters_.double_singular_margin &&
                            frame.extensions < kMaxExtraExtension
                        ? 2 * kPly
                        : kPly;
      else if (singular_beta >= beta)
        return singular_beta;  // another move fails high as well: cut off
      else if (entry.value >= beta)
        extension = -kPly;
    } else if (options_.has(kSingular) && move == table_move && hit) {
      extension = kIsPv ? parameters_.table_move_extension_pv : parameters_.table_move_extension;
    }
    if (likely_cut) {
      if (own_threat < threat::kFour)
        extension -= kPly;
      else if (ply >= 2 && frames_[ply - 2].own_threat >= threat::kFour)
        extension += kPly;
    }
    const Depth new_depth = depth - kPly + extension;
    frames_[ply + 1].extensions = frame.extensions + std::max(0, extension - kPly);

    // Step 13. Make the move.
    make(ply, move);
    table_.prefetch(board_.hash());

    // Step 14. Search late moves at reduced depth, and again at full depth if they raise alpha.
    Value value = -kInfinite;
    bool full_window = kIsPv && number == 1;
    if (!full_window) {
      Depth reduced = new_depth;
      if (options_.has(kReductions) && depth >= kMinReductionDepth && number > 1 + kIsRoot &&
          pressure != Pressure::kFour) {
        Depth reduction = base_reduction(depth, number);
        const int own_distance = ply >= 2 ? distance(board_.geometry(), move, frames_[ply - 2].move) : 0;
        const int other_distance = distance(board_.geometry(), move, last_move);
        const bool important = own_threat >= threat::kDoubleTwo || other_threat >= threat::kThree ||
                               own_threat == threat::kForbidden;  // legal: it only looks like a foul
        if (!improving && reduction > kPly) reduction += parameters_.reduce_not_improving;
        if (was_pv) reduction -= parameters_.reduce_was_pv;
        if (cut_node && move != counter) reduction += parameters_.reduce_cut_node;
        if (patternless) reduction += parameters_.reduce_patternless;
        if (patternless && own_distance > kFarDistance && other_distance > kFarDistance)
          reduction += parameters_.reduce_far;
        if (important) reduction -= parameters_.reduce_important;
        // A distant answer to an open three only delays the loss.
        if (pressure == Pressure::kOpenThree && other_threat < threat::kFour && other_distance > kFarDistance)
          reduction += parameters_.reduce_far_answer;
        // Keep an attack going: the mover's previous move made a three or better, and so does this one.
        if (pressure == Pressure::kNone && ply >= 2 && frames_[ply - 2].own_threat >= threat::kThree &&
            own_threat >= threat::kThree)
          reduction -= parameters_.reduce_attack;
        if (options_.has(kHistory))
          reduction -= history_.score(own, move) * parameters_.reduce_history / History::kLimit;
        reduced = std::clamp(new_depth - reduction, std::min(kPly, new_depth), new_depth + kPly);
      }
      value = -search<kNonPv>(ply + 1, -alpha - 1, -alpha, reduced, true);
      if (value > alpha && reduced < new_depth) {
        Depth again = new_depth;
        if (value > alpha + parameters_.deeper_base + parameters_.deeper_slope * (new_depth - reduced) / kPly)
          again += kPly;
        if (value < best_value + new_depth / kPly) again -= kPly;
        if (again > reduced) value = -search<kNonPv>(ply + 1, -alpha - 1, -alpha, again, !cut_node);
      }
      full_window = kIsPv && value > alpha && (kIsRoot || value < beta);
    }
    if (full_window) value = -search<kPv>(ply + 1, -beta, -alpha, new_depth, false);
    unmake();
    if (shared_.stop.load(std::memory_order_relaxed)) return 0;

    // Step 15. Update the best move.
    all_proved &= is_proved(value);
    if constexpr (kIsRoot) {
      RootMove& root = roots[next_root - 1];
      root.is_lost = is_loss(value);
      if (number == 1 || value > alpha) {
        root.value = value;
        root.reach = reach_;
        root.line.assign(1, move);
        const Frame& child = frames_[1];
        root.line.insert(root.line.end(), child.line, child.line + child.line_length);
      } else {
        root.value = -kInfinite;
      }
    }
    if (value > best_value) {
      best_value = value;
      if (value > alpha) {
        best_move = move;
        if (kIsPv && !kIsRoot) set_line(ply, move);
        if (value >= beta) break;
        alpha = value;
        // The remaining moves only have to be refuted; a shallower search is enough for that.
        if (kIsPv && depth > kAlphaRaisedMinDepth && depth < kAlphaRaisedMaxDepth &&
            std::abs(value) < kAlphaRaisedMaxValue)
          depth -= kPly;
      }
    }
    if (move != best_move && tried_count < static_cast<int>(tried.size())) tried[tried_count++] = move;
  }

  if (!has_all_moves && (number == 0 || is_loss(best_value))) {
    has_all_moves = board_.candidates().size() == board_.board().empties();
  }
  if (!has_all_moves || !all_proved) best_value = expect_loss(best_value);
  if (kIsRoot && first_root_ == 0) is_root_loss_proved_ = has_all_moves && all_proved;

  // Step 16. No legal move: a loss under pressure and for black in renju, otherwise a draw.
  if (number == 0) {
    if (excluded != kNoPoint) return alpha;
    if (pressure == Pressure::kFour) return loss_in(ply + 2);
    if (pressure == Pressure::kOpenThree) return loss_in(ply + 4);
    if (board_.rules().rule != Rule::kRenju || own == kWhite) return kDraw;
    return has_all_moves ? loss_in(ply) : expect_loss(loss_in(ply));
  }

  // Step 17. Update the history and the table.
  if (best_move != kNoPoint && pressure != Pressure::kFour)
    reward(depth, best_move, tried.data(), tried_count, last_move);
  const bool all_moves = excluded == kNoPoint && (!kIsRoot || (first_root_ == 0 && shared_.limits.excluded.empty()));
  if (all_moves && options_.has(kTable)) {
    const Bound bound = best_value >= beta ? kLower : kIsPv && best_move != kNoPoint ? kExact : kUpper;
    table_.store(key, ply, {best_value, frame.evaluation, best_move, depth / kPly, bound, was_pv});
  }
  TENGEN_ASSERT(-kInfinite < best_value && best_value < kInfinite);
  return best_value;
}

void Worker::reward(Depth depth, Point best, const Point* tried, int count, Point last_move) {
  const Colour own = board_.to_move();
  if (options_.has(kCounterMove)) history_.set_counter(own, last_move, best);
  if (!options_.has(kHistory)) return;
  const int plies = depth / kPly;
  const int bonus = std::min(kMaxHistoryBonus, parameters_.history_bonus * plies * plies);
  history_.update(own, best, kind_of(board_, best), bonus);
  for (int i = 0; i < count; ++i) history_.update(own, tried[i], kind_of(board_, tried[i]), -bonus);
}

// List the fours that search_fours tries, best first: those near the mover's last stone, because the others were
// already possible before it was played. In a long chain, fours that create no further threat are skipped. Returns the
// number of fours.
int Worker::list_fours(int ply, int chain, std::array<ScoredFour, kMaxArea>& fours) const {
  const Colour own = board_.to_move();
  const Colour other = opponent(own);
  int count = 0;
  const auto add = [&](Point p) {
    if (chain >= kLongFourChain && board_.threat(own, p) == threat::kFour) return;
    fours[count++] = {weights_.attack[own][board_.code(own, p)] + weights_.defence[own][board_.code(other, p)], p};
  };
  const Point last_own = ply >= 2 ? frames_[ply - 2].move : kNoPoint;
  PointSet near = board_.fours(own);
  if (last_own != kNoPoint) near &= board_.neighbourhood(last_own);
  near.for_each(add);
  if (own == kBlack) {
    board_.doubtful().for_each([&](Point p) {
      if (board_.makes_four(kBlack, p)) add(p);
    });
  }
  std::sort(fours.begin(), fours.begin() + count, [](const ScoredFour& a, const ScoredFour& b) {
    return a.score != b.score ? a.score > b.score : a.move < b.move;
  });
  return count;
}

// Step 3 of search_fours: the opponent has made a four. The answers are forced (there is only one, except in caro), so
// they do not count towards the chain.
template <bool IsPv>
Value Worker::answer_four(int ply, Value alpha, Value beta, int chain) {
  const Colour own = board_.to_move();
  Value best_value = loss_in(ply + 2);
  bool all_proved = true;
  five_defences(board_, opponent(own)).for_each([&](Point answer) {
    if (best_value >= beta || !board_.is_legal(own, answer)) return;
    make(ply, answer);
    const Value value = -search_fours<IsPv>(ply + 1, -beta, -std::max(alpha, best_value), chain);
    unmake();
    all_proved &= is_proved(value);
    if (value <= best_value) return;
    best_value = value;
    if (IsPv && value > alpha) set_line(ply, answer);
  });
  return all_proved ? best_value : expect_loss(best_value);
}

// The quiescence search below depth zero. The side to move may stand pat (accept the evaluation) or make a four.
template <bool IsPv>
Value Worker::search_fours(int ply, Value alpha, Value beta, int chain) {
  TENGEN_ASSERT(-kInfinite <= alpha && alpha < beta && beta <= kInfinite);
  TENGEN_ASSERT(IsPv || alpha == beta - 1);
  TENGEN_ASSERT(0 < ply && ply < kMaxPly && chain >= 0);
  Frame& frame = frames_[ply];
  frame.line_length = 0;
  if (IsPv) reach_ = std::max(reach_, ply);
  nodes.fetch_add(1, std::memory_order_relaxed);

  // Step 1. Check the limits, the end of the game and the size of the stack.
  if (should_stop()) return 0;
  if (board_.board().is_over()) return final_value(ply);
  if (ply >= kMaxPly - 2) return evaluate(board_, weights_);

  // Step 2. Static wins and losses.
  if (const Value value = static_win(ply); value != 0) return value;

  // Step 3. Answer the opponent's four.
  if (board_.count(opponent(board_.to_move()), threat::kFive)) return answer_four<IsPv>(ply, alpha, beta, chain);

  // Step 4. Transposition table.
  TableEntry entry;
  const bool hit = options_.has(kTable) && table_.probe(board_.hash(), ply, entry);
  const int searched = chain >= kLongFourChain ? kFewFours : kAllFours;
  if (!IsPv && hit && answers(entry, searched) && (entry.bound & (entry.value >= beta ? kLower : kUpper)))
    return entry.value;

  // Step 5. Evaluation: the stand-pat value.
  const Value evaluation = hit && entry.evaluation != kNoValue ? entry.evaluation : evaluate(board_, weights_);
  frame.evaluation = evaluation;
  Value best_value = evaluation;
  if (!options_.has(kLeafFours)) return best_value;
  if (options_.max_four_depth > 0 && chain >= options_.max_four_depth) return best_value;

  // Step 6. Loop over the fours, unless the stand-pat value already fails high.
  Point best_move = kNoPoint;
  const Value old_alpha = alpha;
  if (best_value < beta) {
    alpha = std::max(alpha, best_value);
    std::array<ScoredFour, kMaxArea> fours;
    const int count = list_fours(ply, chain, fours);
    for (int i = 0; i < count; ++i) {
      const Point move = fours[i].move;
      if (!board_.is_legal(board_.to_move(), move)) continue;
      make(ply, move);
      const Value value = -search_fours<IsPv>(ply + 1, -beta, -alpha, chain + 1);
      unmake();
      if (shared_.stop.load(std::memory_order_relaxed)) return 0;
      if (value > best_value) {
        best_value = value;
        if (value > alpha) {
          best_move = move;
          if (IsPv) set_line(ply, move);
          if (value >= beta) break;
          alpha = value;
        }
      }
    }
  }

  // Step 7. Update the table.
  if (options_.has(kTable)) {
    const Bound bound = best_value >= beta ? kLower : IsPv && best_value > old_alpha ? kExact : kUpper;
    table_.store(board_.hash(), ply, {best_value, evaluation, best_move, searched, bound, IsPv});
  }
  return best_value;
}

template Value Worker::search<Worker::kRoot>(int, Value, Value, Depth, bool);
template Value Worker::search<Worker::kPv>(int, Value, Value, Depth, bool);
template Value Worker::search<Worker::kNonPv>(int, Value, Value, Depth, bool);

}  // namespace tengen
