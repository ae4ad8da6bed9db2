"""Draw a position as PNG and SVG; in a notebook, a position draws itself."""

from pathlib import Path

import tengen

position = tengen.Position.from_moves("15x15", "h8 i9 h10 h9 i8")
Path("position.png").write_bytes(position.to_png(numbers=True))
Path("position.svg").write_text(position.to_svg(), encoding="utf-8")
print(Path("position.png").stat().st_size, "bytes")
