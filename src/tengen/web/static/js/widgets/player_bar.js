/** The bar of a player above or below the board: stone, name, activity, clock. */

import { fill, h } from "../dom.js";
import { t, translated } from "../i18n.js";

/** @import { Colour, GameState, LevelInfo } from "../messages.js" */
/** @typedef {NonNullable<GameState["players"]["proposer"]>} Player */

export function nameOf(/** @type {Player} */ player, /** @type {LevelInfo[]} */ levels) {
	if (player.kind === "person") return player.name;
	if (player.kind === "agent") return player.agent;
	const level = levels.find((each) => each.level === player.level);
	if (!level) return t("level.n", { level: player.level });
	const name = translated(level.name);
	if (player.isAdaptive) return t("level.adaptive", { name });
	return level.rating ? t("level.rated", { name, rating: level.rating }) : name;
}

/** Format a clock: 4:05, with tenths of a second below 20 s. */
export function clockText(/** @type {number} */ leftMs) {
	const seconds = leftMs / 1000;
	if (seconds < 20) return seconds.toFixed(1);
	const whole = Math.ceil(seconds);
	return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

export class PlayerBar {
	constructor(/** @type {Colour} */ colour) {
		this.name = h("strong", { class: "player-name" });
		this.doing = h("span", { class: "soft small player-doing" });
		this.clock = h("span", { class: "player-clock", role: "timer" });
		this.element = h(
			"div",
			{ class: "player", hidden: true },
			h("span", { class: `disc ${colour}`, role: "img", "aria-label": t(colour) }),
			this.name,
			this.doing,
			this.clock,
		);
	}

	/** @param {{ name: string, isTurn: boolean, isThinking: boolean, isWinner: boolean, isUnsettled: boolean }} what */
	show({ name, isTurn, isThinking, isWinner, isUnsettled }) {
		this.element.hidden = false;
		this.element.classList.toggle("is-turn", isTurn);
		this.element.classList.toggle("is-unsettled", isUnsettled);
		this.name.textContent = name;
		fill(
			this.doing,
			isThinking
				? h("span", { class: "dots", "aria-label": t("thinking") }, h("i"), h("i"), h("i"))
				: isWinner
					? t("winner")
					: "",
		);
	}

	showClock(/** @type {number | null} */ leftMs) {
		this.clock.hidden = leftMs === null;
		if (leftMs === null) return;
		const text = clockText(leftMs);
		if (this.clock.textContent !== text) this.clock.textContent = text;
		this.clock.classList.toggle("is-short", leftMs < 20000);
	}
}
