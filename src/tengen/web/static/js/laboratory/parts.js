/** Parts that the pages of the laboratory share. */

import { h } from "../dom.js";
import { number, t, translated } from "../i18n.js";
import { notifyError } from "../notice.js";
import { go, hashOf } from "../router.js";
import { change } from "../settings.js";
import { button, choice, field } from "../widgets/fields.js";
import { workspace } from "../workspace.js";

/** @import { RecordOutput, TableInfo } from "../messages.js" */

export const CARDS_PER_PAGE = 100;

export const when = (/** @type {string} */ text) => {
	const date = new Date(text);
	return Number.isNaN(date.getTime())
		? text
		: date.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
};

export const live = (/** @type {boolean} */ isLive) => (isLive ? h("span", { class: "live" }, t("live")) : null);
export const empty = (/** @type {string} */ key, /** @type {string} */ command) =>
	h("div", { class: "empty" }, h("p", null, t(key)), h("code", null, command));

export function study(/** @type {RecordOutput} */ record) {
	workspace.load(record);
	workspace.node = workspace.lastNode();
	workspace.keep();
	go("analyse");
}

/** Create a table of a report. The first `left` columns contain text, the others numbers. */
export function reportTable(/** @type {TableInfo} */ { title, columns, rows, note, left }) {
	const kind = (/** @type {number} */ i) => (i < left ? "" : "num");
	return h(
		"div",
		{ class: "card scroll" },
		h(
			"table",
			null,
			h("caption", null, translated(title)),
			h(
				"thead",
				null,
				h(
					"tr",
					null,
					columns.map((name, i) => h("th", { scope: "col", class: kind(i) }, translated(name))),
				),
			),
			h(
				"tbody",
				null,
				rows.map((row) =>
					h(
						"tr",
						null,
						row.map((cell, i) => h("td", { class: kind(i) }, /^[a-z]/.test(cell) ? translated(cell) : cell)),
					),
				),
			),
		),
		note ? h("p", { class: "soft small" }, translated(note)) : null,
	);
}

export const damage = (/** @type {string | null} */ problem) =>
	problem ? h("p", { class: "damaged small" }, t("lab.damaged", { problem: translated(problem) })) : null;

/**
 * Create a list of cards, newest first, with a button that loads more.
 * @template T
 * @param {T[]} found
 * @param {number} total
 * @param {(each: T) => HTMLElement} card
 * @param {(offset: number) => Promise<T[]>} load
 */
export function cardList(found, total, card, load) {
	const cards = h("div", { class: "cards" }, found.map(card));
	let shown = found.length;
	const note = h("span", { class: "soft small" });
	const more = button(t("more"), async () => {
		try {
			const next = await load(shown);
			cards.append(...next.map(card));
			shown += next.length;
			update();
		} catch (error) {
			notifyError(error);
		}
	});
	const rest = h("div", { class: "row-start" }, more, note);
	const update = () => {
		rest.hidden = shown >= total;
		note.textContent = t("lab.newest-of", { shown: number(shown), total: number(total) });
	};
	update();
	return [cards, rest];
}

export function heading(/** @type {string} */ section, /** @type {string} */ title, /** @type {boolean} */ isLive) {
	return h(
		"div",
		{ class: "row-start" },
		h("a", { class: "button bare", href: hashOf(`laboratory/${section}`), "aria-label": t("back") }, "←"),
		h("h2", null, title),
		live(isLive),
	);
}

/** A duration in words: seconds, minutes, or hours and minutes. */
export function duration(/** @type {number} */ seconds) {
	const minutes = Math.round(seconds / 60);
	if (seconds < 90) return t("lab.seconds", { count: Math.round(seconds) });
	if (minutes < 90) return t("lab.minutes", { count: minutes });
	return t("lab.hours", { hours: Math.floor(minutes / 60), minutes: minutes % 60 });
}

export const timeLeft = (/** @type {number | null} */ seconds) =>
	seconds === null ? null : t("lab.left", { time: duration(seconds) });

/**
 * Create the buttons for playing against a network and for analysing with it. With `milestones`, a list chooses the
 * iteration whose network plays.
 * @param {string} agent
 * @param {string} rules
 * @param {number[]} [milestones]
 */
export function agentButtons(agent, rules, milestones = []) {
	let chosen = agent;
	const options = /** @type {[string, string][]} */ ([
		[agent, t("lab.newest")],
		...milestones.map((each) => [`${agent},iteration=${each}`, number(each)]),
	]);
	return h(
		"div",
		{ class: "buttons" },
		milestones.length
			? field(
					t("lab.iteration"),
					choice(options, agent, (value) => (chosen = value)),
				)
			: null,
		button(t("lab.play-against"), () => go("play/new", { agent: chosen, rules }), { icon: "play", kind: "primary" }),
		button(
			t("lab.analyse-with"),
			() => {
				change({ engine: chosen });
				go("analyse", { rules });
			},
			{ icon: "analyse" },
		),
	);
}
