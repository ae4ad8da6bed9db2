// @ts-check
/** What the user has chosen, kept in this browser. Reading never fails: unknown or broken entries fall back to the default. */

const KEY = "tengen.settings";

const DEFAULTS = {
  theme: "auto", // auto | light | dark
  language: /** @type {string | null} */ (null),
  sound: true,
  shortcuts: true, // whether keys do something outside of fields and the board
  coordinates: true,
  numbers: "off", // off | last | all
  confirm: "auto", // auto (on touch screens) | always | never
  perspective: "black", // whose chances the bars and numbers show: black | to-move
  showCandidates: true,
  showThreats: false,
  showPolicy: false,
  lines: 3,
  engine: "",
  secondEngine: "",
  thresholds: { inaccuracy: 6, mistake: 14, blunder: 28 }, // percentage points of winning chance that a move may lose
  game: { opponent: "level", level: 3, agent: "", second: "", colour: "black", rule: "freestyle", width: 15, height: 15,
    winLength: 5, opening: "free", clock: "none", seconds: 1 },
};

/** @typedef {typeof DEFAULTS} Settings */

/** @type {Settings} */
export const settings = { ...structuredClone(DEFAULTS), ...load() };

const listeners = new Set();

/** @returns {Partial<Settings>} */
function load() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const known = Object.entries(stored).filter(
      ([key, value]) => key in DEFAULTS && (key === "language" || typeof value === typeof DEFAULTS[/** @type {keyof Settings} */ (key)]),
    );
    const found = Object.fromEntries(known);
    if (found.game) found.game = { ...DEFAULTS.game, ...found.game };
    if (found.thresholds) found.thresholds = { ...DEFAULTS.thresholds, ...found.thresholds };
    return found;
  } catch {
    return {};
  }
}

/** Change some settings, keep them, and tell who listens. */
export function change(/** @type {Partial<Settings>} */ changes) {
  Object.assign(settings, changes);
  save(KEY, settings);
  for (const listener of [...listeners]) listener(changes);
}

/**
 * Be told of changes; returns what ends it.
 * @param {(changes: Partial<Settings>) => void} listener
 */
export function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Keep a value in this browser; a full or forbidden store is no reason to stop. */
export function save(/** @type {string} */ key, /** @type {unknown} */ value) {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Private windows may refuse.
  }
}

/**
 * Read a kept value.
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

/** Whether dark is what is chosen, or what the system has. */
export function isDark() {
  return settings.theme === "dark" || (settings.theme === "auto" && systemIsDark.matches);
}

/** Name the theme in the document, where the style sheets look for it. */
export function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
}
