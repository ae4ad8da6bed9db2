"""AlphaZero in one file: a network learns four in a row on a 6x6 board by playing against itself.

    python examples/alphazero_in_one_file.py --minutes 5

This file shows the method, not Tengen's own implementation (`tengen train alphazero`), which is faster and has more
options. It needs numpy and torch; Tengen supplies the opponents and plays the matches at the end.

The method (Silver et al. 2018) repeats three steps:

1. Self-play. A tree search plays games against itself. The network guides the search: its policy says which moves to
   try, and its value says how good a position is, so the search does not have to play games to the end.
2. Training. The network learns to predict the search: the visit counts are the target for the policy, and the result
   of the game is the target for the value.
3. With the better network, the search plays better games, and so on.

Boards are encoded from the point of view of the side to move: 1 is its own stone, -1 is an opponent's stone. A batch
of B games is searched at the same time, so that the network evaluates B positions in one forward pass.
"""

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional

import tengen

SIZE, ROW = 6, 4
AREA = SIZE * SIZE
RULES = f"{SIZE}x{SIZE}:{ROW}"

# --- The rules -------------------------------------------------------------------------------------------------------


def winning_rows():
    """Return all rows of four points, as an array [rows, 4] of point numbers."""
    rows = []
    for x in range(SIZE):
        for y in range(SIZE):
            for dx, dy in ((1, 0), (0, 1), (1, 1), (1, -1)):
                row = [(x + i * dx, y + i * dy) for i in range(ROW)]
                if all(0 <= a < SIZE and 0 <= b < SIZE for a, b in row):
                    rows.append([b * SIZE + a for a, b in row])
    return np.array(rows)


ROWS = winning_rows()


def play(boards, moves):
    """Play one move on each board [B, 36]; return the boards for the other side, and which games are won or full."""
    boards = boards.copy()
    boards[np.arange(len(boards)), moves] = 1
    won = (boards[:, ROWS] == 1).all(axis=2).any(axis=1)
    full = (boards != 0).all(axis=1)
    return -boards, won, full & ~won


# --- The network -----------------------------------------------------------------------------------------------------


