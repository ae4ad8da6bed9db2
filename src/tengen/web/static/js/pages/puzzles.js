/** The puzzle page: attacks and defences, shipped ones and those from the user's own games. */

import { puzzle, puzzleSolution, tryPuzzle } from "../api.js";
import { Board } from "../board/board.js";
import { followSettings } from "../board_settings.js";
import { fill, h, keepingFocus } from "../dom.js";
import { showRules } from "../headline.js";
import { t } from "../i18n.js";
import { announce, notifyError } from "../notice.js";
import { note } from "../puzzle_record.js";
import { go, replaceRoute } from "../router.js";
import { playEnd, playStone } from "../sound.js";
import { button } from "../widgets/fields.js";
import { other } from "../workspace.js";
import { PuzzleShelf } from "./puzzle_shelf.js";
import { boardOf, statusText, taskCard, taskText } from "./puzzle_task.js";

/** @import { Actions } from "../keys.js" */
/** @import { PositionInfo, Puzzle } from "../messages.js" */
/** @import { Route } from "../router.js" */

export class PuzzlePage {
	/** The puzzle on the board. @type {Puzzle | null} */ current = null;
	/** The moves so far, including the replies. @type {string[]} */ moves = [];
	/** The verdict on the last move. @type {"" | "right" | "wrong" | "solved" | "shown"} */ verdict = "";
	/** The line that refutes a wrong move, starting with the opponent's reply. @type {string[]} */ refutation = [];
	/** The number of moves of the refutation or the solution that are on the board. */ step = 0;
	isWaiting = false;
	hasFailed = false;
	/** The facts after the last reply; null at the start. @type {PositionInfo | null} */ position = null;
	/** Incremented whenever the board is set up; replies to earlier requests are ignored. */ turn = 0;

	constructor(/** @type {HTMLElement} */ main) {
		const boardBox = h("div");
		this.confirmBar = h(
			"div",
			{ class: "confirm-bar", hidden: true },
			button(t("cancel"), () => this.board.set({ pending: null })),
			button(t("place"), () => this.board.confirm(), { kind: "primary" }),
		);
		this.task = h("div", { class: "card" });
		this.shelf = new PuzzleShelf(() => this.next());
		fill(
			main,
			h("h1", { class: "visually-hidden" }, t("page.puzzles")),
			h(
				"div",
				{ class: "stage" },
				h("section", { class: "table", "aria-label": t("board") }, boardBox, this.confirmBar),
				h("div", { class: "side" }, this.task, this.shelf.element),
			),
		);
		this.board = new Board(boardBox, {
			onPlay: (point) => this.play(point),
			onPending: (point) => (this.confirmBar.hidden = !point),
		});
		this.unfollow = followSettings(this.board);
	}

	async open(/** @type {string} */ id) {
		if (this.current?.id === id) return;
		try {
			this.current = await puzzle(id);
		} catch (error) {
			notifyError(error);
			return;
		}
		this.restart();
		this.hasFailed = false;
		announce(taskText(this.current));
		this.drawShelf();
	}

	restart() {
		this.setUp([], "");
	}

	/** Show the puzzle after some moves. Replies to pending requests will be ignored. */
	setUp(/** @type {string[]} */ moves, /** @type {typeof this.verdict} */ verdict) {
		this.turn += 1;
		this.isWaiting = false;
		this.moves = moves;
		this.verdict = verdict;
		this.refutation = [];
		this.step = 0;
		this.position = null;
		this.draw();
	}

	next() {
		const found = this.shelf.following();
		if (found) go(`puzzles/${found.id}`);
	}

	async play(/** @type {string} */ point) {
		if (this.isWaiting || this.verdict === "wrong" || this.verdict === "solved") return;
		const { current, turn } = this;
		if (!current) return;
		this.moves = [...this.moves, point];
		this.isWaiting = true;
		playStone(current.currentPlayer);
		this.draw();
		try {
			const answer = await tryPuzzle(current.id, this.moves);
			if (this.turn !== turn) return;
			this.isWaiting = false;
			this.verdict = answer.verdict;
			this.position = answer.position;
			if (answer.reply) playStone(other(current.currentPlayer));
			if (answer.verdict === "wrong") {
				this.refutation = answer.refutation;
				this.step = Math.min(1, answer.refutation.length);
			} else if (answer.reply) this.moves = [...this.moves, answer.reply];
			if (answer.verdict === "solved") {
				note(current, true, this.shelf.dayOf(current));
				playEnd("win");
			} else if (answer.verdict === "wrong") {
				if (!this.hasFailed) note(current, false, null);
				this.hasFailed = true;
				playEnd("loss");
			}
			announce(statusText(this));
		} catch (error) {
			if (this.turn !== turn) return;
			this.isWaiting = false;
			this.moves = this.moves.slice(0, -1);
			notifyError(error);
		}
		this.draw();
		this.drawShelf();
	}

	async showSolution() {
		const { current, turn } = this;
		if (!current) return;
		try {
			const { pv } = await puzzleSolution(current.id);
			if (this.turn !== turn) return;
			if (!this.hasFailed && this.verdict !== "solved") note(current, false, null);
			this.hasFailed = true;
			this.setUp([], "shown");
			this.refutation = pv;
			this.showStep(pv.length);
		} catch (error) {
			notifyError(error);
		}
	}

	showStep(/** @type {number} */ step) {
		this.step = Math.max(0, Math.min(this.refutation.length, step));
		this.draw();
	}

	// -- drawing -----------------------------------------------------------------------------------------------------------

	draw() {
		const { current } = this;
		if (current) {
			showRules(current.rules);
			this.board.set(boardOf(current, this));
		}
		const card = () =>
			current ? taskCard(current, this) : [h("div", { class: "empty" }, h("p", null, t("puzzle.none")))];
		keepingFocus(this.task, () => fill(this.task, card()));
	}

	drawShelf() {
		this.shelf.currentId = this.current?.id ?? null;
		this.shelf.draw();
	}

	/** @returns {Actions<"puzzles">} */
	actions() {
		return {
			next: () => this.next(),
			again: () => this.restart(),
			solution: () => this.showSolution(),
			lineBack: () => this.showStep(this.step - 1),
			lineForward: () => this.showStep(this.step + 1),
			board: () => this.board.focus(),
		};
	}
}

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
	const page = new PuzzlePage(main);
	const { shelf } = page;
	const wantsOwn = (/** @type {Route} */ { query }) => query.get("source") === "own";
	if (wantsOwn(route)) shelf.filter = { source: "own", theme: "", grade: "", rule: "" };
	page.draw();
	page.drawShelf();
	let isOpen = true;
	const follow = async (/** @type {Route} */ route) => {
		if (wantsOwn(route) && shelf.filter.source !== "own") {
			await shelf.setSource("own");
			return;
		}
		const [id] = route.rest;
		const wanted = id ?? shelf.following()?.id;
		// The user may have left the page before the list arrived.
		if (!isOpen || !wanted) return;
		if (!id) replaceRoute(`puzzles/${wanted}`);
		await page.open(wanted);
	};
	const unmount = () => {
		isOpen = false;
		shelf.close();
		page.unfollow();
	};
	shelf
		.loadRules()
		.then(() => shelf.load())
		.then(() => follow(route))
		.catch(notifyError);
	return { unmount, actions: page.actions(), follow };
}
