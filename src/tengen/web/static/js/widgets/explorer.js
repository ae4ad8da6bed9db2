/** The opening explorer: what was played in a position in the shipped games and in the games of this browser, and how
 *  those games ended. */

import { exploreOpening } from "../api.js";
import { shownPoint } from "../board/points.js";
import { debounce, fill, h } from "../dom.js";
import { number, t } from "../i18n.js";
import { change, settings } from "../settings.js";

/** @import { ExplorerMove } from "../messages.js" */
/** @typedef {import("../workspace.js").PositionFields} PositionFields */

/** Delay before a request, so that stepping quickly through a game does not send one for every position. */
const ASK_AFTER_MS = 120;

export class Explorer {
	/** The newest position to be shown. @type {PositionFields | null} */ position = null;

	constructor(/** @type {(move: string) => void} */ onPlay) {
		this.onPlay = onPlay;
		this.body = h("div");
		this.element = h(
			"details",
			{
				class: "card explorer",
				open: settings.showExplorer,
				ontoggle: () => {
					if (this.element.open === settings.showExplorer) return;
					change({ showExplorer: this.element.open });
					if (this.position) this.show(this.position);
				},
			},
			h("summary", null, h("h2", null, t("explorer"))),
			this.body,
		);
		this.ask = debounce((/** @type {PositionFields} */ position) => this.load(position), ASK_AFTER_MS);
	}

	/** Show what was played in a position, if the explorer is open. */
	show(/** @type {PositionFields} */ position) {
		this.position = position;
		if (settings.showExplorer) this.ask(position);
	}

	async load(/** @type {PositionFields} */ position) {
		try {
			const { moves, shippedGames } = await exploreOpening(position);
			if (position === this.position) this.draw(moves, shippedGames);
		} catch {
			// An impossible position is reported by the page itself.
			if (position === this.position) this.draw([], 0);
		}
	}

	draw(/** @type {ExplorerMove[]} */ moves, /** @type {number} */ shippedGames) {
		const column = (/** @type {string} */ key) => h("th", { scope: "col", class: "num" }, t(`explorer.${key}`));
		fill(
			this.body,
			moves.length
				? h(
						"table",
						{ class: "small" },
						h(
							"thead",
							null,
							h(
								"tr",
								null,
								h("th", { scope: "col" }, t("column.move")),
								column("games"),
								column("black"),
								column("mine"),
							),
						),
						h(
							"tbody",
							null,
							moves.map((move) => this.row(move)),
						),
					)
				: h("p", { class: "soft small" }, t("explorer.none")),
			h("p", { class: "soft small" }, t("explorer.source", { games: number(shippedGames) })),
		);
	}

	row(/** @type {ExplorerMove} */ { move, shipped, mine }) {
		const results = (/** @type {ExplorerMove["shipped"]} */ { games, blackWins, draws }) =>
			games ? `${Math.round((100 * (blackWins + draws / 2)) / games)}%` : "–";
		return h(
			"tr",
			null,
			h(
				"th",
				{ scope: "row" },
				h(
					"button",
					{ type: "button", class: "button bare line-move", onclick: () => this.onPlay(move) },
					shownPoint(move),
				),
			),
			h("td", { class: "num" }, shipped.games || "–"),
			h("td", { class: "num" }, results(shipped)),
			h("td", { class: "num" }, mine.games ? `${mine.games} · ${results(mine)}` : "–"),
		);
	}
}
