/** Turns pointer and keyboard events into selections. The target element of a click determines the point, so touch,
 *  mouse, switch devices and screen readers are all handled by the same code. */

import { moveCursor } from "./state.js";

/** @typedef {import("./board.js").Board} Board */

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function bind(/** @type {Board} */ board, /** @type {HTMLElement} */ grid) {
	const pointOf = (/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.target).dataset?.point ?? null;
	let byPointer = false;

	grid.addEventListener("pointerdown", () => {
		byPointer = true;
		board.set({ cursorShown: false });
	});
	grid.addEventListener("click", (event) => {
		const point = pointOf(event);
		if (point) board.select(point);
	});
	grid.addEventListener("pointermove", (event) => {
		if (event.pointerType === "touch") return;
		const point = pointOf(event);
		if (point !== board.state.hover) board.hover(point);
	});
	grid.addEventListener("pointerleave", () => board.hover(null));
	// Show the cursor only when the focus came from the keyboard, not from a click.
	grid.addEventListener("focus", () => {
		if (!byPointer) board.set({ cursorShown: true });
		byPointer = false;
	});
	grid.addEventListener("blur", () => board.set({ cursorShown: false }));

	grid.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey) return;
		const isChosen = event.key === "Enter" || event.key === " ";
		const step = STEPS[event.key];
		if (!board.state.cursorShown) {
			if (event.key !== "Enter") return;
			board.set({ cursorShown: true });
		} else if (step) {
			const [dx, dy] = step;
			const stride = event.shiftKey ? 4 : 1;
			board.moveCursor(moveCursor(board.state, dx * stride, dy * stride));
		} else if (isChosen) {
			board.select(board.state.cursor);
		} else if (event.key === "Escape") {
			board.set({ cursorShown: false, pending: null });
		} else {
			return;
		}
		event.preventDefault();
		event.stopPropagation();
	});
}
