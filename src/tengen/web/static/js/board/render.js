/** Draws a board state as SVG, with a grid of cells on top for pointers, keys and screen readers.
 *  Stones are cached by point, so only changed ones are updated; the other layers are small and redrawn completely. */

import { fill, h, svg } from "../dom.js";
import { t } from "../i18n.js";
import { nameOf, starPoints, xyOf } from "./points.js";

/** @import { Colour } from "../messages.js" */
/** @import { BoardState, Stone } from "./state.js" */

/** Distance between two lines, in units of the drawing. */
export const CELL = 40;
const RADIUS = 0.47 * CELL;
/** The lowest policy probability that can be drawn in full colour. */
const FULL_HEAT = 0.1;
/** A candidate that loses at least this share of the winning chances is drawn in red. */
const MOST_LOSS = 0.3;
let boards = 0;

/** Margin between the edge of the picture and the first line, in cells. */
const marginOf = (/** @type {BoardState} */ state) => (state.coordinates ? 1.02 : 0.72);

export function createView(/** @type {HTMLElement} */ container) {
	const id = `board${++boards}`;
	const layer = (/** @type {string} */ name) => svg("g", { class: `layer-${name}` });
	// Later layers cover earlier ones.
	const layers = {
		lines: layer("lines"),
		heat: layer("heat"),
		threats: layer("threats"),
		shadows: layer("shadows"),
		stones: layer("stones"),
		overlay: layer("overlay"),
		preview: layer("preview"),
		marks: layer("marks"),
		cursor: layer("cursor"),
	};
	const picture = svg("svg", { class: "board-svg", "aria-hidden": "true" }, stoneDefs(id), Object.values(layers));
	const grid = h("div", { class: "board-grid", role: "grid", tabIndex: 0 });
	fill(container, h("div", { class: "board-wood" }), picture, grid);
	container.classList.add("board");
	return {
		id,
		container,
		picture,
		layers,
		grid,
		/** @type {Map<string, HTMLElement>} */ cells: new Map(),
		/** @type {Map<string, DrawnStone>} */ stones: new Map(),
		shape: "",
	};
}

/** @typedef {{ colour: Colour, stone: SVGElement, shadow: SVGElement, shape: string }} DrawnStone */
/** @typedef {ReturnType<typeof createView>} View */

/** Gradients for slate and shell stones. The `id` prefix keeps boards on the same page apart. */
function stoneDefs(/** @type {string} */ id) {
	const stops = (/** @type {[number, string, number?][]} */ list) =>
		list.map(([offset, colour, opacity]) => svg("stop", { offset, "stop-color": colour, "stop-opacity": opacity }));
	return svg(
		"defs",
		{},
		svg(
			"radialGradient",
			{ id: `${id}-black`, cx: 0.36, cy: 0.3, r: 0.75 },
			stops([
				[0, "#77716b"],
				[0.28, "#3d3936"],
				[0.7, "#1b1918"],
				[1, "#0b0a0a"],
			]),
		),
		svg(
			"radialGradient",
			{ id: `${id}-white`, cx: 0.36, cy: 0.3, r: 0.8 },
			stops([
				[0, "#ffffff"],
				[0.45, "#f8f5ee"],
				[0.8, "#e3dccf"],
				[1, "#bfb5a4"],
			]),
		),
		svg(
			"radialGradient",
			{ id: `${id}-shadow` },
			stops([
				[0.55, "#1a0f05", 0.5],
				[0.85, "#1a0f05", 0.22],
				[1, "#1a0f05", 0],
			]),
		),
	);
}

/**
 * The layers that are redrawn completely, each with the state keys it depends on.
 * @type {[name: keyof View["layers"], keys: (keyof BoardState)[], draw: (view: View, state: BoardState) => (Element | null)[]][]}
 */
const LAYERS = [
	["heat", ["heat"], (_, state) => heat(state)],
	["threats", ["threats"], (_, state) => threats(state)],
	[
		"overlay",
		["stones", "winningLine", "lastMove", "numbers"],
		(_, state) => [...winningLine(state), lastMove(state), ...numbers(state)],
	],
	["preview", ["stones", "preview"], preview],
	[
		"marks",
		["stones", "fouls", "candidates", "heat", "marks", "hint"],
		(_, state) => [...fouls(state), ...candidates(state), ...marks(state)],
	],
	[
		"cursor",
		["stones", "toPlay", "hover", "pending", "cursor", "cursorShown"],
		(view, state) => [...ghost(view, state), ...cursor(state)],
	],
];

