/** Several training runs in one chart: a series over iterations, time or games. */

import { run, runs } from "../api.js";
import { fill, h } from "../dom.js";
import { t } from "../i18n.js";
import { notifyError } from "../notice.js";
import { chart } from "../widgets/chart.js";
import { check, choice, field } from "../widgets/fields.js";
import { CARDS_PER_PAGE, heading } from "./parts.js";
import { ratingHelp, strengthOf, unitOf } from "./runs.js";

/** @import { RunDetail } from "../messages.js" */
/** @import { Dot } from "../widgets/chart.js" */

const STRENGTH = "strength";
const MOST_RUNS = 8;

/** The series that gives the horizontal axis, the unit it is divided by, and the name of the axis. */
const AXES = {
	iteration: { series: "", divisor: 1 },
	minutes: { series: "seconds", divisor: 60 },
	"cpu-minutes": { series: "cpu_seconds", divisor: 60 },
	games: { series: "games", divisor: 1 },
};

/**
 * The dots of a series, over iterations or over another series with the same iterations.
 * @param {RunDetail} detail
 * @param {string} name
 * @param {keyof typeof AXES} axis
 * @returns {Dot[]}
 */
function dotsOver(detail, name, axis) {
	const found = detail.series.find((series) => series.name === name);
	const dots =
		name === STRENGTH ? strengthOf(detail) : (found?.steps ?? []).map((x, i) => ({ x, y: found?.values[i] ?? NaN }));
	const { series, divisor } = AXES[axis];
	if (!series) return dots;
	const scale = detail.series.find((each) => each.name === series);
	// Curves are downsampled, so an iteration may lie between two known ones.
	const at = (/** @type {number} */ step) => {
		const i = scale?.steps.findIndex((each) => each >= step) ?? -1;
		if (!scale || i < 0) return NaN;
		const [x0 = 0, x1 = 0] = [scale.steps[i - 1] ?? 0, scale.steps[i]];
		const [y0 = 0, y1 = 0] = [scale.values[i - 1] ?? 0, scale.values[i]];
		return x1 === x0 ? y1 : y0 + ((y1 - y0) * (step - x0)) / (x1 - x0);
	};
	return dots.map((dot) => ({ ...dot, x: at(dot.x) / divisor }));
}

export async function showComparison() {
	const found = await runs(CARDS_PER_PAGE, 0);
	/** @type {Map<string, RunDetail>} */
	const details = new Map();
	/** @type {string[]} */
	let chosen = [];
	let series = STRENGTH;
	/** @type {keyof typeof AXES} */
	let axis = "iteration";
	const picture = h("div", { class: "card comparison" });
	const fields = h("div", { class: "fields" });
	const draw = () => {
		const shown = chosen.flatMap((name) => details.get(name) ?? []);
		const names = [STRENGTH, ...new Set(shown.flatMap((each) => each.series.map(({ name }) => name)))];
		const named = (/** @type {string} */ name) => (name === STRENGTH ? t("lab.strength") : name);
		if (!names.includes(series)) series = STRENGTH;
		fill(
			fields,
			field(
				t("lab.series"),
				choice(
					names.map((name) => [name, named(name)]),
					series,
					(value) => {
						series = value;
						draw();
					},
				),
			),
			field(
				t("lab.over"),
				choice(
					Object.keys(AXES).map((name) => [name, t(`lab.axis-${name}`)]),
					axis,
					(value) => {
						axis = /** @type {keyof typeof AXES} */ (value);
						draw();
					},
				),
			),
		);
		const anchors = [...new Set(shown.filter(({ strength }) => strength.length).map(({ anchor }) => anchor))];
		fill(
			picture,
			chart(
				named(series),
				shown.map((detail) => ({ name: detail.summary.name, dots: dotsOver(detail, series, axis) })),
				{
					x: t(`lab.axis-${axis}`),
					y: series === STRENGTH ? t("lab.axis-elo", { anchor: anchors.join(", ") }) : unitOf(series),
				},
			),
			series === STRENGTH && anchors.length > 1 ? h("p", { class: "damaged small" }, t("lab.anchors-differ")) : null,
		);
	};
	const choose = async (/** @type {string} */ name, /** @type {boolean} */ isChosen) => {
		chosen = isChosen ? [...chosen, name].slice(-MOST_RUNS) : chosen.filter((each) => each !== name);
		try {
			if (isChosen && !details.has(name)) details.set(name, await run(name));
		} catch (error) {
			notifyError(error);
		}
		draw();
	};
	draw();
	const boxes = found.runs.map(({ name }, i) => {
		if (i < 2) choose(name, true);
		return check(name, i < 2, (checked) => choose(name, checked));
	});
	return [
		heading("runs", t("lab.compare"), false),
		h(
			"div",
			{ class: "card" },
			h("div", { class: "row-start", role: "group", "aria-label": t("lab.runs") }, boxes),
			fields,
		),
		picture,
		ratingHelp(),
	];
}
