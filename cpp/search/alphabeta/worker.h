// One thread of the alpha-beta search, with its own board, stack and history.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "eval/weights.h"
#include "search/alphabeta/history.h"
#include "search/alphabeta/options.h"
#include "search/alphabeta/transposition.h"
#include "search/alphabeta/value.h"
#include "search/stop_signal.h"

namespace tengen {

// State shared by the threads of one search. Engine::search owns it; it outlives the workers.
struct SharedSearch {
  TranspositionTable* table = nullptr;
  const Weights* weights = nullptr;
  SearchOptions options;
  SearchLimits limits;
  std::chrono::steady_clock::time_point start;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> nodes{0};        // across all threads; each thread adds its count every few hundred nodes
  const StopSignal* external_stop = nullptr;  // set by the caller to end the search

  std::int64_t elapsed_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
  }
  // Whether the time is up or the caller has requested a stop.
  bool is_over() const {
    return (limits.time_ms >= 0 && elapsed_ms() >= limits.time_ms) || (external_stop && external_stop->is_set());
  }
};

// A move at the root with its value and expected continuation.
struct SearchLine {
  Value value = 0;
  int depth = 0;             // of the iteration that found the value; 0 if the move was not searched
  int reach = 0;             // longest line in plies that this iteration searched with an open window
  std::vector<Point> moves;  // never empty
};

// A root move. Engine::search sets `move` and a line with this one move; iterate sets the rest.
struct RootMove {
  Point move = kNoPoint;
  Value value = -kInfinite;     // in this iteration; -kInfinite if the move did not raise alpha
  Value previous = -kInfinite;  // in the previous iteration
  bool is_lost = false;         // whether its last search found that the move loses
  int reach = 0;
  std::vector<Point> line;  // begins with `move`
};

class Worker {
 public:
  Worker(SharedSearch& shared, const Board& board);

  // Search the `lines` best roots to `depth` plies. Returns false if the search was stopped.
  bool deepen(int depth, std::size_t lines);

  // The `lines` best moves, best first, from the last completed iteration. If a later iteration was stopped after it
  // had found a better move, that move comes first. Before the first completed iteration, the order is that of `roots`.
  std::vector<SearchLine> best_lines(std::size_t lines) const;
  Value best_value() const;
  // Whether the last completed iteration found that all moves but the best one lose.
  bool has_only_move() const;

  // From now on, try every legal move before a position counts as lost, so that wins and losses are proved. Also adds
  // the missing moves to the roots.
  void begin_proof();

  // Sort the roots in MovePicker's order.
  void sort_roots();

  std::vector<RootMove> roots;
  std::atomic<std::uint64_t> nodes{0};

  int completed_depth() const { return completed_.empty() ? 0 : completed_.front().depth; }
  const PatternBoard& board() const { return board_; }

 private:
  // Search roots[first…] to `depth` plies and sort them, best first. `guess` is the expected value, the centre of the
  // aspiration window. Returns false if the search was stopped; the roots then hold the best results so far.
  bool iterate(int depth, std::size_t first, Value guess);
  // Whether an iteration that was stopped found a better move than the last completed iteration.
  bool has_better_move() const;
  SearchLine line_of(const RootMove& root, int depth) const;
  void extend(SearchLine& line) const;
  // Whether a result in the table answers a search of `depth` plies. While proving, expected results do not.
  bool answers(const TableEntry& entry, int depth) const;
  // Whether the roots are all moves that could prevent a loss.
  bool has_all_roots() const;

  // State of the node at one ply of the current line. Descendants read the frames of their ancestors.
  struct Frame {
    Point move = kNoPoint;              // the move being searched
    Point excluded = kNoPoint;          // the move excluded by a singular search of this node
    Value evaluation = kNoValue;        // for the side to move; against a four, the negated value of the parent
    Threat own_threat = threat::kNone;  // the threat that `move` created
    int extensions = 0;                 // set by the parent: depth added since the root, beyond one ply per move
    int line_length = 0;
    Point line[kMaxPly];
  };

  enum NodeType : std::uint8_t { kRoot, kPv, kNonPv };

  // Principal variation search. `cut_node`: the parent expects this node to fail high.
  template <NodeType Type>
  Value search(int ply, Value alpha, Value beta, Depth depth, bool cut_node);
  // Quiescence search over continuous fours. `chain` is the number of fours made since depth zero.
  template <bool IsPv>
  Value search_fours(int ply, Value alpha, Value beta, int chain);
  template <bool IsPv>
  Value answer_four(int ply, Value alpha, Value beta, int chain);

  // A four and its ordering score.
  struct ScoredFour {
    int score;
    Point move;
  };
  int list_fours(int ply, int chain, std::array<ScoredFour, kMaxArea>& fours) const;

  Value static_win(int ply) const;
  bool four_three_wins(Colour own) const;
  bool has_doubtful_four(Colour colour) const;
  // The value of a finished game: a draw on a full board, or a loss because the parent's move made five.
  Value final_value(int ply) const { return board_.board().outcome() == Outcome::kDraw ? kDraw : loss_in(ply); }
  bool should_stop();
  void make(int ply, Point move);
  void unmake() { board_.unmake(); }
  void set_line(int ply, Point move);
  Depth base_reduction(Depth depth, int number) const;
  int move_count_limit(Depth depth, bool improving) const;
  void reward(Depth depth, Point best, const Point* tried, int count, Point last_move);

  SharedSearch& shared_;
  const SearchOptions& options_;
  const SearchParameters& parameters_;
  const Weights& weights_;
  TranspositionTable& table_;
  PatternBoard board_;
  History history_;
  std::vector<Frame> frames_;
  std::array<int, 64> move_counts_;  // move count limit by depth in plies
  bool is_proving_ = false;
  bool is_root_loss_proved_ = false;  // whether the last search of all roots has proved that each of them loses
  std::size_t first_root_ = 0;
  int reach_ = 0;                      // maximum ply of an open-window node since the counter was reset
  int depth_ = 0;                      // of the current iteration
  std::vector<SearchLine> completed_;  // best lines of the last completed iteration
  std::uint64_t counted_nodes_ = 0;    // nodes of this thread already added to shared_.nodes
  std::uint32_t until_check_ = 0;      // nodes until the next check of the limits
};

}  // namespace tengen
