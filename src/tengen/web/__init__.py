"""The board in the browser: games, analysis, review, puzzles and the laboratory over HTTP and a WebSocket."""
