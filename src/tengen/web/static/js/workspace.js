/** The game being studied. The analysis and review pages share it, and this browser stores it between visits. */

import { positionInfo } from "./api.js";
import { debounce } from "./dom.js";
import { read, save } from "./settings.js";
import { add, lineThrough, newRoot, pathTo, play, stonesAt, walk } from "./tree.js";

/** @import { Colour, PositionInfo, RecordInput } from "./messages.js" */
/** @import { Node } from "./tree.js" */
/** @import { BoardState } from "./board/state.js" */

const DEFAULT_RULES = "15x15:5:freestyle";
const KEY = "tengen.study";
const MOST_KEPT_NODES = 3000;
const KEEP_AFTER_MS = 400;

export const other = (/** @type {Colour} */ colour) => /** @type {Colour} */ (colour === "black" ? "white" : "black");

/** Return the board size given at the start of a ruleset's text. */
export function sizeOf(/** @type {string} */ rules) {
	const [, width, height] = /^(\d+)(?:x(\d+))?/.exec(rules) ?? [null, "15", "15"];
	return { width: Number(width), height: Number(height ?? width) };
}

/**
 * @typedef {object} PositionFields a position in the form that the server accepts
 * @property {string} rules
 * @property {[Colour, string][]} [initialStones]
 * @property {Colour} [initialPlayer]
 * @property {string[]} moves
 */

const isFromStart = (/** @type {PositionFields} */ { initialStones = [], initialPlayer = "black" }) =>
	!initialStones.length && initialPlayer === "black";

/**
 * Convert a position to query parameters: the rules and moves, or the complete position if it has set-up stones.
 * @returns {Record<string, string>}
 */
export function queryOf(/** @type {PositionFields} */ position) {
	const { rules, initialStones = [], initialPlayer, moves } = position;
	if (isFromStart(position)) return { rules, moves: moves.join(",") };
	return { position: JSON.stringify({ rules, initialStones: [...initialStones].sort(), initialPlayer, moves }) };
}

/** Return the position given in query parameters; null if it is missing or invalid. @returns {PositionFields | null} */
export function positionIn(/** @type {URLSearchParams} */ query) {
	const rules = query.get("rules");
	if (rules) return { rules, moves: (query.get("moves") ?? "").split(",").filter(Boolean) };
	try {
		const found = JSON.parse(query.get("position") ?? "null");
		const stones = (found.initialStones ?? []).map((/** @type {[Colour, string]} */ [colour, point]) => [
			colour,
			String(point),
		]);
		const moves = (found.moves ?? []).map(String);
		return found.rules
			? { rules: String(found.rules), initialStones: stones, initialPlayer: found.initialPlayer, moves }
			: null;
	} catch {
		return null;
	}
}

/** @typedef {Omit<RecordInput, "rules" | "nodes">} Header */

class Workspace {
	rules = DEFAULT_RULES;
	root = newRoot();
	node = this.root;
	/** Player names and other header fields of a record. @type {Header} */
	header = {};
	/** The server's facts by node id. @type {Map<number, PositionInfo>} */
	facts = new Map();

	begin(/** @type {PositionFields} */ position) {
		const { rules, initialStones = [], initialPlayer = null, moves } = position;
		const stones = (/** @type {Colour} */ wanted) =>
			initialStones.filter(([colour]) => colour === wanted).map(([, point]) => point);
		this.rules = rules;
		this.root = newRoot(
			isFromStart(position)
				? null
				: { black: stones("black"), white: stones("white"), empty: [], currentPlayer: initialPlayer },
		);
		this.header = {};
		this.facts.clear();
		let colour = initialPlayer ?? "black";
		this.node = this.root;
		for (const point of moves) {
			this.node = play(this.node, point, colour);
			colour = other(colour);
		}
		this.keep();
	}

	load(/** @type {RecordInput} */ { rules = DEFAULT_RULES, nodes = [], ...header }) {
		this.rules = rules;
		this.header = header;
		this.facts.clear();
		/** @type {Node[]} */
		const made = [];
		for (const { parent = null, colour = null, move = null, setup = null, comment = "", ...extra } of nodes) {
			const above = parent === null ? undefined : made[parent];
			if (above) {
				made.push(add(above, { point: move, colour, comment, setup, extra }));
			} else {
				const root = newRoot(setup);
				root.comment = comment;
				root.extra = extra;
				// The root of a file may contain the first move.
				made.push(colour ? add(root, { point: move, colour }) : root);
				this.root = root;
			}
		}
		this.node = this.root;
		this.keep();
	}

