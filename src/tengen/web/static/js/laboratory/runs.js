/** The training runs of the laboratory: the list, and one run with its curves, networks and games. */

import { operations, run, runGame, runs } from "../api.js";
import { h } from "../dom.js";
import { number, t } from "../i18n.js";
import { notifyError } from "../notice.js";
import { hashOf } from "../router.js";
import { chart } from "../widgets/chart.js";
import { button } from "../widgets/fields.js";
import { operationPanel, startingPage, startLink } from "./operate.js";
import {
	agentButtons,
	CARDS_PER_PAGE,
	cardList,
	damage,
	empty,
	heading,
	live,
	study,
	timeLeft,
	when,
} from "./parts.js";

/** @import { RunDetail, RunSummary, Series } from "../messages.js" */

/** Series without a curve: the step counter, and the strength, which has its own chart. */
const NO_CURVES = /^(iteration$|strength\.)/;
/** The number of curves shown by default. Losses come first; the rest is collapsed. */
const CURVES_SHOWN = 7;

/** The label of a vertical axis: the unit of its series; empty if it has none. */
export function unitOf(/** @type {string} */ series) {
	if (/seconds$/.test(series)) return t("lab.unit-seconds");
	if (/(^|\.)(games|positions)$/.test(series)) return t("lab.unit-count");
	return /^loss/.test(series) ? t("lab.unit-loss") : "";
}

const progressOf = (/** @type {RunSummary} */ each) =>
	h("progress", { value: each.fraction, max: 1, "aria-label": t("lab.progress-of-run") });

const runCard = (/** @type {RunSummary} */ each) =>
	h(
		"a",
		{ class: "card link", href: hashOf(`laboratory/runs/${encodeURIComponent(each.name)}`) },
		h("div", { class: "row-between" }, h("h3", null, each.name), live(each.isLive)),
		h("p", { class: "soft small" }, [each.algorithm, each.rules].filter(Boolean).join(" · ")),
		each.state === "finished" ? null : progressOf(each),
		h(
			"p",
			{ class: "small" },
			[
				t("lab.steps", { steps: number(each.steps) }),
				each.games ? t("lab.games", { games: number(each.games) }) : null,
				each.isLive ? timeLeft(each.secondsLeft) : t(`lab.state.${each.state}`),
			]
				.filter(Boolean)
				.join(" · "),
		),
		damage(each.problem),
		h("p", { class: "soft small" }, when(each.updatedAt)),
	);

export async function showRuns() {
	const [found, operating] = await Promise.all([runs(CARDS_PER_PAGE, 0), operations()]);
	const tools = h(
		"div",
		{ class: "row-start" },
		startLink(operating, "start", t("lab.start-training")),
		found.total ? h("a", { class: "button", href: hashOf("laboratory/compare") }, t("lab.compare")) : null,
	);
	if (!found.total) return [tools, empty("lab.no-runs", "tengen train alphazero --preset 6x6x4")];
	const load = async (/** @type {number} */ offset) => (await runs(CARDS_PER_PAGE, offset)).runs;
	return [tools, ...cardList(found.runs, found.total, runCard, load)];
}

/** Games per second, if a run reports both games and seconds. */
const speedOf = (/** @type {Record<string, number>} */ { games, seconds }) =>
	games && seconds ? t("lab.speed", { speed: (games / seconds).toPrecision(2) }) : null;

/** The measured ratings of a run as dots with error bars. */
export const strengthOf = (/** @type {RunDetail} */ detail) =>
	detail.strength.map(({ step, elo, low, high }) => ({ x: step, y: elo, low, high }));

const dotsOf = (/** @type {Series} */ { steps, values }) => steps.map((x, i) => ({ x, y: values[i] ?? NaN }));

export async function showRun(/** @type {string} */ name) {
	const operating = await operations();
	const starting = startingPage(operating, "training", name);
	if (starting) return starting;
	const detail = await run(name);
	const { summary } = detail;
	const x = t("lab.axis-iteration");
	const replay = async (/** @type {string} */ file) => study((await runGame(name, file)).record);
	const isLoss = (/** @type {Series} */ series) => series.name.startsWith("loss");
	const curved = detail.series.filter((series) => !NO_CURVES.test(series.name));
	const curves = [...curved.filter(isLoss), ...curved.filter((series) => !isLoss(series))].map((series) =>
		h("div", { class: "card" }, chart(series.name, [{ dots: dotsOf(series) }], { x, y: unitOf(series.name) })),
	);
	const facts = [
		summary.algorithm,
		summary.rules,
		t("lab.steps", { steps: number(summary.steps) }),
		speedOf(summary.last),
		summary.isLive ? timeLeft(summary.secondsLeft) : t(`lab.state.${summary.state}`),
	];
	const networks = summary.milestones.length;
	return [
		heading("runs", summary.name, summary.isLive),
		h("p", { class: "soft" }, facts.filter(Boolean).join(" · ")),
		summary.state === "finished" ? null : progressOf(summary),
		damage(summary.problem),
		operationPanel(operating, "training", summary.name, summary),
		summary.agent ? agentButtons(summary.agent, summary.rules, summary.milestones) : null,
		networks
			? h(
					"div",
					{ class: "row-start" },
					h(
						"a",
						{ class: "button", href: hashOf(`laboratory/policy/${encodeURIComponent(name)}`) },
						t("lab.policy-history"),
					),
					operating.isEnabled && summary.agent
						? h(
								"a",
								{
									class: "button",
									href: hashOf("laboratory/start-tournament", { run: name }),
								},
								t("lab.iterations-play"),
							)
						: null,
				)
			: null,
		h(
			"div",
			{ class: "charts" },
			detail.strength.length
				? h(
						"div",
						{ class: "card" },
						chart(t("lab.strength"), [{ dots: strengthOf(detail) }], {
							x,
							y: t("lab.axis-elo", { anchor: detail.anchor || "–" }),
						}),
						ratingHelp(),
					)
				: null,
			curves.slice(0, CURVES_SHOWN),
		),
		curves.length > CURVES_SHOWN
			? h(
					"details",
					null,
					h("summary", { class: "soft" }, t("lab.more-curves")),
					h("div", { class: "charts" }, curves.slice(CURVES_SHOWN)),
				)
			: null,
		detail.gameFiles.length
			? h(
					"div",
					{ class: "card" },
					h("h3", null, t("lab.latest-games", { count: number(detail.gameFileCount) })),
					h(
						"div",
						{ class: "buttons" },
						detail.gameFiles
							.slice(0, 24)
							.map((file) => button(file, () => replay(file).catch(notifyError), { icon: "play" })),
					),
				)
			: null,
		h(
			"details",
			{ class: "card" },
			h("summary", null, t("lab.config")),
			h("pre", { class: "scroll small" }, detail.config),
		),
	];
}

export const ratingHelp = () =>
	h(
		"details",
		{ class: "small" },
		h("summary", { class: "soft" }, t("lab.ratings")),
		h("p", null, t("lab.ratings-what")),
		h("p", null, t("lab.ratings-zero")),
	);
