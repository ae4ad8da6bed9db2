/** The elements of the play page, and the drawing of a game: board, players, clocks, moves, buttons. */

import { Board } from "../board/board.js";
import { stonesOf } from "../board/state.js";
import { fill, h, keepingFocus, refill } from "../dom.js";
import { showRules } from "../headline.js";
import { t } from "../i18n.js";
import { settings } from "../settings.js";
import { newRoot, play as playInTree, step } from "../tree.js";
import { button } from "../widgets/fields.js";
import { MoveTree } from "../widgets/move_tree.js";
import { PlayerBar } from "../widgets/player_bar.js";
import { reasonSentence } from "../widgets/reasons.js";
import { sizeOf } from "../workspace.js";
import { endButtons, gameButtons, openingButtons } from "./play_buttons.js";
import {
	choiceTexts,
	colourAt,
	nameOfSeat,
	personSeats,
	ratedText,
	seatOf,
	status,
	stonesOfPosition,
} from "./play_game.js";
import { rulesOf } from "./play_setup.js";

/** @import { GameState, HintMessage, PlayerRating, ServerInfo } from "../messages.js" */
/** @import { PositionFields } from "../workspace.js" */
/** @import { Actions } from "./play_buttons.js" */

/**
 * @typedef {object} Shown what the page shows of a game
 * @property {GameState | null} game
 * @property {number | null} shownPly the number of moves shown; null for the current position
 * @property {string | null} sentMove a stone drawn before the server has accepted it
 * @property {HintMessage | null} hint
 * @property {PlayerRating | null} rating
 * @property {number} receivedAt when the state of the game arrived, for the clocks
 */

export const hintText = (/** @type {HintMessage} */ { moveInfo, reason }) =>
	t("said.hint", { point: moveInfo.move.toUpperCase(), reason: reasonSentence(reason) });

export class PlayView {
	/**
	 * @param {HTMLElement} main
	 * @param {ServerInfo} info
	 * @param {Actions} actions what the buttons do
	 * @param {{ onPlay: (point: string) => void, onPick: (point: string) => boolean, onPly: (ply: number) => void }} listeners
	 */
	constructor(main, info, actions, { onPlay, onPick, onPly }) {
		this.info = info;
		this.actions = actions;
		this.boardBox = h("div");
		this.confirmBar = h(
			"div",
			{ class: "confirm-bar", hidden: true },
			button(t("cancel"), () => this.board.set({ pending: null })),
			button(t("place"), () => this.board.confirm(), { kind: "primary" }),
		);
		this.bars = { black: new PlayerBar("black"), white: new PlayerBar("white") };
		this.statusLine = h("div", { class: "status", role: "status" });
		this.said = h("p", { class: "small said", role: "note" });
		this.rated = h("p", { class: "small soft rated" });
		this.options = h("div", { class: "stack opening-options", role: "group", "aria-label": t("status.choose") });
		this.buttons = h("div");
		this.side = h("div", { class: "side" });
		fill(
			main,
			h("h1", { class: "visually-hidden" }, t("page.play")),
			h(
				"div",
				{ class: "stage" },
				h(
					"section",
					{ class: "table", "aria-label": t("board") },
					this.bars.white.element,
					this.boardBox,
					this.bars.black.element,
					this.confirmBar,
				),
				this.side,
			),
		);
		this.board = new Board(this.boardBox, {
			onPlay,
			onPick,
			onPending: (point) => (this.confirmBar.hidden = !point),
		});
		this.moves = new MoveTree((node) => onPly(node.ply));
		this.panel = h(
			"div",
			{ class: "card" },
			this.statusLine,
			this.said,
			this.rated,
			this.options,
			this.buttons,
			this.moves.element,
		);
	}

	// -- setting up --------------------------------------------------------------------------------------------------------

	/** Show the form of a new game instead of a game. */
	showForm(/** @type {HTMLElement} */ form) {
		for (const bar of Object.values(this.bars)) bar.element.hidden = true;
		keepingFocus(this.side, () => fill(this.side, form));
	}