	/** Convert the tree to a record for the server. @returns {RecordInput} */
	record() {
		/** @type {Map<Node, number>} */
		const places = new Map();
		const nodes = [...walk(this.root)].map((node, place) => {
			places.set(node, place);
			const { point, colour, setup, comment, extra, parent } = node;
			return { ...extra, parent: parent ? (places.get(parent) ?? null) : null, colour, move: point, setup, comment };
		});
		const header = Object.fromEntries(Object.entries(this.header).filter(([, value]) => value));
		return { ...header, rules: this.rules, nodes };
	}

	/** Store the tree in this browser after a short delay, unless it is too large. */
	keep = debounce(() => this.keepNow(), KEEP_AFTER_MS);

	keepNow() {
		let count = 0;
		for (const _ of walk(this.root)) if (++count > MOST_KEPT_NODES) return;
		save(KEY, { record: this.record(), place: [...walk(this.root)].indexOf(this.node) });
	}

	restore() {
		const kept = read(KEY, /** @type {{ record: RecordInput, place: number } | null} */ (null));
		if (!kept?.record?.nodes?.length) return;
		try {
			this.load(kept.record);
			this.node = [...walk(this.root)][kept.place] ?? this.root;
		} catch {
			this.begin({ rules: DEFAULT_RULES, moves: [] });
		}
	}

	/** Return a node's position for the server: its moves if the colours alternate, otherwise its stones. @returns {PositionFields} */
	position(/** @type {Node} */ node) {
		const path = pathTo(node);
		const setup = path[0]?.setup;
		const first = setup?.currentPlayer ?? null;
		const moves = path.slice(1);
		const isPlain = moves.every(
			(at, i) => at.point && !at.setup && (i === 0 ? true : at.colour !== moves[i - 1]?.colour),
		);
		const stones = /** @type {[Colour, string][]} */ (
			isPlain
				? [
						...(setup?.black ?? []).map((point) => ["black", point]),
						...(setup?.white ?? []).map((point) => ["white", point]),
					]
				: [...stonesAt(node).values()].map(({ colour, point }) => [colour, point])
		);
		const last = [...moves].reverse().find(({ colour }) => colour)?.colour;
		const next = isPlain ? (moves[0]?.colour ?? first) : (node.setup?.currentPlayer ?? (last ? other(last) : first));
		return {
			rules: this.rules,
			...(stones.length ? { initialStones: stones } : {}),
			...(next && (stones.length || next === "white") ? { initialPlayer: next } : {}),
			moves: isPlain ? moves.map(({ point }) => /** @type {string} */ (point)) : [],
		};
	}

	/** Return the side to move at a node. Until the facts arrive, assume that the colours alternate. @returns {Colour} */
	toMove(node = this.node) {
		return (
			this.facts.get(node.id)?.currentPlayer ??
			node.setup?.currentPlayer ??
			(node.colour ? other(node.colour) : "black")
		);
	}

	/** Return the facts of a node. They are requested only once. */
	async factsOf(/** @type {Node} */ node) {
		const known = this.facts.get(node.id);
		if (known) return known;
		const facts = await positionInfo({ ...this.position(node), includeThreats: true });
		this.facts.set(node.id, facts);
		return facts;
	}

	/** Convert a node to query parameters; null if it cannot be reached by moves alone. */
	query(node = this.node) {
		const position = this.position(node);
		return position.moves.length === pathTo(node).length - 1 ? queryOf(position) : null;
	}

	/** Return the node with a given position, or null if its moves do not lead to one. */
	find(/** @type {PositionFields} */ position) {
		let node = /** @type {Node | undefined} */ (this.root);
		for (const point of position.moves) node = node?.children.find((child) => child.point === point);
		const query = node && this.query(node);
		return query && JSON.stringify(query) === JSON.stringify(queryOf(position)) ? node : null;
	}

	mainLine() {
		return lineThrough(this.root);
	}

	lastNode() {
		return this.mainLine().at(-1) ?? this.root;
	}

	/** Return the board state for a node. @returns {Partial<BoardState>} */
	boardState(node = this.node) {
		const facts = this.facts.get(node.id);
		return {
			...sizeOf(this.rules),
			stones: stonesAt(node),
			lastMove: node.point,
			winningLine: facts?.winningLine ?? [],
			fouls: facts?.fouls.map((foul) => foul.point) ?? [],
			preview: [],
			hint: null,
			marks: labels(node),
			pending: null,
		};
	}
}

/** Return the point labels stored in a record. @returns {BoardState["marks"]} */
function labels(/** @type {Node} */ node) {
	return (node.extra.marks ?? [])
		.filter(({ kind }) => kind === "label")
		.map(({ point, text }) => ({ point, kind: "label", text: text ?? "" }));
}

export const workspace = new Workspace();
addEventListener("pagehide", () => workspace.keepNow());
