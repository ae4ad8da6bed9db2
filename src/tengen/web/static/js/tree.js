/** The tree of a game: moves, variations and comments. The server decides which moves are legal and whose turn it is;
 *  nothing is checked here. Trees are modified in place. They may be deep, so no function is recursive. */

/** @import { Colour, RecordNodeInput, RecordSetupInput } from "./messages.js" */
/** @import { Stone } from "./board/state.js" */

/**
 * @typedef {object} Node
 * @property {number} id unique on this page
 * @property {string | null} point null at the root and for a pass
 * @property {Colour | null} colour
 * @property {string} comment
 * @property {Node[]} children the first one is the main line
 * @property {Node | null} parent
 * @property {number} ply
 * @property {RecordSetupInput | null} setup stones added or removed without a move
 * @property {Pick<RecordNodeInput, "label" | "marks" | "blackWinrate" | "timeMs">} extra other fields of a record,
 *   preserved for export
 */

let nextId = 1;

/** @returns {Node} */
export function newRoot(/** @type {Node["setup"]} */ setup = null) {
	return { id: nextId++, point: null, colour: null, comment: "", children: [], parent: null, ply: 0, setup, extra: {} };
}

/**
 * Append a child as the last variation.
 * @param {Node} node
 * @param {{ point: string | null, colour: Node["colour"], comment?: string, setup?: Node["setup"], extra?: Node["extra"] }} step
 * @returns {Node}
 */
export function add(node, { point, colour, comment = "", setup = null, extra = {} }) {
	const child = {
		id: nextId++,
		point,
		colour,
		comment,
		children: [],
		parent: node,
		ply: node.ply + (colour ? 1 : 0),
		setup,
		extra,
	};
	node.children.push(child);
	return child;
}

/**
 * Return the child that plays `point`; append it as the last variation if it does not exist.
 * @param {Node} node
 * @param {string | null} point
 * @param {Colour} colour
 */
export function play(node, point, colour) {
	return (
		node.children.find((child) => child.point === point && child.colour === colour) ?? add(node, { point, colour })
	);
}

/** Return the nodes from the root to this node, inclusive. */
export function pathTo(/** @type {Node} */ node) {
	const path = [];
	for (let at = /** @type {Node | null} */ (node); at; at = at.parent) path.push(at);
	return path.reverse();
}

/** Return the line through a node: the path to it and its main continuation to the end. */
export function lineThrough(/** @type {Node} */ node) {
	const line = pathTo(node);
	for (let at = node.children[0]; at; at = at.children[0]) line.push(at);
	return line;
}

/** Return the node `steps` moves along the main continuation, or back if negative; stops at either end. */
export function step(/** @type {Node} */ node, /** @type {number} */ steps) {
	let at = node;
	for (let i = 0; i < Math.abs(steps); i += 1) {
		const next = steps > 0 ? at.children[0] : at.parent;
		if (!next) break;
		at = next;
	}
	return at;
}

/** Return the previous or next variation of the same move, wrapping around. */
export function sibling(/** @type {Node} */ node, /** @type {number} */ offset) {
	const all = node.parent?.children ?? [node];
	return all[(all.indexOf(node) + offset + all.length) % all.length] ?? node;
}

export function promote(/** @type {Node} */ node) {
	for (let at = node; at.parent; at = at.parent) {
		const { children } = at.parent;
		children.splice(children.indexOf(at), 1);
		children.unshift(at);
	}
}

/**
 * Remove a node and its subtree.
 * @returns {{ parent: Node | null, undo: () => void }} the parent, and a function that restores the node
 */
export function remove(/** @type {Node} */ node) {
	const { parent } = node;
	if (!parent) return { parent, undo: () => {} };
	const index = parent.children.indexOf(node);
	parent.children.splice(index, 1);
	return { parent, undo: () => parent.children.splice(index, 0, node) };
}

export function* walk(/** @type {Node} */ root) {
	const stack = [root];
	while (stack.length) {
		const node = /** @type {Node} */ (stack.pop());
		yield node;
		stack.push(...[...node.children].reverse());
	}
}

/**
 * Return the stones at a node, numbered by move.
 * @returns {Map<string, Stone>}
 */
export function stonesAt(/** @type {Node} */ node) {
	/** @type {Map<string, Stone>} */
	const stones = new Map();
	for (const at of pathTo(node)) {
		for (const point of at.setup?.empty ?? []) stones.delete(point);
		for (const colour of /** @type {const} */ (["black", "white"])) {
			for (const point of at.setup?.[colour] ?? []) stones.set(point, { point, colour });
		}
		if (at.point && at.colour) stones.set(at.point, { point: at.point, colour: at.colour, number: at.ply });
	}
	return stones;
}