/** The state keys that affect the labels of the cells. @type {(keyof BoardState)[]} */
const LABELLED = ["stones", "lastMove", "pending", "fouls", "cursor", "cursorShown"];

/**
 * Update the drawing to match the state.
 * @param {View} view
 * @param {BoardState} state
 * @param {Set<string>} [changed] the state keys that changed since the last call; if omitted, everything is redrawn
 */
export function render(view, state, changed) {
	const shape = `${state.width}x${state.height}:${state.coordinates}`;
	const isReshaped = shape !== view.shape;
	if (isReshaped) {
		drawLines(view, state);
		buildCells(view, state);
		view.shape = shape;
	}
	const touches = (/** @type {string[]} */ keys) => isReshaped || !changed || keys.some((key) => changed.has(key));
	if (touches(["stones"])) drawStones(view, state);
	for (const [name, keys, draw] of LAYERS) {
		if (touches(keys)) fill(view.layers[name], draw(view, state));
	}
	if (touches(["toPlay"])) view.container.classList.toggle("is-playable", state.toPlay !== null);
	if (touches(LABELLED)) labelCells(view, state);
}

/** @returns {[number, number]} the centre of a point in the drawing */
function at(/** @type {BoardState} */ state, /** @type {string} */ point) {
	const [x, y] = xyOf(point);
	return [x * CELL, (state.height - 1 - y) * CELL];
}

function drawLines(/** @type {View} */ view, /** @type {BoardState} */ state) {
	const { width, height } = state;
	const margin = marginOf(state) * CELL;
	const [right, bottom] = [(width - 1) * CELL, (height - 1) * CELL];
	view.picture.setAttribute("viewBox", `${-margin} ${-margin} ${right + 2 * margin} ${bottom + 2 * margin}`);
	view.container.style.setProperty("--board-ratio", String((right + 2 * margin) / (bottom + 2 * margin)));
	const line = (/** @type {number[]} */ [x1, y1, x2, y2]) => svg("line", { x1, y1, x2, y2 });
	const columns = Array.from({ length: width }, (_, x) => line([x * CELL, 0, x * CELL, bottom]));
	const rows = Array.from({ length: height }, (_, y) => line([0, y * CELL, right, y * CELL]));
	const edge = svg("rect", { class: "edge", x: 0, y: 0, width: right, height: bottom });
	const stars = starPoints(width, height).map((point) => {
		const [cx, cy] = at(state, point);
		return svg("circle", { class: "star", cx, cy, r: 3.6 });
	});
	const names = [];
	if (state.coordinates) {
		const text = (/** @type {number} */ x, /** @type {number} */ y, /** @type {string} */ label) =>
			svg("text", { class: "coordinate", x, y }, label);
		for (let x = 0; x < width; x += 1)
			names.push(
				text(
					x * CELL,
					bottom + 0.66 * CELL,
					state.coordinates === "numbers" ? String(x + 1) : nameOf(x, 0).charAt(0).toUpperCase(),
				),
			);
		for (let y = 0; y < height; y += 1) names.push(text(-0.66 * CELL, (height - 1 - y) * CELL, String(y + 1)));
	}
	fill(view.layers.lines, columns, rows, edge, stars, names);
}

/** Build the cells for clicks and screen readers, row by row from the top. */
function buildCells(/** @type {View} */ view, /** @type {BoardState} */ state) {
	const margin = marginOf(state) - 0.5;
	const [across, down] = [state.width + 2 * margin, state.height + 2 * margin];
	view.grid.style.inset = `${(100 * margin) / down}% ${(100 * margin) / across}%`;
	view.grid.setAttribute("aria-label", t("board.label", { width: state.width, height: state.height }));
	view.cells.clear();
	const rows = [];
	for (let y = state.height - 1; y >= 0; y -= 1) {
		const cells = [];
		for (let x = 0; x < state.width; x += 1) {
			const point = nameOf(x, y);
			const cell = h("div", { class: "cell", role: "gridcell", id: `${view.id}-${point}`, dataset: { point } });
			view.cells.set(point, cell);
			cells.push(cell);
		}
		rows.push(h("div", { class: "row", role: "row" }, cells));
	}
	fill(view.grid, rows);
}

