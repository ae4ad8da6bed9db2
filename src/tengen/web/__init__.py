"""Web server behind the browser board: games, analysis, review, puzzles and the laboratory, over HTTP and WebSocket."""
