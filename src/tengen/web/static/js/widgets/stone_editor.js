/** Sets up a position stone by stone: a click places or removes a stone, and the form says whose turn it is. */

import { fill, h, keepingFocus } from "../dom.js";
import { t } from "../i18n.js";
import { button, segments } from "./fields.js";

/** @import { Colour } from "../messages.js" */
/** @import { Stone } from "../board/state.js" */

/** @typedef {{ stones: [Colour, string][], toMove: Colour }} SetUp */

export class StoneEditor {
	/** What a click places. @type {Colour | "empty"} */ tool = "black";

	/**
	 * @param {Iterable<Stone>} stones the stones to start from
	 * @param {Colour} toMove
	 * @param {{ onChange: () => void, onDone: (setUp: SetUp) => void, onCancel: () => void }} listeners
	 */
	constructor(stones, toMove, listeners) {
		/** @type {Map<string, Stone>} */
		this.stones = new Map([...stones].map(({ point, colour }) => [point, { point, colour }]));
		this.toMove = toMove;
		this.listeners = listeners;
		this.element = h("div", { class: "card stack stone-editor" });
		this.draw();
	}

	draw() {
		keepingFocus(this.element, () => this.fill());
	}

	fill() {
		const colours = /** @type {[string, string][]} */ ([
			["black", t("black")],
			["white", t("white")],
		]);
		const named = (/** @type {string} */ label, /** @type {HTMLElement} */ control) =>
			h("div", { class: "field" }, h("span", null, label), control);
		const { onDone, onCancel } = this.listeners;
		fill(
			this.element,
			h("h2", null, t("setup-stones")),
			h("p", { class: "soft small" }, t("setup-stones.help")),
			named(
				t("setup-stones.tool"),
				segments(t("setup-stones.tool"), [...colours, ["empty", t("setup-stones.remove")]], this.tool, (tool) => {
					this.tool = /** @type {Colour | "empty"} */ (tool);
					this.listeners.onChange();
				}),
			),
			named(
				t("setup-stones.to-move"),
				segments(t("setup-stones.to-move"), colours, this.toMove, (colour) => {
					this.toMove = /** @type {Colour} */ (colour);
				}),
			),
			h(
				"div",
				{ class: "buttons even" },
				button(t("setup-stones.done"), () => onDone(this.setUp()), { kind: "primary" }),
				button(t("setup-stones.clear"), () => {
					this.stones = new Map();
					this.listeners.onChange();
				}),
				button(t("cancel"), onCancel),
			),
		);
	}

	/** Handle a click on a point: the same stone is removed, any other is replaced. */
	pick(/** @type {string} */ point) {
		const stones = new Map(this.stones);
		if (this.tool === "empty" || stones.get(point)?.colour === this.tool) stones.delete(point);
		else stones.set(point, { point, colour: this.tool });
		this.stones = stones;
		this.listeners.onChange();
	}

	/** @returns {SetUp} */
	setUp() {
		return { stones: [...this.stones.values()].map(({ colour, point }) => [colour, point]), toMove: this.toMove };
	}

	/** Return what the board shows during the set-up. */
	boardState() {
		return {
			stones: this.stones,
			toPlay: this.tool === "empty" ? null : this.tool,
			lastMove: null,
			winningLine: [],
			fouls: [],
			candidates: [],
			preview: [],
			threats: [],
			heat: new Map(),
			marks: [],
		};
	}
}
