#include "search/alphabeta/engine.h"

#include <algorithm>
#include <thread>

#include "core/assert.h"
#include "search/alphabeta/clock.h"
#include "search/alphabeta/move_picker.h"
#include "search/solvers/four_solver.h"

namespace tengen {
namespace {

// The root moves to search: a five if there is one, else the answers to a threat, else the candidates. Falls back to
// a larger set if none of these moves is legal or all of them are excluded.
std::vector<Point> root_moves(const PatternBoard& board, const std::vector<Point>& excluded) {
  const Colour own = board.to_move();
  const Pressure pressure = pressure_on(board);
  const auto legal = [&](const PointSet& set) {
    std::vector<Point> moves;
    set.for_each([&](Point p) {
      if (board.is_empty(p) && board.is_legal(own, p) && std::ranges::find(excluded, p) == excluded.end())
        moves.push_back(p);
    });
    return moves;
  };
  std::vector<Point> moves = legal(board.fives(own));
  if (moves.empty() && pressure != Pressure::kNone) moves = legal(forced_moves(board, pressure));
  if (moves.empty()) moves = legal(board.candidates());
  if (moves.empty()) {
    PointSet all;
    for (Point p = 0; p < board.rules().area(); ++p) all.add(p);
    moves = legal(all);
  }
  return moves;
}

// Look for a win by continuous fours at the root. If there is one, no search is needed.
bool find_root_fours(const Board& board, const SharedSearch& shared, SearchReport& report) {
  const SearchLimits& limits = shared.limits;
  PatternBoard patterns(board, shared.weights->points);
  FourSolver solver;
  const std::uint64_t nodes =
      limits.nodes ? std::min(kRootFourNodes, limits.nodes / kRootFourShare + 1) : kRootFourNodes;
  const auto should_stop = [&shared] { return shared.is_over(); };
  if (solver.solve(patterns, nodes, should_stop) != Verdict::kWin) return false;
  const std::vector<Point>& line = solver.line();
  if (std::ranges::find(limits.excluded, line.front()) != limits.excluded.end()) return false;
  const int plies = solver.plies();
  report.nodes = solver.nodes();
  report.depth = plies;
  report.lines = {{win_in(plies), plies, plies, line}};
  return true;
}

// Helper threads. They search until end() is called or the object goes out of scope.
class HelperThreads {
 public:
  explicit HelperThreads(SharedSearch& shared) : shared_(shared) {}
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;
  ~HelperThreads() { end(); }

  template <typename Work>
  void begin(Work work) {
    threads_.emplace_back(work);
  }
  void end() {
    shared_.stop.store(true);
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  SharedSearch& shared_;
  std::vector<std::thread> threads_;
};

SearchReport make_report(const Worker& worker, std::size_t lines, std::uint64_t nodes, std::int64_t elapsed_ms) {
  return {worker.best_lines(lines), worker.completed_depth(), nodes, elapsed_ms};
}

Iteration iteration_of(const Worker& worker, int depth, std::int64_t elapsed_ms) {
  return {depth, elapsed_ms, worker.roots.front().move, worker.best_value(), worker.has_only_move()};
}

}  // namespace

Engine::Engine(std::size_t table_bytes) : table_(table_bytes), weights_(Weights::prior()) {}

SearchReport Engine::search(const Board& board, const SearchLimits& limits,
                            const std::function<void(const SearchReport&)>& on_report, const StopSignal* stop) {
  TENGEN_ASSERT(!board.is_over());
  SharedSearch shared;
  shared.table = &table_;
  shared.weights = &weights_;
  shared.options = options_;
  MoveClock clock({limits.time_ms, limits.clock_ms, limits.increment_ms}, board.stones(), board.rules().area(),
                  options_.has(kClock));
  shared.limits = limits;
  shared.limits.time_ms = clock.hard_ms();
  shared.start = std::chrono::steady_clock::now();
  shared.external_stop = stop;
  table_.new_search();

  SearchReport fours;
  if (options_.has(kRootFours) && limits.lines <= 1 && find_root_fours(board, shared, fours)) {
    fours.elapsed_ms = shared.elapsed_ms();
    if (on_report) on_report(fours);
    return fours;
  }

  Worker main(shared, board);
  for (const Point move : root_moves(main.board(), limits.excluded))
    main.roots.push_back({.move = move, .line = {move}});
  if (main.roots.empty()) return {};
  main.sort_roots();

  const std::size_t lines =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1, limits.lines)), 1, main.roots.size());
  const bool forced = main.roots.size() == 1;
  if (forced) {
    clock.set_single_move();
    shared.limits.time_ms = clock.hard_ms();
    if (limits.nodes > 0) shared.limits.nodes = limits.nodes / kForcedShare + 1;
  }
  const int max_depth = limits.depth > 0 ? std::min(limits.depth, kMaxPly / 2) : kMaxPly / 2;

  std::vector<std::unique_ptr<Worker>> helpers;
  HelperThreads threads(shared);
  for (int i = 1; i < limits.threads && !forced; ++i) {
    helpers.push_back(std::make_unique<Worker>(shared, board));
    helpers.back()->roots = main.roots;
  }
  for (std::size_t i = 0; i < helpers.size(); ++i) {
    threads.begin([&, i] {
      Worker& worker = *helpers[i];
      // Half of the helpers start one ply deeper, so that the threads do not all search the same tree.
      for (int depth = 1 + static_cast<int>(i % 2 == 0); depth <= max_depth && !shared.stop.load(); ++depth)
        if (!worker.deepen(depth, 1)) break;
    });
  }
  const auto all_nodes = [&] {
    std::uint64_t total = main.nodes.load();
    for (const auto& helper : helpers) total += helper->nodes.load();
    return total;
  };

  bool is_proving = false;
  for (int depth = 1; depth <= max_depth; ++depth) {
    if (!main.deepen(depth, lines)) break;
    if (on_report) on_report(make_report(main, lines, all_nodes(), shared.elapsed_ms()));
    const Value value = main.best_value();
    // Stop once all lines are decided. A loss is searched a little deeper, to find a longer defence.
    const bool decided = std::all_of(main.roots.begin(), main.roots.begin() + static_cast<std::ptrdiff_t>(lines),
                                     [](const RootMove& root) { return is_decided(root.value); });
    if (decided && (is_win(value) || depth >= kExtraLossDepth + plies_to_end(value))) {
      if (is_proved(value) || lines > 1 || is_proving) break;
      // The result is expected but not proved: repeat the iteration with all defences.
      is_proving = true;
      threads.end();
      shared.stop.store(false);
      const std::uint64_t budget = kProofShare * all_nodes() + kProofNodes;
      shared.limits.nodes = shared.limits.nodes > 0 ? std::min(shared.limits.nodes, budget) : budget;
      main.begin_proof();
      --depth;
    }
    if (clock.is_enough(iteration_of(main, depth, shared.elapsed_ms()))) break;
  }
  threads.end();

  // Prefer the result of a helper that has searched deeper or has proved a shorter win.
  const Worker* best = &main;
  for (const auto& helper : helpers) {
    if (lines > 1 || helper->completed_depth() == 0) continue;
    const bool wins_sooner = is_win(helper->best_value()) && helper->best_value() > best->best_value();
    const bool deeper = helper->completed_depth() > best->completed_depth() && !is_win(best->best_value());
    if (wins_sooner || deeper) best = helper.get();
  }
  return make_report(*best, lines, all_nodes(), shared.elapsed_ms());
}

}  // namespace tengen