class Network(nn.Module):
    """Three convolutions, then a policy over the points and a value between -1 (lost) and 1 (won)."""

    def __init__(self, channels=48):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(2, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
        )
        self.policy = nn.Sequential(nn.Conv2d(channels, 4, 1), nn.ReLU(), nn.Flatten(), nn.Linear(4 * AREA, AREA))
        self.value = nn.Sequential(
            nn.Conv2d(channels, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(2 * AREA, 48), nn.ReLU(), nn.Linear(48, 1)
        )

    def forward(self, planes):
        features = self.body(planes)
        return self.policy(features), torch.tanh(self.value(features)).squeeze(1)


def planes_of(boards):
    """Convert boards [B, 36] to network inputs [B, 2, 6, 6]: own stones, opponent's stones."""
    squares = torch.as_tensor(boards.reshape(-1, SIZE, SIZE))
    return torch.stack([squares == 1, squares == -1], dim=1).float()


@torch.no_grad()
def evaluate(network, boards):
    """Return the policy [B, 36] over the empty points and the value [B] for the side to move."""
    logits, value = network(planes_of(boards))
    logits[torch.as_tensor(boards != 0)] = -torch.inf
    return functional.softmax(logits, dim=1).numpy(), value.numpy()


# --- The search ------------------------------------------------------------------------------------------------------


def search(network, boards, simulations, rng=None, explore=1.5):
    """Search B positions at the same time; return the share of visits of every move, [B, 36].

    Node 0 of each tree is the position itself, and simulation n adds node n. With `rng`, noise is added to the policy
    at the root, so that self-play tries every move from time to time.
    """
    count, nodes = len(boards), simulations + 1
    board = np.zeros((count, nodes, AREA), np.int8)
    prior = np.zeros((count, nodes, AREA), np.float32)
    visits = np.zeros((count, nodes, AREA), np.float32)
    total = np.zeros((count, nodes, AREA), np.float32)  # sum of the values of a move, for the side that makes it
    child = np.full((count, nodes, AREA), -1)
    result = np.full((count, nodes), np.nan, np.float32)  # value of a node where the game is over

    board[:, 0] = boards
    prior[:, 0], _ = evaluate(network, boards)
    if rng is not None:
        empty = boards == 0
        noise = rng.gamma(10 / empty.sum(axis=1, keepdims=True), size=boards.shape) * empty + 1e-9 * empty
        prior[:, 0] = 0.75 * prior[:, 0] + 0.25 * noise / noise.sum(axis=1, keepdims=True)

    for new in range(1, nodes):
        # 1. Walk down. Each tree takes the move with the highest sum of its mean value and an exploration bonus.
        path = []
        active, node = np.arange(count), np.zeros(count, int)
        parent, last = np.zeros(count, int), np.zeros(count, int)  # node and move of the last step of each walk
        while len(active):
            here = (active, node[active])
            tried = visits[here]
            mean = np.divide(total[here], tried, out=np.zeros_like(tried), where=tried > 0)
            curiosity = explore * prior[here] * np.sqrt(1 + tried.sum(axis=1, keepdims=True)) / (1 + tried)
            move = np.where(board[here] == 0, mean + curiosity, -np.inf).argmax(axis=1)
            path.append((active, node[active], move))
            parent[active], last[active] = node[active], move
            follow = child[(*here, move)]
            node[active] = np.where(follow >= 0, follow, new)
            active = active[(follow >= 0) & np.isnan(result[active, np.maximum(follow, 0)])]

        # 2. Add a node to each tree whose walk left it, and evaluate the node: by the rules if the game is over,
        #    otherwise by the network. Walks that ended in a known finished game add no node.
        value = np.zeros(count, np.float32)  # for the side to move in the last node of the walk
        grown = np.flatnonzero(node == new)
        child[grown, parent[grown], last[grown]] = new
        board[grown, new], won, full = play(board[grown, parent[grown]], last[grown])
        result[grown[won], new], result[grown[full], new] = -1, 0  # the side to move has lost, or nobody has won
        going = grown[~(won | full)]
        if len(going):
            prior[going, new], value[going] = evaluate(network, board[going, new])
        over = ~np.isnan(result[np.arange(count), node])
        value[over] = result[np.arange(count)[over], node[over]]

        # 3. Back up the values. A gain for one side is a loss for the other, so the sign changes at every step.
        for trees, parents, moves in reversed(path):
            value[trees] = -value[trees]
            visits[trees, parents, moves] += 1
            total[trees, parents, moves] += value[trees]

    return visits[:, 0] / visits[:, 0].sum(axis=1, keepdims=True)


# --- Self-play -------------------------------------------------------------------------------------------------------


def self_play(network, games, simulations, rng):
    """Play games to the end; return boards [N, 36], policies [N, 36] and results [N] for the side to move."""
    boards = np.zeros((games, AREA), np.int8)
    running = np.arange(games)
    moments = []  # (games, boards, policies) of each move
    outcome = np.zeros(games, np.float32)  # for the side that made the last move
    length = np.zeros(games, int)
    for ply in range(AREA):
        policy = search(network, boards[running], simulations, rng)
        moments.append((running, boards[running].copy(), policy))
        # Sample the first moves in proportion to the visits, so that the games differ; later, strongly prefer the best.
        weights = (policy if ply < 6 else policy**8).astype(np.float64)
        moves = np.array([rng.choice(AREA, p=shares / shares.sum()) for shares in weights])
        boards[running], won, full = play(boards[running], moves)
        outcome[running[won]] = 1
        length[running] = ply
        running = running[~(won | full)]
        if not len(running):
            break
    results = [outcome[g] * (1 - 2 * ((length[g] - ply) % 2)) for ply, (g, _, _) in enumerate(moments)]
    return (
        np.concatenate([boards for _, boards, _ in moments]),
        np.concatenate([policy for _, _, policy in moments]),
        np.concatenate(results).astype(np.float32),
    )


# --- Training --------------------------------------------------------------------------------------------------------


def turned(boards, policies, rng):
    """Apply a random symmetry of the board to a batch."""
    turns, mirrored = rng.integers(4), rng.integers(2)
    both = [array.reshape(-1, SIZE, SIZE) for array in (boards, policies)]
    both = [np.rot90(array, turns, axes=(1, 2)) for array in both]
    both = [array[:, :, ::-1] if mirrored else array for array in both]
    return [np.ascontiguousarray(array).reshape(-1, AREA) for array in both]


def train(network, optimizer, replay, steps, rng, batch=256):
    """Take training steps on random positions from the replay buffer; return the mean policy and value losses."""
    boards, policies, results = (np.concatenate(part) for part in zip(*replay, strict=True))
    losses = []
    for _ in range(steps):
        rows = rng.integers(len(boards), size=batch)
        inputs, targets = turned(boards[rows], policies[rows], rng)
        logits, value = network(planes_of(inputs))
        policy_loss = functional.cross_entropy(logits, torch.as_tensor(targets))
        value_loss = functional.mse_loss(value, torch.as_tensor(results[rows]))
        optimizer.zero_grad()
        (policy_loss + value_loss).backward()
        optimizer.step()
        losses.append((policy_loss.item(), value_loss.item()))
    return np.mean(losses, axis=0)


# --- The player ------------------------------------------------------------------------------------------------------


class AlphaZero(tengen.Agent):
    """The search with the network, as a player for Tengen's matches."""

    def __init__(self, network, simulations=64):
        self.network, self.simulations = network, simulations

    def supports(self, ruleset):
        return str(ruleset) == f"{RULES}:freestyle"

    def choose(self, position, limits):
        cells = position.cells().astype(np.int8).reshape(1, AREA)  # 0 empty, 1 black, 2 white
        own = 1 if position.to_move == "black" else 2
        board = np.where(cells == 0, 0, np.where(cells == own, 1, -1)).astype(np.int8)
        visits = search(self.network, board, self.simulations)[0]
        return tengen.Decision(move=tengen.Point.from_index(int(visits.argmax()), SIZE))


def measure(network, games, opponents=("random", "naive:level=1", "rule-based")):
    """Print and return the score against each opponent, with both colours from random openings."""
    player = AlphaZero(network.eval())
    scores = {other: tengen.play_match(player, other, rules=RULES, games=games).score for other in opponents}
    print("  score against " + ", ".join(f"{name} {score:.0%}" for name, score in scores.items()), flush=True)
    return scores


def main(minutes=5.0, games=128, simulations=40, match_games=100, seed=0):
    """Train for this many minutes, and measure the player before and after; return both measurements."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    rng = np.random.default_rng(seed)
    network = Network()
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3, weight_decay=1e-4)
    print("before training:")
    before = measure(network, match_games)
    replay, played, started = [], 0, time.monotonic()
    while True:
        done = (time.monotonic() - started) / (60 * minutes)
        if done >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * (1 - 0.9 * done)
        replay.append(self_play(network.eval(), games, simulations, rng))
        replay = replay[-20:]  # the games of the last twenty networks
        steps = 4 * len(replay[-1][0]) // 256 + 1  # every new position is used about four times
        policy_loss, value_loss = train(network.train(), optimizer, replay, steps, rng)
        played += games
        print(f"{done:4.0%}  {played} games, policy loss {policy_loss:.3f}, value loss {value_loss:.3f}", flush=True)
    print(f"after {played} games in {minutes:g} minutes:")
    return before, measure(network, match_games)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="training time in minutes (default: 5)")
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    main(**vars(parser.parse_args()))
