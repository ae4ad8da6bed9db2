#include "search/puct/leaf.h"

#include <utility>

#include "core/assert.h"
#include "patterns/defence.h"
#include "patterns/legality.h"

namespace tengen {
namespace {

const PointValues kNoValues{};
constexpr int kLog2Threats = 14;  // table size of the threat solver

LeafJudgement win(std::vector<Point> line, int plies) {
  LeafJudgement judgement;
  judgement.result = Result::kWin;
  judgement.plies = plies;
  judgement.moves.add(line.front());
  judgement.line = std::move(line);
  return judgement;
}

LeafJudgement end(Result result, int plies) {
  LeafJudgement judgement;
  judgement.result = result;
  judgement.plies = plies;
  return judgement;
}

}  // namespace

bool is_dead(const Board& board) {
  constexpr std::uint64_t kLow = 0x5555555555555555ull;
  const int k = board.rules().win_length;
  for (int direction = 0; direction < kDirections; ++direction)
    for (int index = 0; index < board.geometry().line_count(direction); ++index) {
      const std::uint64_t line = board.line(direction, index);
      // A wall has both bits of its cell set; a stone has one of them set. A colour can use cells where the other's bit
      // is 0.
      std::uint64_t black = ~(line >> 1) & kLow;
      std::uint64_t white = ~line & kLow;
      for (int i = 1; i < k; ++i) {
        black &= black >> 2;
        white &= white >> 2;
      }
      if (black | white) return false;
    }
  return true;
}

PuctOptions playable(PuctOptions options, const Rules& rules) {
  if (!needs_patterns(options, rules)) options.vct_nodes = 0;
  return options;
}

bool needs_patterns(const PuctOptions& options, const Rules& rules) {
  return options.tactics && PatternTables::exist_for(rules.win_length);
}

PuctBoard::PuctBoard(const Board& board, bool with_patterns) : board_(board) {
  if (with_patterns) board_.emplace<PatternBoard>(board, kNoValues);
}

LeafJudgement LeafJudge::judge(PuctBoard& leaf, std::uint32_t vcf_nodes, const PointSet& excluded,
                               const std::function<bool()>& should_stop) {
  const Board& board = leaf.board();

  // Step 1. A finished game, or only fouls left.
  if (board.outcome() == Outcome::kDraw) return end(Result::kDraw, 0);
  if (board.is_over()) return end(board.outcome() == win_for(board.to_move()) ? Result::kWin : Result::kLoss, 0);
  const PointSet legal = legal_points(board);
  if (legal.empty()) return end(Result::kLoss, 0);
  LeafJudgement judgement;
  judgement.moves = legal;
  if (judgement.moves.remove_all(excluded).empty()) judgement.moves = legal;
  if (!tactics_) return judgement;

  // Step 2. A dead draw.
  if (is_dead(board)) {
    judgement.result = Result::kDraw;
    judgement.plies = board.empties();
    return judgement;
  }

  // Step 3. Make five.
  const Colour own = board.to_move();
  PatternBoard* const patterns = leaf.patterns();
  const PointSet wins = judgement.moves & (patterns ? patterns->fives(own) : completing_points(board, own));
  if (!wins.empty()) return win({wins.first()}, 1);

  // Step 4. Answer a four. Without patterns, only the completing point is known to stop a five, but in caro there are
  // other answers.
  const PointSet fives = patterns ? patterns->fives(opponent(own)) : completing_points(board, opponent(own));
  if (!fives.empty() && (patterns || !lines_can_be_closed(board.rules()))) {
    PointSet answers;
    if (patterns)
      answers = five_defences(*patterns, opponent(own));
    else if (fives.size() == 1)
      answers = fives;
    answers &= judgement.moves;
    if (!answers.empty()) {
      judgement.moves = answers;
    } else if (judgement.moves == legal) {
      judgement.result = Result::kLoss;
      judgement.plies = 2;
      // Even a lost position needs a move: prefer one that stops at least one of the fives.
      if (const PointSet blocks = legal & fives; !blocks.empty()) judgement.moves = blocks;
      const Point answer = judgement.moves.first();
      PointSet left = fives;
      left.remove(answer);
      judgement.line = {answer};
      if (left.size() == 1 || (!left.empty() && !lines_can_be_closed(board.rules())))
        judgement.line.push_back(left.first());
      return judgement;
    }
  }

  // Step 5. Win by continuous fours.
  if (patterns && vcf_nodes > 0 && solver_.solve(*patterns, vcf_nodes, should_stop) == Verdict::kWin &&
      judgement.moves.has(solver_.line().front()))
    return win(solver_.line(), solver_.plies());
  return judgement;
}

LeafJudgement LeafJudge::find_threats(PuctBoard& board, std::uint32_t vct_nodes,
                                      const std::function<bool()>& should_stop) {
  TENGEN_ASSERT(board.patterns() && !board.board().is_over());
  if (!threats_) threats_ = std::make_unique<ThreatSolver>(kLog2Threats);
  const ThreatLimits limits{.nodes = vct_nodes};
  if (threats_->solve(*board.patterns(), limits, should_stop) != Verdict::kWin || threats_->line().empty()) return {};
  return win(threats_->line(), threats_->plies());
}

void LeafJudge::clear() {
  solver_.clear();
  threats_.reset();
}

}  // namespace tengen
