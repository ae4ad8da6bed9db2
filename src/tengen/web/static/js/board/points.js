/** Names of points. `a1` is the lower-left corner; letters name columns, and numbers count rows from the bottom. */

/** @typedef {string} Point a name such as "h8" */

/** @param {number} x @param {number} y @returns {Point} */
export const nameOf = (x, y) => String.fromCharCode(97 + x) + (y + 1);

/** @param {Point} point @returns {[number, number]} */
export const xyOf = (point) => [point.charCodeAt(0) - 97, Number(point.slice(1)) - 1];

/** How coordinates are written: "letters" (h8) or "numbers" (8-8). */
let style = "letters";
export const setCoordinateStyle = (/** @type {string} */ name) => (style = name);

export function shownPoint(/** @type {Point} */ point) {
	if (style !== "numbers") return point;
	const [x, y] = xyOf(point);
	return `${x + 1}-${y + 1}`;
}

export const shownPoints = (/** @type {Point[]} */ points) =>
	points.map(shownPoint).join(style === "numbers" ? ", " : "-");

/** Whether the text names a point on a board of this size. */
export function isPoint(/** @type {string} */ text, /** @type {number} */ width, /** @type {number} */ height) {
	if (!/^[a-z][1-9]\d?$/.test(text)) return false;
	const [x, y] = xyOf(text);
	return x < width && y < height;
}

/** Return the star points: five on a large board, only the centre on a small one. They are purely decorative. */
export function starPoints(/** @type {number} */ width, /** @type {number} */ height) {
	const centre = width % 2 && height % 2 ? [nameOf((width - 1) / 2, (height - 1) / 2)] : [];
	if (width < 13 || height < 13) return centre;
	const [x, y] = [3, 3];
	return [
		...centre,
		nameOf(x, y),
		nameOf(width - 1 - x, y),
		nameOf(x, height - 1 - y),
		nameOf(width - 1 - x, height - 1 - y),
	];
}
