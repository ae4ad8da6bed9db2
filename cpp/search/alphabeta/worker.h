// One thread of the alpha-beta search: its board, its stack, its history.
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

// What the threads of one search share.
struct SharedSearch {
  TranspositionTable* table = nullptr;
  const Weights* weights = nullptr;
  SearchOptions options;
  SearchLimits limits;
  std::chrono::steady_clock::time_point start;
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> nodes{0};  // of all threads, a few hundred at most of each not yet counted
  const StopSignal* external_stop = nullptr;

  std::int64_t elapsed_ms() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
  }
  // Whether the time is up or somebody wants the search to end.
  bool is_over() const {
    return (limits.time_ms >= 0 && elapsed_ms() >= limits.time_ms) || (external_stop && external_stop->is_set());
  }
};

struct RootMove {
  Point move = kNoPoint;
  Value value = -kInfinite;     // of this iteration; -kInfinite when the move did not raise alpha
  Value previous = -kInfinite;  // of the iteration before
  std::vector<Point> line;
};

class Worker {
 public:
  Worker(SharedSearch& shared, const Board& board);

  // Search one iteration over roots[first...]; afterwards they are sorted, best first.
  // Returns false when stopped: the roots then hold the best known so far.
  bool iterate(int depth, std::size_t first, Value guess);

  // Put the roots into the order in which the picker would try them.
  void sort_roots();

  std::vector<RootMove> roots;
  std::atomic<std::uint64_t> nodes{0};
  int completed_depth = 0;  // of all lines, kept by whoever calls iterate

  const PatternBoard& board() const { return board_; }

 private:
  struct Frame {
    Point move = kNoPoint;  // the move being searched
    Point excluded = kNoPoint;
    Value evaluation = kNoValue;
    Threat own_threat = threat::kNone;  // what the move made for its player
    int extensions = 0;                 // beyond one ply each, since the root
    int line_length = 0;
    Point line[kMaxPly];
  };

  enum NodeType { kRoot, kPv, kNonPv };

  template <NodeType Type>
  Value search(int ply, Value alpha, Value beta, Depth depth, bool cut_node);
  template <bool IsPv>
  Value search_fours(int ply, Value alpha, Value beta, int chain);

  Value static_win(int ply) const;
  bool four_three_wins(Colour own) const;
  bool has_doubtful_four(Colour colour) const;
  Value draw_value() const { return 0; }
  // The game is over: full board, or a five that the root made.
  Value final_value(int ply) const { return board_.board().outcome() == Outcome::kDraw ? draw_value() : loss_in(ply); }
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
  std::array<int, 64> move_counts_;  // by depth in plies
  std::size_t first_root_ = 0;
  std::uint64_t counted_nodes_ = 0;  // of this thread in shared_.nodes
  std::uint32_t until_check_ = 0;    // nodes until limits are looked at again
};

}  // namespace tengen
