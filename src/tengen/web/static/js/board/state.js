/** The state of a board as plain data, and pure functions on it. The rules of the game are not implemented here: the
 *  server decides whether a move is legal, and the board only knows which points are occupied. */

import { nameOf, xyOf } from "./points.js";

/** @import { Colour } from "../messages.js" */

/** @typedef {{ point: string, colour: Colour, number?: number }} Stone */

/**
 * A candidate move shown on the board.
 * @typedef {object} Candidate
 * @property {string} point
 * @property {string} text the label of the disc: a win rate or the distance to a proved result
 * @property {string} [detail] smaller text below it: visits or depth
 * @property {number} loss winning chances lost compared with the best move, from 0 to 1; sets the colour of the disc
 * @property {boolean} [isUnsure] whether the engine has barely searched it
 * @property {boolean} [best]
 * @property {boolean} [second] whether it comes from the second engine
 */

/** @typedef {{ colour: Colour, kind: string, points: string[], answers: string[] }} Threat */

export const initialState = () => ({
	width: 15,
	height: 15,
	/** The stones by point. @type {Map<string, Stone>} */
	stones: new Map(),
	/** @type {string | null} */
	lastMove: null,
	/** @type {string[]} */
	winningLine: [],
	/** Points that are forbidden for black. @type {string[]} */
	fouls: [],
	/** The colour that a click places; null for a read-only board. @type {Colour | null} */
	toPlay: null,
	/** The point under the pointer. @type {string | null} */
	hover: null,
	/** The point under the keyboard cursor. @type {string} */
	cursor: "h8",
	/** Whether the keyboard cursor is visible. If so, arrow keys move it instead of stepping through the game. */
	cursorShown: false,
	/** Whether a move needs a second click to confirm it. */
	confirm: false,
	/** The point that needs a second click. @type {string | null} */
	pending: null,
	/** @type {Candidate[]} */
	candidates: [],
	/** Stones of a variation that is previewed, not played. @type {Stone[]} */
	preview: [],
	/** Policy of a network: probability by point. @type {Map<string, number>} */
	heat: new Map(),
	/** @type {Threat[]} */
	threats: [],
	/** @type {string | null} */
	hint: null,
	/** Marks on points: right and wrong attempts, labels from a file. @type {{ point: string, kind: "right" | "wrong" | "label", text?: string }[]} */
	marks: [],
	/** How the edges are labelled; empty for no labels. @type {"letters" | "numbers" | ""} */
	coordinates: "letters",
	/** @type {"off" | "last" | "all"} */
	numbers: "off",
});

/** @typedef {ReturnType<typeof initialState>} BoardState */

/** @returns {Map<string, Stone>} */
export const stonesOf = (/** @type {Stone[]} */ list) => new Map(list.map((stone) => [stone.point, stone]));

/** Whether a click may place a stone on a point: the board is not read-only and the point is empty. */
export const isPlayable = (/** @type {BoardState} */ state, /** @type {string | null} */ point) =>
	point !== null && state.toPlay !== null && !state.stones.has(point);

/**
 * Decide what a click on a point does: nothing, wait for a second click, or play.
 * @param {BoardState} state
 * @param {string} point
 * @returns {{ changes: Partial<BoardState>, play: string | null }}
 */
export function select(state, point) {
	if (!isPlayable(state, point)) return { changes: { pending: null }, play: null };
	if (state.confirm && state.pending !== point) return { changes: { pending: point }, play: null };
	return { changes: { pending: null, hover: null }, play: point };
}

/** Return the point that the cursor moves to, clamped to the board. */
export function moveCursor(/** @type {BoardState} */ state, /** @type {number} */ dx, /** @type {number} */ dy) {
	const [x, y] = xyOf(state.cursor);
	const within = (/** @type {number} */ value, /** @type {number} */ size) => Math.max(0, Math.min(size - 1, value));
	return nameOf(within(x + dx, state.width), within(y + dy, state.height));
}

/** Return the changes for a new board size: the cursor is centred, and hover and pending points are cleared. */
export function resized(/** @type {number} */ width, /** @type {number} */ height) {
	return { width, height, cursor: nameOf(width >> 1, height >> 1), hover: null, pending: null };
}
