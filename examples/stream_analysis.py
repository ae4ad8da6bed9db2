"""Watch an analysis while it runs."""

import tengen

position = tengen.Position.from_moves("15x15", "h8 i9 h10 h9")
for analysis in tengen.analyse(position, "alphabeta", lines=2, nodes=20_000):
    best = analysis.lines[0]
    print(analysis.depth, best.move, f"{best.value_to_move:+.2f}", " ".join(best.line))