function labelCells(/** @type {View} */ view, /** @type {BoardState} */ state) {
	for (const [point, cell] of view.cells) {
		const label = describe(state, point);
		if (cell.ariaLabel !== label) cell.ariaLabel = label;
	}
	if (state.cursorShown) view.grid.setAttribute("aria-activedescendant", `${view.id}-${state.cursor}`);
	else view.grid.removeAttribute("aria-activedescendant");
}

/** Describe a point in words: "H8, black stone, last move". */
export function describe(/** @type {BoardState} */ state, /** @type {string} */ point) {
	const stone = state.stones.get(point);
	const parts = [point.toUpperCase(), stone ? t(`board.${stone.colour}-stone`) : t("board.empty")];
	if (point === state.lastMove) parts.push(t("board.last-move"));
	if (point === state.pending) parts.push(t("board.pending"));
	if (state.fouls.includes(point)) parts.push(t("board.forbidden"));
	return parts.join(", ");
}

function drawStones(/** @type {View} */ view, /** @type {BoardState} */ state) {
	for (const [point, drawn] of view.stones) {
		if (state.stones.get(point)?.colour === drawn.colour && drawn.shape === view.shape) continue;
		drawn.stone.remove();
		drawn.shadow.remove();
		view.stones.delete(point);
	}
	for (const [point, { colour }] of state.stones) {
		if (view.stones.has(point)) continue;
		const [cx, cy] = at(state, point);
		const shadow = svg("circle", { cx: cx + 1.6, cy: cy + 3, r: RADIUS + 2.6, fill: `url(#${view.id}-shadow)` });
		const stone = svg("circle", { class: `stone ${colour}`, cx, cy, r: RADIUS, fill: `url(#${view.id}-${colour})` });
		view.layers.shadows.append(shadow);
		view.layers.stones.append(stone);
		view.stones.set(point, { colour, stone, shadow, shape: view.shape });
	}
}

function lastMove(/** @type {BoardState} */ state) {
	if (!state.lastMove || state.numbers === "all" || !state.stones.has(state.lastMove)) return null;
	const [cx, cy] = at(state, state.lastMove);
	return svg("circle", { class: "last-move", cx, cy, r: state.numbers === "last" ? RADIUS - 1.5 : 5 });
}

function numbers(/** @type {BoardState} */ state) {
	if (state.numbers === "off") return [];
	return [...state.stones.values()]
		.filter((stone) => stone.number !== undefined && (state.numbers === "all" || stone.point === state.lastMove))
		.map((stone) => number(state, stone, stone.point === state.lastMove ? " is-last" : ""));
}

function number(/** @type {BoardState} */ state, /** @type {Stone} */ stone, extra = "") {
	const [x, y] = at(state, stone.point);
	return svg("text", { class: `number on-${stone.colour}${extra}`, x, y }, stone.number);
}

function winningLine(/** @type {BoardState} */ state) {
	const sorted = [...state.winningLine].sort((a, b) => xyOf(a)[0] - xyOf(b)[0] || xyOf(a)[1] - xyOf(b)[1]);
	const [first, last] = [sorted[0], sorted.at(-1)];
	if (!first || !last || first === last) return [];
	const [x1, y1] = at(state, first);
	const [x2, y2] = at(state, last);
	const rings = state.winningLine.map((point) => {
		const [cx, cy] = at(state, point);
		return svg("circle", { class: "winning-stone", cx, cy, r: RADIUS });
	});
	return [svg("line", { class: "winning-line", x1, y1, x2, y2, pathLength: 1 }), ...rings];
}

function fouls(/** @type {BoardState} */ state) {
	return state.fouls.map((point) => {
		const [x, y] = at(state, point);
		return svg("path", { class: "foul", d: `M${x - 6} ${y - 6}l12 12m0 -12l-12 12` });
	});
}

function heat(/** @type {BoardState} */ state) {
	// A nearly uniform policy stays pale: only a probability of at least FULL_HEAT is drawn in full colour.
	const largest = Math.max(...state.heat.values(), FULL_HEAT);
	return [...state.heat]
		.filter(([, value]) => value > largest / 100)
		.map(([point, value]) => {
			const [x, y] = at(state, point);
			const opacity = 0.04 + 0.71 * Math.sqrt(value / largest);
			return svg("rect", { class: "heat", x: x - CELL / 2, y: y - CELL / 2, width: CELL, height: CELL, opacity });
		});
}

