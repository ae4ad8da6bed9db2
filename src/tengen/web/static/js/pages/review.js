/** The review page: the verdict on every move of a game, the reasons, the lines that show them, and a lesson in which the
 *  user finds better moves. The server stores a finished review, so it is still available after a reload. */

import { exportReview, game as gameOnServer, serverInfo, socket } from "../api.js";
import { followSettings } from "../board_settings.js";
import { listenForGames, openImport, saveFile } from "../files.js";
import { showRules } from "../headline.js";
import { t } from "../i18n.js";
import { announce, notify, notifyError } from "../notice.js";
import { go, redirect, replaceRoute } from "../router.js";
import { settings } from "../settings.js";
import { playStone } from "../sound.js";
import { isBad, lineOf, verdictText } from "../widgets/review_detail.js";
import { positionIn, queryOf, workspace } from "../workspace.js";
import { ReviewView } from "./review_view.js";

/** @import { Stream } from "../api.js" */
/** @import { Actions } from "../keys.js" */
/** @import { RecordInput, ReviewMessage, ReviewMove, ReviewSummary } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @import { Attempt, Lesson, ShownLine } from "../widgets/review_detail.js" */

export class ReviewPage {
	/** The judged moves by ply. @type {Map<number, ReviewMove>} */ judged = new Map();
	/** @type {number | null} */ rootChance = null;
	/** @type {ReviewSummary | null} */ summary = null;
	/** @type {Stream | null} */ stream = null;
	progress = { done: 0, total: 0 };
	ply = 0;
	/** The id of the game on the server, if it was played there. @type {string | null} */ gameId = null;
	/** @type {Attempt | null} */ attempt = null;
	/** @type {ShownLine | null} */ shown = null;
	/** @type {Lesson | null} */ lesson = null;
	/** Whose mistakes the lesson contains: black | white | both. */
	side = "both";
	isStored = false;

	constructor(/** @type {HTMLElement} */ main) {
		this.view = new ReviewView(main, this);
		this.board = this.view.board;
		this.unfollow = [followSettings(this.board), listenForGames((record) => this.load(record))];
	}

	// -- the game ----------------------------------------------------------------------------------------------------------

	get line() {
		return workspace.mainLine();
	}

	nodeAt(/** @type {number} */ ply) {
		return this.line[ply] ?? workspace.root;
	}

	load(/** @type {RecordInput} */ record) {
		workspace.load(record);
		this.gameId = null;
		this.start();
	}

	reset() {
		this.halt();
		this.judged.clear();
		this.rootChance = null;
		this.summary = null;
		this.isStored = false;
		this.progress = { done: 0, total: 0 };
		this.attempt = this.shown = this.lesson = null;
		this.ply = this.line.length - 1;
		showRules(workspace.rules);
		this.draw();
	}

	// -- the review --------------------------------------------------------------------------------------------------------

	/** The fields that identify a review on the server. */
	fields() {
		const { inaccuracy, mistake, blunder } = settings.thresholds;
		return {
			...workspace.position(workspace.lastNode()),
			effort: settings.effort,
			thresholds: { inaccuracy: inaccuracy / 100, mistake: mistake / 100, blunder: blunder / 100 },
		};
	}

	/** Review the game; with `onlyStored`, only show the review that the server has stored, if there is one. */
	start(onlyStored = false) {
		this.reset();
		if (this.line.length < 2) return;
		this.stream = socket.open(
			{ type: "review", ...this.fields(), onlyStored, gameId: this.gameId },
			(message) => this.receive(message),
			(error) => {
				this.stream = null;
				notifyError(error);
				this.draw();
			},
		);
		this.draw();
	}

	receive(/** @type {ReviewMessage} */ message) {
		this.rootChance = message.rootBlackWinrate ?? this.rootChance;
		for (const move of message.moves) this.judged.set(move.turnNumber, move);
		this.progress = { done: message.done, total: message.total };
		if (!message.isDuringSearch) {
			this.summary = message.summary;
			this.isStored = message.isStored;
			this.halt();
			if (this.summary) announce(t("review.done"));
		}
		for (const node of this.line) {
			const move = this.judged.get(node.ply);
			if (move) node.extra.blackWinrate = move.blackWinrate;
		}
		this.draw();
	}

	halt() {
		this.stream?.close();
		this.stream = null;
	}

	stop() {
		this.halt();
		this.draw();
	}

	async export() {
		try {
			const { black, white, outcome, reason, event, date } = workspace.header;
			const header = Object.fromEntries(
				Object.entries({ black, white, outcome, reason, event, date }).filter(([, value]) => value),
			);
			saveFile(await exportReview({ ...this.fields(), ...header }));
			notify(t("review.exported"));
		} catch (error) {
			notifyError(error);
		}
	}

	// -- navigation --------------------------------------------------------------------------------------------------------

	look(/** @type {number} */ ply) {
		this.ply = Math.max(0, Math.min(this.line.length - 1, ply));
		this.attempt = this.shown = this.lesson = null;
		this.draw();
	}

	/** Step through the displayed line, or through the game if there is none. */
	walk(/** @type {number} */ steps) {
		if (this.shown) this.stepLine(this.shown.step + steps);
		else this.look(this.ply + steps);
	}

	showLine(/** @type {ShownLine["kind"]} */ kind) {
		const judged = this.judged.get(this.ply);
		if (!judged || !lineOf(judged, kind).length) return;
		this.attempt = null;
		this.shown = { kind, step: 1 };
		this.draw();
	}

