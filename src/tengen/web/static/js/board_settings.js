// @ts-check
/** Applies the settings to a board. */

import { onChange, settings } from "./settings.js";

/** Whether a move needs a second click: always, never, or on touch screens. */
const needsConfirm = () =>
  settings.confirm === "always" || (settings.confirm === "auto" && matchMedia("(pointer: coarse)").matches);

const shown = () => ({
  coordinates: settings.coordinates,
  numbers: /** @type {"off" | "last" | "all"} */ (settings.numbers),
  confirm: needsConfirm(),
});

/** Apply the settings now and after each change. Returns a function that stops following the settings. */
export function followSettings(/** @type {import("./board/board.js").Board} */ board) {
  board.set(shown());
  return onChange(() => board.set(shown()));
}
