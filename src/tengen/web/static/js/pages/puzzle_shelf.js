/** The shelf of the puzzle page: the solver's record, the filters, and the puzzles that match them. */

import { dailyPuzzle, puzzles, serverInfo } from "../api.js";
import { fill, h, keepingFocus } from "../dom.js";
import { t } from "../i18n.js";
import { notifyError } from "../notice.js";
import { daysInARow } from "../puzzle_rating.js";
import { progress, solver, today } from "../puzzle_record.js";
import { hashOf } from "../router.js";
import { read, save } from "../settings.js";
import { button, choice, field, segments } from "../widgets/fields.js";

/** @import { Puzzle, PuzzleSummary, Rule, Theme } from "../messages.js" */
/** @import { Options } from "../widgets/fields.js" */
/** @typedef {{ source: "shipped" | "own", theme: Theme | "", grade: string, rule: Rule | "" }} Filter an empty string matches anything */

const KEY = "tengen.puzzle-filter";
const PAGE_SIZE = 60;
/** Interval between requests for the list while the server searches the user's games for puzzles. */
const SEARCHING_MS = 1500;
const THEMES = /** @type {Theme[]} */ (["fours", "threes", "defence", "fouls"]);
const GRADES = ["1", "2", "3", "4", "5"];
/** @type {Filter} */
const ANY = { source: "shipped", theme: "", grade: "", rule: "" };

export class PuzzleShelf {
	/** @type {Filter} */ filter = { ...ANY, ...read(KEY, {}) };
	/** @type {PuzzleSummary[]} */ list = [];
	total = 0;
	/** The number of the user's games in which the server still searches for puzzles. */
	pending = 0;
	/** The puzzle of today. @type {PuzzleSummary | null} */ daily = null;
	/** The rules that have shipped puzzles; until the server responds, only the chosen one. @type {string[]} */
	rules = this.filter.rule ? [this.filter.rule] : [];
	/** All rules of the server. @type {string[]} */ allRules = this.rules;
	/** The id of the puzzle on the board. @type {string | null} */ currentId = null;
	/** Incremented by every request for a new list; replies to earlier requests are ignored. */ turn = 0;
	timer = 0;

	/** @param {() => void} onNewList called when the page should open a puzzle from a new list */
	constructor(onNewList) {
		this.onNewList = onNewList;
		this.element = h("div", { class: "card" });
	}

	close() {
		this.turn += 1;
		clearTimeout(this.timer);
	}

	// -- the list ----------------------------------------------------------------------------------------------------------

	async load(offset = 0) {
		const turn = ++this.turn;
		clearTimeout(this.timer);
		const { source, theme, grade, rule } = this.filter;
		const query = { source, theme: theme || null, grade: Number(grade) || null, rule: rule || null };
		const found = await puzzles({ ...query, limit: PAGE_SIZE, offset });
		if (turn !== this.turn) return;
		this.list = offset ? [...this.list, ...found.puzzles] : found.puzzles;
		this.total = found.total;
		this.pending = found.pending ?? 0;
		if (this.pending) this.timer = setTimeout(() => this.loadFound(), SEARCHING_MS);
		this.draw();
	}

	async loadFound() {
		const wasEmpty = !this.list.length;
		await this.load().catch(notifyError);
		if (wasEmpty && this.list.length) this.onNewList();
	}

	/** Find out which rules have puzzles; a stored choice without puzzles is dropped. */
	async loadRules() {
		this.allRules = (await serverInfo()).rules;
		const counts = await Promise.all(
			this.allRules.map((rule) => puzzles({ rule: /** @type {Rule} */ (rule), limit: 1 })),
		);
		this.rules = this.allRules.filter((_, i) => counts[i]?.total);
		if (!this.offeredRules().includes(this.filter.rule)) this.filter = { ...this.filter, rule: "" };
		this.daily = await dailyPuzzle(today());
	}

	offeredRules() {
		return this.filter.source === "own" ? this.allRules : this.rules;
	}

	async setFilter(/** @type {Partial<Filter>} */ changes) {
		this.filter = { ...this.filter, ...changes };
		save(KEY, this.filter);
		try {
			await this.load();
			this.onNewList();
		} catch (error) {
			notifyError(error);
		}
	}

	/** Show the puzzles of a source, with all themes, grades and rules. */
	setSource(/** @type {Filter["source"]} */ source) {
		return this.setFilter({ ...ANY, source });
	}

