/** The elements of the review page, and their drawing: board, graph, form, the move in detail, report. */

import { Board } from "../board/board.js";
import { fill, h, icon, keepingFocus, refill } from "../dom.js";
import { openImport } from "../files.js";
import { t } from "../i18n.js";
import { hashOf } from "../router.js";
import { ChanceBar, ChanceGraph, proofForBlack } from "../widgets/chances.js";
import { button } from "../widgets/fields.js";
import { MoveTree } from "../widgets/move_tree.js";
import { attemptCard, isBad, lineOf, moveCard } from "../widgets/review_detail.js";
import { mistakeRow, reviewTables } from "../widgets/review_report.js";
import { transport } from "../widgets/transport.js";
import { other, workspace } from "../workspace.js";
import { gameTitle, lessonForm, parameterFields } from "./review_form.js";

/** @import { Stone } from "../board/state.js" */
/** @import { ReviewMove } from "../messages.js" */
/** @import { Chance } from "../widgets/chances.js" */
/** @import { Actions, Attempt, ShownLine } from "../widgets/review_detail.js" */
/** @import { ReviewPage } from "./review.js" */

export class ReviewView {
	constructor(/** @type {HTMLElement} */ main, /** @type {ReviewPage} */ page) {
		this.page = page;
		const boardBox = h("div");
		this.bar = new ChanceBar();
		this.graph = new ChanceGraph((ply) => page.look(ply));
		this.board = new Board(boardBox, {
			onPlay: (point) => page.tryMove(point),
			onPending: (point) => (this.confirmBar.hidden = !point),
		});
		this.confirmBar = h(
			"div",
			{ class: "confirm-bar", hidden: true },
			button(t("cancel"), () => this.board.set({ pending: null })),
			button(t("place"), () => this.board.confirm(), { kind: "primary" }),
		);
		this.tree = new MoveTree(
			(node) => page.look(node.ply),
			(node) => page.judged.get(node.ply)?.quality ?? "",
		);
		this.detail = h("div", { class: "card move-detail", "aria-live": "polite" });
		this.report = h("div", { class: "card" });
		this.mistakeList = h("ul", { class: "mistakes" });
		this.form = h("div", { class: "card" });
		this.parameters = parameterFields();
		/** @type {Actions} */
		this.actions = {
			tryAgain: () => page.tryAgain(),
			showLine: (kind) => page.showLine(kind),
			step: (step) => page.stepLine(step),
			back: () => page.look(page.ply),
			next: () => page.nextInLesson(),
			analyse: () => page.analyse(),
		};
		fill(
			main,
			h("h1", { class: "visually-hidden" }, t("page.review")),
			h(
				"div",
				{ class: "stage" },
				h(
					"section",
					{ class: "table", "aria-label": t("board") },
					h("div", { class: "board-row" }, this.bar.element, boardBox),
					this.confirmBar,
					transport((steps) => page.walk(steps)),
				),
				h(
					"div",
					{ class: "side" },
					this.graph.element,
					this.form,
					this.detail,
					this.report,
					h("div", { class: "card" }, h("h2", null, t("moves")), this.tree.element),
				),
			),
		);
	}

	draw() {
		keepingFocus(this.form, () => this.drawForm());
		this.drawBoard();
		keepingFocus(this.detail, () => this.drawDetail());
		keepingFocus(this.report, () => this.drawReport());
		this.tree.show(workspace.root, this.page.nodeAt(this.page.ply));
		const chances = this.page.line.map((_, ply) => this.chanceAt(ply));
		this.graph.show(
			chances,
			this.page.ply,
			this.page.mistakes().map((move) => ({ ply: move.turnNumber, kind: move.quality })),
		);
	}

	/** @returns {Chance | null} */
	chanceAt(/** @type {number} */ ply) {
		if (ply === 0) return this.page.rootChance === null ? null : { blackWinrate: this.page.rootChance, proof: null };
		const move = this.page.judged.get(ply);
		return move ? { blackWinrate: move.blackWinrate, proof: proofForBlack(move.proof, other(move.colour)) } : null;
	}

