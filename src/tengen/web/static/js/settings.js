/** The user's settings, stored in this browser. Reading never fails: invalid entries fall back to the defaults. */

const KEY = "tengen.settings";

const DEFAULTS = {
	theme: "auto", // auto | light | dark
	language: /** @type {string | null} */ (null),
	sound: true,
	shortcuts: true, // whether shortcut keys work outside of form fields and the board
	keys: /** @type {Record<string, string>} */ ({}), // the keys that the user has changed, by `scope.action` (keys.js)
	coordinates: "letters", // letters | numbers | off
	numbers: "off", // off | last | all
	confirm: "auto", // auto (on touch screens) | always | never
	showCandidates: true,
	showThreats: false,
	showPolicy: false,
	showExplorer: true,
	lines: 3,
	engine: "",
	secondEngine: "",
	effort: /** @type {"quick" | "normal" | "deep"} */ ("normal"), // of reviews
	thresholds: { inaccuracy: 6, mistake: 14, blunder: 28 }, // loss of winning chance, in percentage points
	game: {
		opponent: "level",
		level: 3,
		adaptive: false, // whether the level follows the user's rating
		agent: "",
		second: "",
		colour: "black",
		rule: "freestyle",
		width: 15,
		height: 15,
		winLength: 5,
		opening: "free",
		clock: "none",
		seconds: 1,
	},
};

/** @typedef {typeof DEFAULTS} Settings */

/** @type {Settings} */
export const settings = { ...structuredClone(DEFAULTS), ...load() };

/** @type {Set<(changes: Partial<Settings>) => void>} */
const listeners = new Set();

/** @returns {Partial<Settings>} */
function load() {
	try {
		/** @type {Record<string, unknown>} */
		const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
		const known = Object.entries(stored).filter(
			([key, value]) =>
				key in DEFAULTS &&
				(key === "language" || typeof value === typeof DEFAULTS[/** @type {keyof Settings} */ (key)]),
		);
		const found = /** @type {Partial<Settings>} */ (Object.fromEntries(known));
		if (found.game) found.game = { ...DEFAULTS.game, ...found.game };
		if (found.thresholds) found.thresholds = { ...DEFAULTS.thresholds, ...found.thresholds };
		return found;
	} catch {
		return {};
	}
}

export function change(/** @type {Partial<Settings>} */ changes) {
	Object.assign(settings, changes);
	save(KEY, settings);
	for (const listener of [...listeners]) listener(changes);
}

/**
 * Listen for changes; returns a function that stops listening.
 * @param {(changes: Partial<Settings>) => void} listener
 */
export function onChange(listener) {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

/** Store a value in this browser. Does nothing if the storage is full or disabled. */
export function save(/** @type {string} */ key, /** @type {unknown} */ value) {
	try {
		localStorage.setItem(key, JSON.stringify(value));
	} catch {
		// Private windows may not allow storing anything.
	}
}

/**
 * Read a stored value. Returns `fallback` if it is missing or damaged.
 * @template T
 * @param {string} key
 * @param {T} fallback
 * @returns {T}
 */
export function read(key, fallback) {
	try {
		return JSON.parse(localStorage.getItem(key) ?? "null") ?? fallback;
	} catch {
		return fallback;
	}
}

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
systemIsDark.addEventListener("change", applyTheme);

/** Whether the dark theme is active, by choice or by the system. */
export function isDark() {
	return settings.theme === "dark" || (settings.theme === "auto" && systemIsDark.matches);
}

export function applyTheme() {
	document.documentElement.dataset.theme = isDark() ? "dark" : "light";
}
