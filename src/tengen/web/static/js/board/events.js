// @ts-check
/** Turns pointers and keys into selections. Clicks find their cell by the element, so touch, mouse, switch devices and
 *  screen readers all come in the same way. */

import { moveCursor } from "./state.js";

/** @typedef {import("./api.js").Board} Board */

/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/** Listen on the grid of a board. */
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
  // A focus that a click gave is no wish to use the keyboard.
  grid.addEventListener("focus", () => {
    if (!byPointer) board.set({ cursorShown: true });
    byPointer = false;
  });
  grid.addEventListener("blur", () => board.set({ cursorShown: false }));

  grid.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isChosen = event.key === "Enter" || event.key === " ";
    if (!board.state.cursorShown) {
      if (event.key !== "Enter") return;
      board.set({ cursorShown: true });
    } else if (event.key in STEPS) {
      const [dx, dy] = STEPS[event.key];
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
