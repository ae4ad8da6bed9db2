/** Line charts with named axes: losses, ratings with error bars, several runs in one picture. */

import { h, svg } from "../dom.js";
import { number, t } from "../i18n.js";

const WIDTH = 560;
const HEIGHT = 250;
const MARGIN = { left: 62, right: 12, top: 12, bottom: 44 };
/** The number of colours in pages.css. */
const COLOURS = 8;

/** @typedef {{ x: number, y: number, low?: number | null, high?: number | null }} Dot */
/** @typedef {{ name?: string, dots: Dot[] }} Curve */
/** @typedef {{ x: string, y: string }} Axes names of the axes with their units */

/** Round numbers that divide an interval into about `count` parts, for the axis labels. */
export function ticks(/** @type {number} */ low, /** @type {number} */ high, count = 5) {
	const rough = (high - low) / count || 1;
	const power = 10 ** Math.floor(Math.log10(rough));
	const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
	const first = Math.ceil(low / step) * step;
	const found = [];
	for (let value = first; value <= high + step * 1e-9; value += step)
		found.push(Math.abs(value) < step * 1e-9 ? 0 : Number(value.toPrecision(12)));
	return found;
}

const short = (/** @type {number} */ value) =>
	Math.abs(value) >= 10000 ? number(value, true) : String(Number(value.toPrecision(4)));

const isKnown = (/** @type {Dot} */ { x, y }) => Number.isFinite(x) && Number.isFinite(y);

/** The range of values, widened if it is empty. @returns {[number, number]} */
function rangeOf(/** @type {number[]} */ values, /** @type {number} */ margin) {
	const [low, high] = [Math.min(...values), Math.max(...values)];
	return low === high ? [low - margin, high + margin] : [low, high];
}

/**
 * Draw curves; dots with `low` and `high` get an error bar.
 * @param {string} title
 * @param {Curve[]} given
 * @param {Axes} axes
 */
export function chart(title, given, axes) {
	const curves = given
		.map(({ name, dots }) => ({ name, dots: dots.filter(isKnown) }))
		.filter(({ dots }) => dots.length);
	const all = curves.flatMap(({ dots }) => dots);
	const last = curves[0]?.dots.at(-1);
	if (!last)
		return h(
			"figure",
			{ class: "chart" },
			h("figcaption", null, title),
			h("p", { class: "soft small" }, t("nothing-yet")),
		);
	const [left, right] = rangeOf(
		all.map(({ x }) => x),
		1,
	);
	const [bottom, top] = rangeOf(
		all.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]),
		0.5,
	);
	const px = (/** @type {number} */ x) =>
		MARGIN.left + ((WIDTH - MARGIN.left - MARGIN.right) * (x - left)) / (right - left);
	const py = (/** @type {number} */ y) =>
		HEIGHT - MARGIN.bottom - ((HEIGHT - MARGIN.top - MARGIN.bottom) * (y - bottom)) / (top - bottom);
	const pointer = svg("circle", { class: "chart-dot", r: 4.5, visibility: "hidden" });
	const readout = h("span", { class: "soft small" }, curves.length > 1 ? "" : short(last.y));
	const label = curves
		.map(({ name, dots }) => [name, short(dots.at(-1)?.y ?? NaN)].filter(Boolean).join(" "))
		.join(", ");
	const picture = svg(
		"svg",
		{ viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${label}` },
		ticks(bottom, top).map((value) =>
			svg(
				"g",
				{},
				svg("line", { class: "chart-grid", x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: py(value), y2: py(value) }),
				svg("text", { class: "chart-tick end", x: MARGIN.left - 7, y: py(value) }, short(value)),
			),
		),
		ticks(left, right, 6).map((value) =>
			svg("text", { class: "chart-tick middle", x: px(value), y: HEIGHT - MARGIN.bottom + 14 }, short(value)),
		),
		svg("text", { class: "chart-tick middle", x: (WIDTH + MARGIN.left) / 2, y: HEIGHT - 9 }, axes.x),
		axes.y
			? svg(
					"text",
					{ class: "chart-tick middle", transform: `translate(11 ${(HEIGHT - MARGIN.bottom) / 2}) rotate(-90)` },
					axes.y,
				)
			: null,
		curves.map(({ dots }, i) => curveOf(dots, i, px, py)),
		pointer,
	);
	picture.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
		const box = picture.getBoundingClientRect();
		const at = {
			x: (WIDTH * (event.clientX - box.left)) / box.width,
			y: (HEIGHT * (event.clientY - box.top)) / box.height,
		};
		// With one curve, only the horizontal distance counts.
		const away = (/** @type {Dot} */ dot) =>
			Math.abs(px(dot.x) - at.x) + (curves.length > 1 ? Math.abs(py(dot.y) - at.y) : 0);
		const nearest = all.reduce((best, dot) => (away(dot) < away(best) ? dot : best));
		const name = curves.find(({ dots }) => dots.includes(nearest))?.name;
		pointer.setAttribute("cx", String(px(nearest.x)));
		pointer.setAttribute("cy", String(py(nearest.y)));
		pointer.setAttribute("visibility", "visible");
		readout.textContent = `${name ? `${name}: ` : ""}${short(nearest.x)} → ${short(nearest.y)}`;
	});
	return h(
		"figure",
		{ class: "chart" },
		h("figcaption", { class: "row-between" }, title, readout),
		picture,
		curves.length > 1
			? h(
					"ul",
					{ class: "legend small" },
					curves.map(({ name }, i) => h("li", { class: `colour-${i % COLOURS}` }, name)),
				)
			: null,
	);
}

/**
 * @param {Dot[]} dots
 * @param {number} i
 * @param {(x: number) => number} px
 * @param {(y: number) => number} py
 */
function curveOf(dots, i, px, py) {
	const path = dots.map(({ x, y }, k) => `${k ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("");
	const bars = dots.flatMap(({ x, low, high }) =>
		typeof low === "number" && typeof high === "number"
			? [svg("line", { class: "chart-bar", x1: px(x), x2: px(x), y1: py(low), y2: py(high) })]
			: [],
	);
	const marks = bars.length
		? dots.map(({ x, y }) => svg("circle", { class: "chart-dot", cx: px(x), cy: py(y), r: 3.4 }))
		: [];
	return svg("g", { class: `colour-${i % COLOURS}` }, bars, svg("path", { class: "chart-line", d: path }), marks);
}
