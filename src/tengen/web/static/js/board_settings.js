// @ts-check
/** What the settings mean for a board, and keeping a board up to them. */

import { onChange, settings } from "./settings.js";

/** Whether a click has to be confirmed: always, never, or where fingers are what points. */
const needsConfirm = () => settings.confirm === "always" || (settings.confirm === "auto" && matchMedia("(pointer: coarse)").matches);

const shown = () => ({ coordinates: settings.coordinates, numbers: /** @type {"off" | "last" | "all"} */ (settings.numbers), confirm: needsConfirm() });

/** Apply the settings now and after each change; returns what ends it. */
export function followSettings(/** @type {import("./board/api.js").Board} */ board) {
  board.set(shown());
  return onChange(() => board.set(shown()));
}
