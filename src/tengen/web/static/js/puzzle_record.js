/** The record of a solver, stored in this browser: progress, rating, streak, and the days on which a puzzle was solved. */

import { rated } from "./puzzle_rating.js";
import { read, save } from "./settings.js";

/** @import { Solver } from "./puzzle_rating.js" */

const PROGRESS = "tengen.puzzles";
const RECORD = "tengen.puzzle-record";
/** @typedef {{ solved: boolean, tries: number }} Progress */
/** The progress by puzzle id. @returns {Record<string, Progress>} */
export const progress = () => read(PROGRESS, {});

/** @returns {Solver} */
export const solver = () => ({ rating: 1000, attempts: 0, streak: 0, best: 0, days: [], ...read(RECORD, {}) });

/** Today's date in the solver's time zone, such as 2026-11-18. */
export const today = (now = new Date()) =>
	`${now.getFullYear()}-${String(now.getMonth() + 1).padStart(2, "0")}-${String(now.getDate()).padStart(2, "0")}`;

/**
 * Record an attempt. Only the first one at a puzzle is rated; a solved puzzle stays solved.
 * @param {{ id: string, rating: number }} puzzle
 * @param {boolean} isSolved
 * @param {string | null} daily the day whose puzzle it is
 */
export function note({ id, rating }, isSolved, daily) {
	const all = progress();
	const before = all[id];
	let record = solver();
	if (!before) record = rated(record, rating, isSolved);
	if (isSolved && daily) record = { ...record, days: [...new Set([...record.days, daily])].slice(-400) };
	save(RECORD, record);
	save(PROGRESS, { ...all, [id]: { solved: isSolved || (before?.solved ?? false), tries: (before?.tries ?? 0) + 1 } });
}
