// @ts-check
/** What a board shows, as plain data, and the pure changes of it. No rules of the game in here: whether a stone may be
 *  put somewhere is the server's business, the board only knows which points are taken. */

import { nameOf, xyOf } from "./points.js";

/** @typedef {"black" | "white"} Colour */
/** @typedef {{ point: string, colour: Colour, number?: number }} Stone */

/**
 * A candidate move on the board.
 * @typedef {object} Candidate
 * @property {string} point
 * @property {string} text what stands in the disc: a winning chance or a proof distance
 * @property {string} [detail] smaller, below it: visits or depth
 * @property {number} chance from 0 (bad for who moves) to 1 (good): the colour of the disc
 * @property {boolean} [best]
 * @property {boolean} [second] comes from the second engine
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
  /** Points where black may not play. @type {string[]} */
  fouls: [],
  /** The colour that a click puts down; null for a board to look at. @type {Colour | null} */
  toPlay: null,
  /** Where the pointer is. @type {string | null} */
  hover: null,
  /** Where the keyboard is. @type {string} */
  cursor: "h8",
  /** Whether the keyboard is moving the cursor (arrow keys move it instead of walking through the game). */
  cursorShown: false,
  /** Whether a click has to be confirmed by a second one. */
  confirm: false,
  /** The point that waits for the second click. @type {string | null} */
  pending: null,
  /** @type {Candidate[]} */
  candidates: [],
  /** Stones of a line that is only thought of. @type {Stone[]} */
  preview: [],
  /** Policy of a network, 0 to 1 by point. @type {Map<string, number>} */
  heat: new Map(),
  /** @type {Threat[]} */
  threats: [],
  /** @type {string | null} */
  hint: null,
  /** Signs on points: right and wrong tries, labels of a file. @type {{ point: string, kind: "right" | "wrong" | "label", text?: string }[]} */
  marks: [],
  coordinates: true,
  /** @type {"off" | "last" | "all"} */
  numbers: "off",
});

/** @typedef {ReturnType<typeof initialState>} BoardState */

/** @returns {Map<string, Stone>} */
export const stonesOf = (/** @type {Stone[]} */ list) => new Map(list.map((stone) => [stone.point, stone]));

/** Whether a stone can be put on a point: somebody is to play, and it is empty. */
export const isPlayable = (/** @type {BoardState} */ state, /** @type {string | null} */ point) =>
  point !== null && state.toPlay !== null && !state.stones.has(point);

/**
 * What a click on a point does: nothing, ask for the second click, or play.
 * @param {BoardState} state
 * @param {string} point
 * @returns {{ changes: Partial<BoardState>, play: string | null }}
 */
export function select(state, point) {
  if (!isPlayable(state, point)) return { changes: { pending: null }, play: null };
  if (state.confirm && state.pending !== point) return { changes: { pending: point }, play: null };
  return { changes: { pending: null, hover: null }, play: point };
}

/** Where the cursor goes, staying on the board. */
export function moveCursor(/** @type {BoardState} */ state, /** @type {number} */ dx, /** @type {number} */ dy) {
  const [x, y] = xyOf(state.cursor);
  const within = (/** @type {number} */ value, /** @type {number} */ size) => Math.max(0, Math.min(size - 1, value));
  return nameOf(within(x + dx, state.width), within(y + dy, state.height));
}

/** Changes that bring a cursor or a pointer from another board back onto this one. */
export function resized(/** @type {number} */ width, /** @type {number} */ height) {
  return { width, height, cursor: nameOf(width >> 1, height >> 1), hover: null, pending: null };
}