	following() {
		const done = progress();
		const at = this.list.findIndex(({ id }) => id === this.currentId);
		const following = [...this.list.slice(at + 1), ...this.list.slice(0, at + 1)];
		return following.find(({ id }) => !done[id]?.solved) ?? following[0] ?? null;
	}

	/** Today's date if this is the puzzle of the day, otherwise null. */
	dayOf(/** @type {Puzzle} */ { id }) {
		return this.daily?.id === id ? today() : null;
	}

	// -- drawing -----------------------------------------------------------------------------------------------------------

	draw() {
		keepingFocus(this.element, () => this.fill());
	}

	fill() {
		const solved = Object.values(progress()).filter((each) => each.solved).length;
		const sources = /** @type {Filter["source"][]} */ (["shipped", "own"]);
		fill(
			this.element,
			h(
				"div",
				{ class: "row-between" },
				h("h2", null, t("page.puzzles")),
				h("span", { class: "soft small" }, t("puzzle.progress", { solved })),
			),
			this.record(),
			segments(
				t("puzzle.source"),
				sources.map((source) => [source, t(`puzzle.source.${source}`)]),
				this.filter.source,
				(source) => this.setSource(source === "own" ? "own" : "shipped"),
			),
			this.filterFields(),
			this.filter.source === "own" ? this.ownNote() : null,
			h(
				"div",
				{ class: "shelf" },
				this.list.map((each, i) => this.tile(each, i + 1)),
			),
			this.list.length < this.total
				? button(t("puzzle.more", { count: this.total - this.list.length }), () =>
						this.load(this.list.length).catch(notifyError),
					)
				: null,
		);
	}

	record() {
		const record = solver();
		const facts = [
			[t("puzzle.your-rating"), record.rating],
			[t("puzzle.streak"), t("puzzle.streak-of", { streak: record.streak, best: record.best })],
			[t("puzzle.days"), daysInARow(record.days, today())],
		];
		return h(
			"div",
			{ class: "stack" },
			h(
				"dl",
				{ class: "facts" },
				facts.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
			),
			this.daily
				? h(
						"a",
						{ class: "button", href: hashOf(`puzzles/${this.daily.id}`) },
						t(record.days.includes(today()) ? "puzzle.daily-solved" : "puzzle.daily"),
					)
				: null,
		);
	}

	filterFields() {
		const any = /** @type {[string, string]} */ (["", t("any")]);
		const select = (
			/** @type {string} */ label,
			/** @type {Options} */ options,
			/** @type {"theme" | "grade" | "rule"} */ key,
		) =>
			field(
				label,
				choice([any, ...options], this.filter[key], (value) => this.setFilter({ [key]: value })),
			);
		return h(
			"div",
			{ class: "fields" },
			select(
				t("puzzle.theme"),
				THEMES.map((theme) => [theme, t(`puzzle.theme.${theme}`)]),
				"theme",
			),
			select(
				t("puzzle.difficulty"),
				GRADES.map((grade) => [grade, "★".repeat(Number(grade))]),
				"grade",
			),
			select(
				t("rule"),
				this.offeredRules().map((rule) => [rule, t(`rule.${rule}`)]),
				"rule",
			),
		);
	}

	/** A note that explains the puzzles from the user's games, or says that the server is still searching. */
	ownNote() {
		const text = this.pending
			? t("puzzle.own.pending", { count: this.pending })
			: t(this.list.length ? "puzzle.own.help" : "puzzle.own.none");
		return h(
			"p",
			{ class: "soft small", role: "status" },
			text,
			" ",
			this.list.length || this.pending ? null : h("a", { href: hashOf("games") }, t("page.games")),
		);
	}

	tile(/** @type {PuzzleSummary} */ { id, themes, depth }, /** @type {number} */ number) {
		const done = progress()[id];
		const state = done?.solved ? "solved" : done ? "failed" : "";
		const label = t("puzzle.label", {
			number,
			kind: t(`puzzle.theme.${themes.at(-1)}`),
			depth,
			state: state ? t(`puzzle.state.${state}`) : "",
		});
		return h(
			"a",
			{
				class: `tile ${state}`,
				href: hashOf(`puzzles/${id}`),
				"aria-label": label,
				"aria-current": id === this.currentId ? "true" : null,
				title: label,
			},
			number,
		);
	}
}
