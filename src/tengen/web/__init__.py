"""Server of the board in the browser: games, analysis, review, puzzles and the laboratory over HTTP and a WebSocket."""
