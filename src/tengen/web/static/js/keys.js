/** All keyboard shortcuts in one table, and the rules for changing them. Each page defines what its actions do. The
 *  board has its own keys while it has the focus (board/events.js). */

/** @typedef {{ action: string, label: string, keys: string[] }} Binding `label` is a text key (i18n.js); `keys` are values of `KeyboardEvent.key` */

const walking = {
	back: ["key.back", "ArrowLeft"],
	forward: ["key.forward", "ArrowRight"],
	first: ["key.first", "Home"],
	last: ["key.last", "End"],
};
const walkingFar = {
	...walking,
	farBack: ["key.back-10", "PageUp"],
	farForward: ["key.forward-10", "PageDown"],
};
const board = { board: ["key.board-focus", "b"] };
const typing = { ...board, typePoint: ["key.type-point", "/"] };

/** The text and the default keys of every action, by page. The keys of `everywhere` work on every page, so no page may use them. */
export const KEYS = {
	everywhere: {
		play: ["page.play", "1"],
		analyse: ["page.analyse", "2"],
		review: ["page.review", "3"],
		games: ["page.games", "4"],
		puzzles: ["page.puzzles", "5"],
		laboratory: ["page.laboratory", "6"],
		theme: ["theme.toggle", "d"],
		language: ["language", "l"],
		sound: ["sound", "s"],
		coordinates: ["key.coordinates", "o"],
		numbers: ["key.numbers", "n"],
		settings: ["settings", ","],
		help: ["keys.title", "?"],
	},
	play: {
		undo: ["action.undo", "u", "Backspace"],
		redo: ["action.redo", "y"],
		hint: ["action.hint", "h"],
		moveNow: ["action.move-now", "m"],
		thinkAgain: ["action.think-again", "t"],
		resign: ["action.resign", "r"],
		pause: ["action.pause", "p"],
		pauseWatched: ["action.pause-watched", " "],
		step: ["action.step", "."],
		newGame: ["action.new", "+"],
		...walking,
		...typing,
	},
	analyse: {
		toggle: ["key.analysis", " "],
		...walkingFar,
		previousVariation: ["key.previous-variation", "ArrowUp"],
		nextVariation: ["key.next-variation", "ArrowDown"],
		playBest: ["key.play-best", "Enter"],
		lineForward: ["key.line-forward", ">"],
		lineBack: ["key.line-back", "<"],
		lineLeave: ["key.line-leave", "Escape"],
		setUp: ["setup-stones", "m"],
		header: ["header.edit", "h"],
		candidates: ["showCandidates", "c"],
		threats: ["showThreats", "x"],
		policy: ["showPolicy", "v"],
		moreLines: ["key.more-lines", "]"],
		fewerLines: ["key.fewer-lines", "["],
		second: ["second-engine", "g"],
		vcf: ["solve.vcf", "f"],
		vct: ["solve.vct", "F"],
		promote: ["tree.promote", "p"],
		remove: ["tree.delete", "Delete"],
		comment: ["comment", "k"],
		import: ["import", "i"],
		export: ["export", "e"],
		share: ["share", "w"],
		clear: ["board.clear", "+"],
		...typing,
	},
	review: {
		...walkingFar,
		nextMistake: ["key.next-mistake", "j"],
		previousMistake: ["key.previous-mistake", "J"],
		tryAgain: ["review.try-again", "t"],
		better: ["review.better", "a"],
		refutation: ["review.refutation", "r"],
		learn: ["review.learn", "e"],
		leave: ["back", "Escape"],
		start: ["review.start", " "],
		import: ["import", "i"],
		analyse: ["page.analyse", "Enter"],
		...board,
	},
	games: { search: ["games.search", "/"] },
	puzzles: {
		next: ["puzzle.next", "Enter"],
		again: ["puzzle.again", "r"],
		solution: ["puzzle.solution", "a"],
		lineBack: ["key.line-back", "ArrowLeft", "<"],
		lineForward: ["key.line-forward", "ArrowRight", ">"],
		...board,
	},
	laboratory: {
		runs: ["lab.runs", "q"],
		tournaments: ["lab.tournaments", "w"],
		models: ["lab.models", "e"],
		papers: ["lab.papers", "r"],
	},
};

/** @typedef {keyof typeof KEYS} Scope a page, or `everywhere` */
/**
 * The functions that the keys of a page call, by action.
 * @template {Scope} S
 * @typedef {{ [A in keyof (typeof KEYS)[S]]: () => void }} Actions
 */
/** @typedef {Record<string, string>} ChangedKeys the keys that the user has chosen, by `scope.action` */

/** Keys that may be chosen besides letters, digits and symbols. All others belong to browsers or screen readers. */
const NAMED = new Set(
	"ArrowLeft ArrowRight ArrowUp ArrowDown Home End PageUp PageDown Enter Delete Backspace".split(" "),
);
/** Symbols that start a search in some browsers. */
const TAKEN = new Set(["'"]);

export const mayChoose = (/** @type {string} */ key) => NAMED.has(key) || ([...key].length === 1 && !TAKEN.has(key));

/** The bindings of a page with the user's keys. @returns {Binding[]} */
export const bindingsOf = (/** @type {Scope} */ scope, /** @type {ChangedKeys} */ changed) =>
	Object.entries(KEYS[scope]).map(([action, [label = "", ...keys]]) => {
		const own = changed[`${scope}.${action}`];
		return { action, label, keys: own && mayChoose(own) ? [own] : keys };
	});

/** The action that a key runs on a page: one of the page, or one that works everywhere. */
export function actionOf(/** @type {Scope} */ page, /** @type {string} */ key, /** @type {ChangedKeys} */ changed) {
	for (const scope of /** @type {Scope[]} */ ([page, "everywhere"])) {
		const found = bindingsOf(scope, changed).find(({ keys }) => keys.includes(key));
		if (found) return { scope, action: found.action };
	}
	return null;
}

/**
 * The binding that already uses a key, so that `action` cannot have it; null if the key is free.
 * @param {Scope} scope
 * @param {string} action
 * @param {string} key
 * @param {ChangedKeys} changed
 */
export function userOf(scope, action, key, changed) {
	const scopes = /** @type {Scope[]} */ (scope === "everywhere" ? Object.keys(KEYS) : [scope, "everywhere"]);
	return (
		scopes
			.flatMap((each) => bindingsOf(each, changed).map((binding) => ({ ...binding, scope: each })))
			.find((each) => (each.scope !== scope || each.action !== action) && each.keys.includes(key)) ?? null
	);
}
