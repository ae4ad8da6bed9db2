// The alpha-beta engine: iterative deepening on one or more threads, with a report after each iteration.
#pragma once

#include <functional>
#include <vector>

#include "core/board.h"
#include "eval/weights.h"
#include "search/alphabeta/options.h"
#include "search/alphabeta/transposition.h"
#include "search/alphabeta/worker.h"

namespace tengen {

struct SearchReport {
  std::vector<SearchLine> lines;  // best first; empty only if every legal move was excluded
  int depth = 0;                  // of the last completed iteration
  std::uint64_t nodes = 0;
  std::int64_t elapsed_ms = 0;
};

class Engine {
 public:
  explicit Engine(std::size_t table_bytes);

  // Copy the weights into the engine. The default is Weights::prior().
  void set_weights(const Weights& weights) { weights_ = weights; }
  void set_options(const SearchOptions& options) { options_ = options; }
  void set_table_bytes(std::size_t bytes) { table_.resize(bytes); }
  void new_game() { table_.clear(); }
  void touch_table() { table_.touch(); }
  std::size_t table_bytes() const { return table_.bytes(); }
  int table_usage() const { return table_.usage(); }

  // Search a position; the game must not be over. `on_report` is called on this thread after each completed iteration.
  // The lines of the result are those of the last report, unless the interrupted iteration or another thread found
  // better ones. `stop` ends the search within milliseconds.
  SearchReport search(const Board& board, const SearchLimits& limits,
                      const std::function<void(const SearchReport&)>& on_report = {}, const StopSignal* stop = nullptr);

  const Weights& weights() const { return weights_; }

 private:
  TranspositionTable table_;
  Weights weights_;
  SearchOptions options_;
};

}  // namespace tengen
