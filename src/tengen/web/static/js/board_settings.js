/** Applies the settings to a board. */

import { setCoordinateStyle } from "./board/points.js";
import { onChange, settings } from "./settings.js";

/** Whether a move needs a second click: always, never, or on touch screens. */
const needsConfirm = () =>
	settings.confirm === "always" || (settings.confirm === "auto" && matchMedia("(pointer: coarse)").matches);

const shown = () => ({
	coordinates: /** @type {"letters" | "numbers" | ""} */ (settings.coordinates === "off" ? "" : settings.coordinates),
	numbers: /** @type {"off" | "last" | "all"} */ (settings.numbers),
	confirm: needsConfirm(),
});

/** Apply the settings now and after each change. Returns a function that stops following the settings. */
export function followSettings(/** @type {import("./board/board.js").Board} */ board) {
	const apply = () => {
		setCoordinateStyle(settings.coordinates);
		board.set(shown());
	};
	apply();
	return onChange(apply);
}
