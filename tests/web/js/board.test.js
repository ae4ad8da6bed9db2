// @ts-check
/** Points and the state of a board. */

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { isPoint, nameOf, starPoints, xyOf } from "../../../src/tengen/web/static/js/board/points.js";
import {
	initialState,
	isPlayable,
	moveCursor,
	resized,
	select,
	stonesOf,
} from "../../../src/tengen/web/static/js/board/state.js";

const taken = stonesOf([{ point: "h8", colour: "black" }]);

test("every point of the largest board survives a round trip through coordinates", () => {
	for (let x = 0; x < 22; x += 1) for (let y = 0; y < 22; y += 1) deepEqual(xyOf(nameOf(x, y)), [x, y]);
	equal(nameOf(7, 7), "h8");
});

test("only names of points on the board are accepted", () => {
	for (const text of ["a1", "o15", "h8"]) equal(isPoint(text, 15, 15), true);
	for (const text of ["p1", "a16", "a0", "8h", "H8", "", "a01"]) equal(isPoint(text, 15, 15), false);
});

test("large boards have five star points, small ones the centre, even ones no centre", () => {
	deepEqual(starPoints(15, 15), ["h8", "d4", "l4", "d12", "l12"]);
	deepEqual(starPoints(9, 9), ["e5"]);
	deepEqual(starPoints(8, 8), []);
});

test("a stone can be placed only on an empty point of a board with a side to play", () => {
	const state = { ...initialState(), stones: taken, toPlay: /** @type {const} */ ("white") };
	equal(isPlayable(state, "i9"), true);
	equal(isPlayable(state, "h8"), false);
	equal(isPlayable(state, null), false);
	equal(isPlayable({ ...state, toPlay: null }, "i9"), false);
});

test("a click plays at once, or waits for a second click on the same point", () => {
	const state = { ...initialState(), stones: taken, toPlay: /** @type {const} */ ("white") };
	equal(select(state, "i9").play, "i9");
	equal(select(state, "h8").play, null);
	const asked = select({ ...state, confirm: true }, "i9");
	deepEqual(asked, { changes: { pending: "i9" }, play: null });
	const waiting = { ...state, confirm: true, pending: "i9" };
	equal(select(waiting, "i9").play, "i9");
	deepEqual(select(waiting, "j10"), { changes: { pending: "j10" }, play: null });
	deepEqual(select(waiting, "h8"), { changes: { pending: null }, play: null });
});

test("the cursor stays on the board", () => {
	const state = { ...initialState(), cursor: "a1" };
	equal(moveCursor(state, -1, -1), "a1");
	equal(moveCursor(state, 4, 0), "e1");
	equal(moveCursor(state, 99, 99), "o15");
});

test("a board of another size has the cursor in its centre and nothing pending", () => {
	deepEqual(resized(9, 7), { width: 9, height: 7, cursor: "e4", hover: null, pending: null });
});