	drawBoard() {
		const { attempt, shown } = this.page;
		// An attempt and the better line start before the mistake, so its stone is not on the board.
		const isBefore = attempt !== null || shown?.kind === "better";
		const ply = isBefore ? this.page.ply - 1 : this.page.ply;
		const node = this.page.nodeAt(ply);
		const judged = this.page.judged.get(this.page.ply);
		const state = workspace.boardState(node);
		if (judged && shown) this.drawLine(state, judged, shown);
		else if (judged && attempt) this.drawAttempt(state, judged, attempt);
		else {
			const marks =
				judged && isBad(judged.quality) ? [{ point: judged.move, kind: /** @type {const} */ ("wrong") }] : [];
			this.board.set({ ...state, toPlay: null, marks });
		}
		this.bar.show(this.chanceAt(ply));
	}

	drawLine(
		/** @type {ReturnType<typeof workspace.boardState>} */ state,
		/** @type {ReviewMove} */ judged,
		/** @type {ShownLine} */ { kind, step },
	) {
		const stones = /** @type {Map<string, Stone>} */ (new Map(state.stones));
		const played = lineOf(judged, kind).slice(0, step);
		let colour = kind === "better" ? judged.colour : other(judged.colour);
		played.forEach((point, i) => {
			stones.set(point, { point, colour, number: i + 1 });
			colour = other(colour);
		});
		this.board.set({ ...state, stones, lastMove: played.at(-1) ?? state.lastMove ?? null, toPlay: null, marks: [] });
	}

	drawAttempt(
		/** @type {ReturnType<typeof workspace.boardState>} */ state,
		/** @type {ReviewMove} */ { colour },
		/** @type {Attempt} */ { point, verdict },
	) {
		const stones = /** @type {Map<string, Stone>} */ (new Map(state.stones));
		if (point) stones.set(point, { point, colour });
		const kind = verdict ? (isBad(verdict.judged.quality) ? "wrong" : "right") : null;
		const marks = point && kind ? [{ point, kind: /** @type {"right" | "wrong"} */ (kind) }] : [];
		// The next attempt may start once the previous one is judged.
		const mayTry = !point || verdict !== null;
		this.board.set({ ...state, stones, toPlay: mayTry ? colour : null, marks });
	}

	drawDetail() {
		const judged = this.page.judged.get(this.page.ply);
		this.detail.hidden = !judged;
		if (!judged) return;
		refill(
			this.detail,
			this.page.attempt
				? attemptCard(judged, this.page.attempt, this.page.lesson, this.actions)
				: moveCard(judged, this.page.shown, this.actions),
		);
	}

	drawForm() {
		const isRunning = this.page.stream !== null;
		const { done, total } = this.page.progress;
		const hasGame = this.page.line.length > 1;
		refill(this.form, [
			h(
				"div",
				{ class: "row-between" },
				h("h2", null, t("page.review")),
				button(t("import"), () => openImport((record) => this.page.load(record)), { icon: "import", kind: "bare" }),
			),
			hasGame
				? h("p", { class: "soft small" }, gameTitle(this.page.line.length - 1))
				: h("p", { class: "soft" }, t("review.empty")),
			this.parameters,
			...(isRunning
				? [h("progress", { value: done, max: Math.max(1, total), "aria-label": t("review.progress") })]
				: []),
			h(
				"div",
				{ class: "buttons even" },
				isRunning
					? button(t("analysis.stop"), () => this.page.stop(), { icon: "pause" })
					: button(t("review.start"), () => this.page.start(), {
							kind: this.page.summary ? "" : "primary",
							icon: "review",
							disabled: !hasGame,
						}),
			),
		]);
		// Once there is a result, the form moves below it.
		this.form.style.order = this.page.summary ? "1" : "";
	}

	drawReport() {
		const bad = this.page.mistakes();
		this.report.hidden = !this.page.judged.size;
		refill(
			this.mistakeList,
			bad.map((move) =>
				mistakeRow(move, move.turnNumber === this.page.ply, () => {
					this.page.look(move.turnNumber);
					this.detail.scrollIntoView({ block: "nearest" });
				}),
			),
		);
		refill(this.report, [
			...reviewTables(this.page.summary, [...this.page.judged.values()]),
			h("h3", null, t("review.key-moves")),
			bad.length ? this.mistakeList : h("p", { class: "soft small" }, t("review.no-mistakes")),
			...(this.page.summary && bad.length ? [lessonForm(this.page)] : []),
			...(this.page.isStored
				? [
						h(
							"div",
							{ class: "buttons even" },
							button(t("review.export"), () => this.page.export(), { icon: "export" }),
							this.page.gameId
								? h(
										"a",
										{ class: "button", href: hashOf("puzzles", { source: "own" }) },
										icon("puzzles"),
										t("puzzle.own"),
									)
								: null,
						),
					]
				: []),
		]);
	}
}
