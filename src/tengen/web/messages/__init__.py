"""Every message of the HTTP and WebSocket interface, typed (docs/api.md shows each with an example).

Names on the wire are camelCase. Where a field means the same as in KataGo's analysis engine it has its name there:
`moves`, `initialStones`, `initialPlayer`, `boardXSize`, `moveInfos`, `rootInfo`, `visits`, `winrate`, `prior`, `pv`,
`order`, `isDuringSearch`, `turnNumber`, `terminateId`. Points, colours, rulesets and agents are the texts used
everywhere in Tengen (`h8`, `black`, `15x15:5:renju`, `alphabeta:nodes=5000`).

Perspective: `winrate` and `utility` are those of the side to move at the root (`currentPlayer`), `blackWinrate` is
black's. A winrate runs from 0 to 1, a utility from -1 to +1.

Unknown fields are refused. Nothing here knows the rules: what a message says is checked against the game by those who
receive it.
"""
