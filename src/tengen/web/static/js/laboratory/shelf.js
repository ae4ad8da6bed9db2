/** The shipped networks and the reproduced papers of the laboratory, with their cards and results as pages. */

import { models, papers } from "../api.js";
import { h } from "../dom.js";
import { number, t } from "../i18n.js";
import { hashOf } from "../router.js";
import { markdown } from "../widgets/markdown.js";
import { agentButtons, damage, empty, heading } from "./parts.js";
import { ratingHelp } from "./runs.js";

/** @import { ModelInfo } from "../messages.js" */

const figureOf = (/** @type {string} */ kind, /** @type {string} */ name) => (/** @type {string} */ file) =>
	/^[\w.-]+\.(svg|png)$/.test(file) ? `/api/${kind}/${encodeURIComponent(name)}/figures/${file}` : null;

/** Remove the title, which the heading of the page already shows. */
const withoutTitle = (/** @type {string} */ text) => text.replace(/^# .*\n/, "");

export async function showModels() {
	const found = await models();
	if (!found.length) return [empty("lab.no-models", "tengen train")];
	return [h("div", { class: "cards wide" }, found.map(modelCard))];
}

function modelCard(/** @type {ModelInfo} */ model) {
	const made = [
		model.algorithm,
		model.rules,
		t("lab.weights", { weights: number(model.weights) }),
		t("lab.kilobytes", { kilobytes: number(Math.round(model.bytes / 1000)) }),
	];
	const learnt = [
		t("lab.games", { games: number(model.games) }),
		t("lab.cpu-minutes", { minutes: number(Math.round(model.cpuMinutes)) }),
		model.elo === null ? null : t("lab.elo", { elo: Math.round(model.elo), error: Math.round(model.eloError ?? 0) }),
	];
	const matches = model.matches.map((match) =>
		h(
			"tr",
			null,
			h("td", null, match.against, h("div", { class: "soft small" }, match.conditions)),
			h("td", { class: "num" }, match.games),
			h("td", { class: "num" }, match.wins),
			h("td", { class: "num" }, match.draws),
			h("td", { class: "num" }, match.losses),
		),
	);
	return h(
		"div",
		{ class: "card" },
		h("h3", null, model.name),
		h("p", { class: "soft small" }, made.filter(Boolean).join(" · ")),
		h("p", { class: "small" }, learnt.filter(Boolean).join(" · ")),
		damage(model.problem),
		model.agent ? agentButtons(model.agent, model.rules) : null,
		matches.length
			? h(
					"div",
					{ class: "scroll" },
					h(
						"table",
						{ class: "small" },
						h(
							"thead",
							null,
							h(
								"tr",
								null,
								["against", "games-played", "won", "drawn", "lost"].map((name, i) =>
									h("th", { scope: "col", class: i ? "num" : "" }, t(`lab.${name}`)),
								),
							),
						),
						h("tbody", null, matches),
					),
				)
			: null,
		model.card
			? h("a", { class: "button", href: hashOf(`laboratory/models/${encodeURIComponent(model.name)}`) }, t("lab.card"))
			: null,
	);
}

export async function showModel(/** @type {string} */ name) {
	const model = (await models()).find((each) => each.name === name);
	if (!model) return [heading("models", name, false), h("p", { class: "empty" }, t("lab.no-model", { name }))];
	return [
		heading("models", name, false),
		damage(model.problem),
		model.agent ? agentButtons(model.agent, model.rules) : null,
		ratingHelp(),
		h("article", { class: "card document" }, markdown(withoutTitle(model.card), figureOf("models", name))),
	];
}

export async function showPapers() {
	const found = await papers();
	if (!found.length) return [empty("lab.no-papers", "tengen paper NAME")];
	const cards = found.map((paper) =>
		h(
			"a",
			{ class: "card link", href: hashOf(`laboratory/papers/${encodeURIComponent(paper.name)}`) },
			h("h3", null, paper.title || paper.name),
			h("p", { class: "soft small" }, paper.source),
		),
	);
	return [h("div", { class: "cards wide" }, cards)];
}

export async function showPaper(/** @type {string} */ name) {
	const paper = (await papers()).find((each) => each.name === name);
	if (!paper) return [heading("papers", name, false), h("p", { class: "empty" }, t("lab.no-paper", { name }))];
	const figure = figureOf("papers", name);
	return [
		heading("papers", paper.title || name, false),
		h("article", { class: "card document" }, markdown(withoutTitle(paper.readme), figure)),
		...paper.documents.map((each) => h("article", { class: "card document scroll" }, markdown(each.text, figure))),
		...paper.figures.map((file) =>
			h(
				"figure",
				{ class: "card document" },
				h("img", { src: figure(file), alt: file, loading: "lazy" }),
				h("figcaption", { class: "soft small" }, file),
			),
		),
	];
}
