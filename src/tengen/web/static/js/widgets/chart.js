// @ts-check
/** Line charts with axes: losses, ratings with error bars. */

import { h, svg } from "../dom.js";
import { number, t } from "../i18n.js";

const WIDTH = 560;
const HEIGHT = 230;
const MARGIN = { left: 52, right: 12, top: 12, bottom: 28 };

/** @typedef {{ x: number, y: number, low?: number | null, high?: number | null }} Dot */

/** Round numbers that divide an interval into about `count` parts, for the axis labels. */
export function ticks(/** @type {number} */ low, /** @type {number} */ high, count = 5) {
  const rough = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / step) * step;
  const found = [];
  for (let value = first; value <= high + step * 1e-9; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

const short = (/** @type {number} */ value) =>
  Math.abs(value) >= 10000 ? number(value, true) : String(Number(value.toPrecision(4)));

/**
 * Draw a curve over steps; dots with `low` and `high` get an error bar.
 * @param {string} title
 * @param {Dot[]} dots
 */
export function chart(title, dots) {
  const known = dots.filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y));
  const last = known.at(-1);
  if (!last)
    return h(
      "figure",
      { class: "chart" },
      h("figcaption", null, title),
      h("p", { class: "soft small" }, t("nothing-yet")),
    );
  const xs = known.map(({ x }) => x);
  const ys = known.flatMap(({ y, low, high }) => [y, low ?? y, high ?? y]);
  let [left, right] = [Math.min(...xs), Math.max(...xs)];
  if (left === right) [left, right] = [left - 1, right + 1];
  let [bottom, top] = [Math.min(...ys), Math.max(...ys)];
  if (bottom === top) [bottom, top] = [bottom - 0.5, top + 0.5];
  const px = (/** @type {number} */ x) =>
    MARGIN.left + ((WIDTH - MARGIN.left - MARGIN.right) * (x - left)) / (right - left);
  const py = (/** @type {number} */ y) =>
    HEIGHT - MARGIN.bottom - ((HEIGHT - MARGIN.top - MARGIN.bottom) * (y - bottom)) / (top - bottom);
  const rows = ticks(bottom, top).map((value) =>
    svg(
      "g",
      {},
      svg("line", { class: "chart-grid", x1: MARGIN.left, x2: WIDTH - MARGIN.right, y1: py(value), y2: py(value) }),
      svg("text", { class: "chart-tick end", x: MARGIN.left - 7, y: py(value) }, short(value)),
    ),
  );
  // Steps are integers, so only integer ticks make sense.
  const columns = ticks(left, right, 6)
    .filter(Number.isInteger)
    .map((value) => svg("text", { class: "chart-tick middle", x: px(value), y: HEIGHT - 9 }, short(value)));
  const path = known.map(({ x, y }, i) => `${i ? "L" : "M"}${px(x).toFixed(1)} ${py(y).toFixed(1)}`).join("");
  const bars = known
    .filter(({ low, high }) => low !== null && low !== undefined && high !== null && high !== undefined)
    .map(({ x, low, high }) =>
      svg("line", {
        class: "chart-bar",
        x1: px(x),
        x2: px(x),
        y1: py(/** @type {number} */ (low)),
        y2: py(/** @type {number} */ (high)),
      }),
    );
  const marks = bars.length
    ? known.map(({ x, y }) => svg("circle", { class: "chart-dot", cx: px(x), cy: py(y), r: 3.4 }))
    : [];
  const pointer = svg("circle", { class: "chart-dot", r: 4.5, visibility: "hidden" });
  const readout = h("span", { class: "soft small" }, short(last.y));
  const picture = svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}: ${short(last.y)}` },
    rows,
    columns,
    bars,
    svg("path", { class: "chart-line", d: path }),
    marks,
    pointer,
  );
  picture.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    const box = picture.getBoundingClientRect();
    const wanted = (WIDTH * (event.clientX - box.left)) / box.width;
    const nearest = known.reduce((best, dot) =>
      Math.abs(px(dot.x) - wanted) < Math.abs(px(best.x) - wanted) ? dot : best,
    );
    pointer.setAttribute("cx", String(px(nearest.x)));
    pointer.setAttribute("cy", String(py(nearest.y)));
    pointer.setAttribute("visibility", "visible");
    readout.textContent = `${short(nearest.x)} → ${short(nearest.y)}`;
  });
  return h("figure", { class: "chart" }, h("figcaption", { class: "row-between" }, title, readout), picture);
}
