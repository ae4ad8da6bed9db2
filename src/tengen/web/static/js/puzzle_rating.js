/** The rating and the streaks of a solver, as pure functions. */

/** Number of attempts after which the rating changes more slowly. */
const PROVISIONAL = 20;
const DAY_MS = 86_400_000;

/** @typedef {{ rating: number, attempts: number, streak: number, best: number, days: string[] }} Solver */

/**
 * The record after the first attempt at a puzzle: an Elo rating, and the number of puzzles solved in a row.
 * @param {Solver} before
 * @param {number} puzzleRating
 * @param {boolean} isSolved
 * @returns {Solver}
 */
export function rated(before, puzzleRating, isSolved) {
	const expected = 1 / (1 + 10 ** ((puzzleRating - before.rating) / 400));
	const step = before.attempts < PROVISIONAL ? 48 : 20;
	const streak = isSolved ? before.streak + 1 : 0;
	return {
		...before,
		rating: Math.round(before.rating + step * ((isSolved ? 1 : 0) - expected)),
		attempts: before.attempts + 1,
		streak,
		best: Math.max(before.best, streak),
	};
}

/** The number of days in a row, up to today or yesterday, on which the daily puzzle was solved. */
export function daysInARow(/** @type {string[]} */ days, /** @type {string} */ now) {
	const solved = new Set(days);
	const before = (/** @type {string} */ day) => new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
	let day = solved.has(now) ? now : before(now);
	let count = 0;
	for (; solved.has(day); day = before(day)) count += 1;
	return count;
}