	/** Show the position from which a game will start: that of `start`, or the empty board that the form describes. */
	drawStart(/** @type {PositionFields | null} */ start) {
		const { width, height } = start ? sizeOf(start.rules) : settings.game;
		const isFirst = !start && settings.game.opponent !== "watch";
		this.board.set({
			width,
			height,
			stones: stonesOf(start ? stonesOfPosition(start) : []),
			lastMove: null,
			winningLine: [],
			fouls: [],
			toPlay: isFirst ? (settings.game.colour === "white" ? "white" : "black") : null,
			hint: null,
			marks: [],
		});
		showRules(start?.rules ?? rulesOf(settings.game));
	}

	/** Remove the elements of a game. The buttons of the next game may look the same, but they act on another game. */
	clear() {
		fill(this.buttons);
	}

	// -- a game ------------------------------------------------------------------------------------------------------------

	draw(/** @type {Shown} */ shown) {
		const { game } = shown;
		if (!game) return;
		this.drawBoard(game, shown);
		this.drawBars(game);
		this.tick(shown);
		this.drawSide(game, shown);
	}

	drawBoard(/** @type {GameState} */ game, /** @type {Shown} */ { shownPly, sentMove, hint }) {
		const isNow = shownPly === null;
		const moves = [...game.moves.slice(0, shownPly ?? undefined), ...(isNow && sentMove ? [sentMove] : [])];
		const mayPlay = isNow && !sentMove && game.turn?.isPerson && game.turn.step === "stone";
		this.board.set({
			width: game.boardXSize,
			height: game.boardYSize,
			stones: stonesOf(stonesOfPosition({ ...game, moves })),
			lastMove: moves.at(-1) ?? null,
			winningLine: isNow ? game.winningLine : [],
			fouls: mayPlay ? game.fouls.map((foul) => foul.point) : [],
			toPlay: mayPlay ? game.currentPlayer : null,
			hint: isNow ? (hint?.moveInfo.move ?? null) : null,
		});
	}

	drawBars(/** @type {GameState} */ game) {
		// A person who plays alone sits at the bottom.
		const [person, second] = personSeats(game);
		const isWhite = person !== undefined && second === undefined && seatOf(game, "white") === person;
		const [top, bottom] = isWhite ? [this.bars.black, this.bars.white] : [this.bars.white, this.bars.black];
		if (this.boardBox.previousElementSibling !== top.element) {
			this.boardBox.before(top.element);
			this.boardBox.after(bottom.element);
		}
		for (const colour of /** @type {const} */ (["black", "white"])) {
			const seat = seatOf(game, colour);
			const isTurn = game.turn?.seat === seat;
			this.bars[colour].show({
				name: nameOfSeat(game, seat, this.info.levels),
				isTurn,
				isThinking: isTurn && game.isThinking,
				isWinner: game.outcome === colour,
				isUnsettled: !game.blackSeat,
			});
		}
	}

	tick(/** @type {Shown} */ { game, receivedAt }) {
		if (!game) return;
		for (const colour of /** @type {const} */ (["black", "white"])) {
			const seat = seatOf(game, colour);
			const spent = game.clock?.running === seat ? performance.now() - receivedAt : 0;
			this.bars[colour].showClock(game.clock ? Math.max(0, (game.clock.leftMs[seat] ?? 0) - spent) : null);
		}
	}

	drawSide(/** @type {GameState} */ game, /** @type {Shown} */ { shownPly, hint, rating }) {
		const isOver = game.turn === null;
		showRules(game.rules);
		const root = newRoot();
		let node = root;
		game.moves.forEach((point, i) => (node = playInTree(node, point, colourAt(game, i))));
		this.moves.show(root, step(root, shownPly ?? game.moves.length));
		this.statusLine.classList.toggle("is-over", isOver);
		const text = status(game, this.info.levels);
		if (this.statusLine.textContent !== text) this.statusLine.textContent = text;
		const said = [...choiceTexts(game, this.info.levels), ...(hint && !isOver ? [hintText(hint)] : [])];
		this.said.textContent = said.join(" ");
		this.said.hidden = !said.length;
		const rated = ratedText(game, rating);
		this.rated.hidden = !rated;
		this.rated.textContent = rated;
		this.buttons.className = isOver ? "buttons even end-buttons" : "actions";
		const options = openingButtons(game, this.actions);
		this.options.hidden = !options.length;
		keepingFocus(this.panel, () => {
			refill(this.options, options);
			refill(this.buttons, isOver ? endButtons(game, this.actions) : gameButtons(game, this.actions));
		});
		if (!this.panel.isConnected) fill(this.side, this.panel);
	}
}