function threats(/** @type {BoardState} */ state) {
	return state.threats.flatMap((threat) => {
		const kind = threat.kind.includes("four") || threat.kind === "five" ? "four" : "three";
		const path = threat.points.map((point, i) => `${i ? "L" : "M"}${at(state, point).join(" ")}`).join("");
		const answers = threat.answers.map((point) => {
			const [x, y] = at(state, point);
			return svg("rect", {
				class: `threat-answer ${kind}`,
				x: x - 7,
				y: y - 7,
				width: 14,
				height: 14,
				transform: `rotate(45 ${x} ${y})`,
			});
		});
		return [svg("path", { class: `threat ${kind} ${threat.colour}`, d: path }), ...answers];
	});
}

/** Return the colour of a candidate by the winning chances that it loses: green for the best move, then ochre, then red. */
export function lossColour(/** @type {number} */ loss) {
	const share = Math.min(1, loss / MOST_LOSS);
	return `hsl(${Math.round(158 - 150 * Math.sqrt(share))} 50% 36%)`;
}

function candidates(/** @type {BoardState} */ state) {
	return state.candidates
		.filter(({ point }) => !state.stones.has(point))
		.map((candidate) => {
			const [x, y] = at(state, candidate.point);
			// A heat map stays visible around a smaller disc.
			const r = state.heat.size ? 0.36 * CELL : RADIUS - 0.5;
			const disc = svg("circle", { cx: x, cy: y, r, fill: lossColour(candidate.loss) });
			const text = svg(
				"text",
				{ class: `candidate-value${candidate.text.length > 2 ? " is-long" : ""}`, x, y: candidate.detail ? y - 4 : y },
				candidate.text,
			);
			const detail = candidate.detail
				? svg("text", { class: "candidate-detail", x, y: y + 9 }, candidate.detail)
				: null;
			const names = [
				"candidate",
				candidate.best && "is-best",
				candidate.second && "is-second",
				candidate.isUnsure && "is-unsure",
				state.heat.size && "is-small",
			].filter(Boolean);
			return svg("g", { class: names.join(" ") }, disc, text, detail);
		});
}

function preview(/** @type {View} */ view, /** @type {BoardState} */ state) {
	return state.preview
		.filter(({ point }) => !state.stones.has(point))
		.map((stone) => {
			const [cx, cy] = at(state, stone.point);
			return svg(
				"g",
				{ class: "preview" },
				svg("circle", { cx, cy, r: RADIUS, fill: `url(#${view.id}-${stone.colour})` }),
				number(state, stone),
			);
		});
}

function marks(/** @type {BoardState} */ state) {
	const signs = state.marks.map(({ point, kind, text }) => {
		const [x, y] = at(state, point);
		if (kind === "label") return svg("text", { class: "label", x, y }, (text ?? "").slice(0, 4));
		return svg("circle", { class: `mark ${kind}`, cx: x, cy: y, r: RADIUS + 2 });
	});
	if (state.hint) {
		const [cx, cy] = at(state, state.hint);
		signs.push(svg("circle", { class: "hint", cx, cy, r: RADIUS }));
	}
	return signs;
}

function ghost(/** @type {View} */ view, /** @type {BoardState} */ state) {
	const point = state.pending ?? state.hover;
	if (!point || !state.toPlay || state.stones.has(point)) return [];
	const [cx, cy] = at(state, point);
	const stone = svg("circle", {
		class: state.pending ? "pending" : "ghost",
		cx,
		cy,
		r: RADIUS,
		fill: `url(#${view.id}-${state.toPlay})`,
	});
	if (!state.pending) return [stone];
	const [right, bottom] = [(state.width - 1) * CELL, (state.height - 1) * CELL];
	const guides = svg("path", { class: "guide", d: `M0 ${cy}H${right}M${cx} 0V${bottom}` });
	return [guides, stone, svg("circle", { class: "pending-ring", cx, cy, r: RADIUS + 4 })];
}

function cursor(/** @type {BoardState} */ state) {
	if (!state.cursorShown) return [];
	const [x, y] = at(state, state.cursor);
	const [far, near] = [0.5 * CELL, 0.22 * CELL];
	const corner = (/** @type {number} */ sx, /** @type {number} */ sy) =>
		`M${x + sx * near} ${y + sy * far}h${sx * (far - near)}v${-sy * (far - near)}`;
	return [svg("path", { class: "cursor", d: corner(1, 1) + corner(1, -1) + corner(-1, 1) + corner(-1, -1) })];
}
