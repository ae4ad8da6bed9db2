/** The clickable moves of a game and its variations. Large trees are truncated, except for the current line. */

import { shownPoint } from "../board/points.js";
import { fill, h } from "../dom.js";
import { t } from "../i18n.js";
import { lineThrough } from "../tree.js";

/** @typedef {import("../tree.js").Node} Node */

const MAX_TOKENS = 900;
const MAX_DEPTH = 6;

export class MoveTree {
	/**
	 * @param {(node: Node) => void} onSelect
	 * @param {(node: Node) => string} [signOf] a CSS class for judged moves
	 */
	constructor(onSelect, signOf = () => "") {
		this.onSelect = onSelect;
		this.signOf = signOf;
		this.left = 0;
		this.element = h("div", { class: "moves", role: "group", "aria-label": t("moves") });
	}

	show(/** @type {Node} */ root, /** @type {Node} */ current) {
		this.current = current;
		this.onPath = new Set(lineThrough(current));
		this.left = MAX_TOKENS;
		const [first] = root.children;
		const start = h(
			"button",
			{
				type: "button",
				class: "move start",
				onclick: () => this.onSelect(root),
				"aria-current": root === current ? "true" : null,
			},
			t("start"),
		);
		fill(
			this.element,
			start,
			this.remark(root),
			first ? this.line(first, 0) : h("span", { class: "soft small" }, t("moves.none")),
		);
		const chosen = /** @type {HTMLElement | null} */ (this.element.querySelector("[aria-current]"));
		if (chosen) this.scrollTo(chosen);
	}

	/** Scroll the list, but never the page. */
	scrollTo(/** @type {HTMLElement} */ token) {
		const [top, bottom] = [
			token.offsetTop - this.element.offsetTop,
			token.offsetTop - this.element.offsetTop + token.offsetHeight,
		];
		if (top < this.element.scrollTop) this.element.scrollTop = top - 8;
		else if (bottom > this.element.scrollTop + this.element.clientHeight)
			this.element.scrollTop = bottom - this.element.clientHeight + 8;
	}

	/** A node and its main continuation; variations follow the move they replace. @returns {(HTMLElement | null)[]} */
	line(/** @type {Node} */ first, /** @type {number} */ depth) {
		const parts = [];
		for (let node = /** @type {Node | undefined} */ (first); node; node = node.children[0]) {
			if (this.left-- <= 0 && !this.onPath?.has(node)) {
				parts.push(h("span", { class: "soft" }, "…"));
				break;
			}
			parts.push(this.token(node), this.remark(node));
			if (node === first && depth > 0) continue;
			const others = node.parent?.children.slice(1) ?? [];
			if (others.length && node.parent?.children[0] === node) {
				const shown = depth < MAX_DEPTH ? others : others.filter((other) => this.onPath?.has(other));
				for (const other of shown) parts.push(h("div", { class: "variation" }, this.line(other, depth + 1)));
			}
		}
		return parts;
	}

	token(/** @type {Node} */ node) {
		return h(
			"button",
			{
				type: "button",
				class: `move ${node.colour ?? ""} ${this.signOf(node)}`,
				onclick: () => this.onSelect(node),
				"aria-current": node === this.current ? "true" : null,
			},
			h("span", { class: "move-number" }, node.ply),
			node.point ? shownPoint(node.point) : t("pass"),
		);
	}

	remark(/** @type {Node} */ node) {
		return node.comment ? h("p", { class: "remark" }, node.comment) : null;
	}
}