	stepLine(/** @type {number} */ step) {
		const judged = this.judged.get(this.ply);
		if (!this.shown || !judged) return;
		this.shown.step = Math.max(0, Math.min(lineOf(judged, this.shown.kind).length, step));
		this.draw();
	}

	mistakes() {
		return [...this.judged.values()]
			.filter((move) => isBad(move.quality) || move.isKey)
			.sort((a, b) => a.turnNumber - b.turnNumber);
	}

	lookAtMistake(/** @type {number} */ direction) {
		const plies = this.mistakes().map((move) => move.turnNumber);
		const [first] = plies;
		if (first === undefined) return;
		const next = direction > 0 ? plies.find((ply) => ply > this.ply) : plies.findLast((ply) => ply < this.ply);
		this.look(next ?? (direction > 0 ? first : (plies.at(-1) ?? first)));
	}

	// -- attempts and the lesson -------------------------------------------------------------------------------------------

	/** Go back to the position before the mistake and wait for another move. */
	tryAgain() {
		const judged = this.judged.get(this.ply);
		if (!judged) return;
		this.attempt = { ply: this.ply, point: null, verdict: null };
		this.shown = null;
		announce(t("review.your-try", { colour: t(judged.colour), move: judged.move }));
		this.draw();
	}

	async tryMove(/** @type {string} */ point) {
		const { attempt } = this;
		if (!attempt || (attempt.point && !attempt.verdict)) return;
		Object.assign(attempt, { point, verdict: null });
		playStone(this.nodeAt(attempt.ply).colour ?? "black");
		this.draw();
		try {
			const verdict = await socket.request({
				type: "judge",
				...this.fields(),
				...workspace.position(this.nodeAt(attempt.ply - 1)),
				move: point,
			});
			if (this.attempt !== attempt || attempt.point !== point) return;
			attempt.verdict = verdict;
			if (!isBad(verdict.judged.quality)) this.lesson?.solved.add(attempt.ply);
			announce(verdictText(verdict));
		} catch (error) {
			attempt.point = null;
			notifyError(error);
		}
		this.draw();
	}

	mistakesOfSide() {
		return this.mistakes().filter((move) => this.side === "both" || move.colour === this.side);
	}

	startLesson() {
		const plies = this.mistakesOfSide().map((move) => move.turnNumber);
		const [first] = plies;
		if (first === undefined) return;
		this.look(first);
		this.lesson = { plies, solved: new Set() };
		this.tryAgain();
	}

	nextInLesson() {
		const { lesson } = this;
		if (!lesson) return;
		const next = lesson.plies[lesson.plies.indexOf(this.ply) + 1];
		if (next === undefined) {
			const { solved, plies } = lesson;
			this.look(this.ply);
			notify(t("review.learn.done", { solved: solved.size, count: plies.length }));
			return;
		}
		this.look(next);
		this.lesson = lesson;
		this.tryAgain();
	}

	analyse() {
		workspace.node = this.nodeAt(this.ply);
		go("analyse");
	}

	draw() {
		this.view.draw();
	}

	/** The actions of the keys. @returns {Actions<"review">} */
	actions() {
		return {
			back: () => this.walk(-1),
			forward: () => this.walk(1),
			farBack: () => this.walk(-10),
			farForward: () => this.walk(10),
			first: () => this.walk(-Infinity),
			last: () => this.walk(Infinity),
			nextMistake: () => this.lookAtMistake(1),
			previousMistake: () => this.lookAtMistake(-1),
			tryAgain: () => this.tryAgain(),
			better: () => this.showLine("better"),
			refutation: () => this.showLine("refutation"),
			learn: () => this.startLesson(),
			leave: () => this.look(this.ply),
			start: () => (this.stream ? this.stop() : this.start()),
			import: () => openImport((record) => this.load(record)),
			analyse: () => this.analyse(),
			board: () => this.board.focus(),
		};
	}

	unmount() {
		this.halt();
		workspace.keep();
		for (const end of this.unfollow) end();
	}
}

/** Add the moves of a game on this server to the address, and start its review; `move` is the move to show. */
async function openGame(/** @type {string} */ id, /** @type {string | null} */ move) {
	const found = await gameOnServer(id);
	const rules = found.rules.split(":").slice(0, 3).join(":");
	const person = /** @type {const} */ (["proposer", "chooser"]).filter(
		(seat) => found.players[seat]?.kind === "person",
	);
	const side =
		person.length === 1 && found.blackSeat ? { side: person[0] === found.blackSeat ? "black" : "white" } : {};
	redirect("review", { ...queryOf({ ...found, rules }), game: id, ...side, ...(move ? { move } : {}), start: "1" });
}

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
	await serverInfo();
	const page = new ReviewPage(main);
	const follow = async (/** @type {Route} */ { rest: [id], query }) => {
		if (id) {
			await openGame(id, query.get("move")).catch(notifyError);
			return;
		}
		const position = positionIn(query);
		if (position?.moves.length) workspace.begin(position);
		page.gameId = query.get("game");
		page.side = query.get("side") ?? "both";
		page.start(!query.get("start"));
		if (query.has("move")) page.look(Number(query.get("move")) || 0);
		if (!query.get("start")) return;
		// After a reload, the stored review is shown again instead of a new one.
		const kept = Object.fromEntries([...query].filter(([key]) => key !== "start"));
		replaceRoute("review", position ? { ...kept, ...queryOf(position) } : {});
	};
	await follow(route);
	return { unmount: () => page.unmount(), actions: page.actions(), follow };
}
