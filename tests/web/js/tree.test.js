// @ts-check
/** The tree of a game. */

import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import {
	add,
	lineThrough,
	newRoot,
	pathTo,
	play,
	promote,
	remove,
	sibling,
	step,
	stonesAt,
	walk,
} from "../../../src/tengen/web/static/js/tree.js";

/** @import { Node } from "../../../src/tengen/web/static/js/tree.js" */

const points = (/** @type {Iterable<Node>} */ nodes) => [...nodes].map(({ point }) => point);

/** h8 i9 j10, with the variations i7 and g9 on the second move. */
function game() {
	const root = newRoot();
	const first = play(root, "h8", "black");
	const main = play(first, "i9", "white");
	const end = play(main, "j10", "black");
	const second = play(first, "i7", "white");
	const third = play(first, "g9", "white");
	return { root, first, main, end, second, third };
}

test("playing a known move returns its node", () => {
	const { root, first, main } = game();
	equal(play(root, "h8", "black"), first);
	equal(play(first, "i9", "white"), main);
	equal(first.children.length, 3);
});

test("paths, lines and the walk list the nodes in order", () => {
	const { root, first, end, second } = game();
	deepEqual(points(pathTo(end)), [null, "h8", "i9", "j10"]);
	deepEqual(points(lineThrough(first)), [null, "h8", "i9", "j10"]);
	deepEqual(points(lineThrough(second)), [null, "h8", "i7"]);
	deepEqual(points(walk(root)), [null, "h8", "i9", "j10", "i7", "g9"]);
});

test("steps stop at both ends", () => {
	const { root, first, end } = game();
	equal(step(root, 1), first);
	equal(step(root, Infinity), end);
	equal(step(end, -Infinity), root);
	equal(step(root, -1), root);
});

test("variations wrap around", () => {
	const { root, main, second, third } = game();
	equal(sibling(main, 1), second);
	equal(sibling(main, -1), third);
	equal(sibling(third, 1), main);
	equal(sibling(root, 1), root);
});

test("a promoted variation is the main line", () => {
	const { root, third } = game();
	promote(third);
	deepEqual(points(lineThrough(root)), [null, "h8", "g9"]);
});

test("a removed node comes back where it was", () => {
	const { root, first, second } = game();
	const { parent, undo } = remove(second);
	equal(parent, first);
	deepEqual(points(first.children), ["i9", "g9"]);
	undo();
	deepEqual(points(first.children), ["i9", "i7", "g9"]);
	equal(remove(root).parent, null);
});

test("stones have the colour and the number of their move; set-up stones have no number", () => {
	const root = newRoot({ black: ["a1", "b2"], white: ["c3"] });
	const move = play(root, "h8", "white");
	const cleared = add(move, { point: null, colour: null, setup: { empty: ["a1"] } });
	deepEqual(
		[...stonesAt(cleared).values()],
		[
			{ point: "b2", colour: "black" },
			{ point: "c3", colour: "white" },
			{ point: "h8", colour: "white", number: 1 },
		],
	);
});

test("a very long game does not exhaust the stack", () => {
	const root = newRoot();
	let node = root;
	for (let i = 0; i < 20_000; i += 1) node = play(node, "h8", i % 2 ? "white" : "black");
	equal([...walk(root)].length, 20_001);
	equal(lineThrough(root).at(-1), node);
});
