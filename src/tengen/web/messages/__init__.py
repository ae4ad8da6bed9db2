"""Types of all messages in the HTTP and WebSocket API (docs/reference/api.md has an example of each).

Names on the wire are camelCase. Fields that also exist in KataGo's analysis engine have the same names: `moves`,
`initialStones`, `initialPlayer`, `boardXSize`, `moveInfos`, `rootInfo`, `visits`, `winrate`, `prior`, `pv`, `order`,
`isDuringSearch`, `turnNumber`, `terminateId`. Points, colours, rulesets and agents have the text forms that Tengen uses
everywhere (`h8`, `black`, `15x15:5:renju`, `alphabeta:nodes=5000`).

Perspective: `winrate` (0 to 1) and `utility` (-1 to 1) are from the point of view of the side to move at the root
(`currentPlayer`); `blackWinrate` is black's.

Unknown fields are rejected. These types check only the form of a message; the receiver checks it against the rules of
the game.
"""
