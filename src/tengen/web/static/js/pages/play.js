/** The play page. The game runs on the server; the page shows its state and sends the user's actions. A stone is drawn
 *  as soon as the user clicks, and removed again if the server rejects the move. */

import { deleteGame, myRating, newGame, rematch, serverInfo, socket } from "../api.js";
import { stonesOf } from "../board/state.js";
import { followSettings } from "../board_settings.js";
import { t } from "../i18n.js";
import { announce, confirmed, notify, notifyError } from "../notice.js";
import { go, replaceRoute } from "../router.js";
import { onChange, read, save, settings } from "../settings.js";
import { playEnd, playStone } from "../sound.js";
import { askPoint } from "../widgets/ask_point.js";
import { positionIn } from "../workspace.js";
import { colourAt, personColour, personSeats, status } from "./play_game.js";
import { chooseOpponent, requestOf, setupForm } from "./play_setup.js";
import { PlayView, hintText } from "./play_view.js";

const KEY = "tengen.game";

/** @import { Stream } from "../api.js" */
/** @import { Actions } from "../keys.js" */
/** @import { Act, GameState, HintMessage, NewGame, PlayerRating, ServerInfo, SimpleAction } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @import { PositionFields } from "../workspace.js" */

class PlayPage {
	/** The newest state from the server. @type {GameState | null} */ game = null;
	/** @type {Stream | null} */ watch = null;
	/** The id of the watched game. @type {string | null} */ watching = null;
	/** The number of moves shown; null for the current position. @type {number | null} */ shownPly = null;
	/** A stone drawn before the server has accepted it. @type {string | null} */ sentMove = null;
	/** The point of the click that started the game; it is played once the server has created the game. @type {string | null} */ firstStone =
		null;
	/** The hint for the current position, with its reason. @type {HintMessage | null} */ hint = null;
	/** The position from which the next game starts; null for the empty board. @type {PositionFields | null} */ start =
		null;
	/** Whether the form of a new game is open, so that a click on the board starts the game. */
	isSettingUp = false;
	/** When the newest state arrived. */ receivedAt = 0;
	/** The user's rating, once the server has sent it. @type {PlayerRating | null} */ rating = null;

	constructor(/** @type {HTMLElement} */ main, /** @type {ServerInfo} */ info) {
		this.info = info;
		const buttons = {
			act: (/** @type {Act["action"] | SimpleAction["action"]} */ action) => this.act(action),
			askHint: () => this.askHint(),
			resign: () => this.resign(),
			newGame: () => this.newGame(),
			abort: () => this.abort(),
			rematch: () => this.rematch(),
		};
		this.view = new PlayView(main, info, buttons, {
			onPlay: (point) => this.play(point),
			// A tap that starts a game needs no confirmation, because a mistake costs nothing yet.
			onPick: (point) => this.isSettingUp && settings.confirm !== "always" && this.startAt(point),
			onPly: (ply) => this.showPly(ply),
		});
		this.board = this.view.board;
		const endings = [followSettings(this.board), onChange((changes) => changes.game && this.drawSetup())];
		this.unfollow = () => endings.forEach((end) => end());
		this.ticker = setInterval(() => this.view.tick(this), 100);
	}

	// -- entering and leaving a game -----------------------------------------------------------------------------------

	/** Show the form for a new game, which starts from an empty board or from a given position. */
	showSetup(/** @type {PositionFields | null} */ position = null) {
		this.leave();
		save(KEY, null);
		this.start = position;
		this.isSettingUp = true;
		this.drawForm();
		this.drawSetup();
		this.loadRating(() => this.isSettingUp && this.drawForm());
	}

	drawForm() {
		this.view.showForm(setupForm(this.info, this.rating, (request) => this.launch(request), this.start !== null));
	}

	/** Get the rating from the server. The page works without it. */
	async loadRating(/** @type {() => void} */ then) {
		try {
			this.rating = await myRating();
			then();
		} catch {
			this.rating = null;
		}
	}

	/** While the form is open, the board has the size chosen there, and a click starts the game. */
	drawSetup() {
		if (this.isSettingUp) this.view.drawStart(this.start);
	}

	/** Start a game by a click on the empty board. If the first stone is the user's, it is placed there. */
	startAt(/** @type {string} */ point) {
		if (!this.board.state.toPlay) return false;
		const request = requestOf(settings.game, Math.random() < 0.5);
		this.launch(request, request.black.kind === "person" ? point : null);
		return true;
	}

	/** Start the game set up in the form. `firstStone` is drawn at once and played when the server has the new game. */
	async launch(/** @type {NewGame} */ request, /** @type {string | null} */ firstStone = null) {
		this.isSettingUp = false;
		this.board.set({ toPlay: null });
		if (firstStone) {
			this.board.set({ stones: stonesOf([{ point: firstStone, colour: "black", number: 1 }]), lastMove: firstStone });
			playStone("black");
		}
		if (await this.enter(newGame(this.start ? { ...request, ...this.start } : request), firstStone)) return;
		this.isSettingUp = true;
		this.drawSetup();
	}

	async enter(/** @type {Promise<GameState>} */ requested, /** @type {string | null} */ firstStone = null) {
		try {
			const game = await requested;
			this.begin(game.id);
			this.firstStone = firstStone;
			go(`play/${game.id}`);
			return true;
		} catch (error) {
			notifyError(error);
			return false;
		}
	}

	begin(/** @type {string} */ id) {
		if (this.game?.id === id || this.watching === id) return;
		this.leave();
		this.watching = id;
		this.watch = socket.open(
			{ type: "watch", gameId: id },
			(message) => this.update(message.game),
			(error, goesOn) => {
				notifyError(error);
				if (goesOn) return;
				this.showSetup();
				go("play");
			},
		);
		save(KEY, id);
	}

	leave() {
		this.watch?.close();
		this.watch = null;
		this.watching = null;
		this.game = null;
		this.sentMove = null;
		this.shownPly = null;
		this.hint = null;
		this.firstStone = null;
		this.isSettingUp = false;
		this.view.clear();
	}

	// -- messages from the server --------------------------------------------------------------------------------------

	update(/** @type {GameState} */ game) {
		if (this.game && game.revision < this.game.revision) return;
		const before = this.game;
		this.game = game;
		this.receivedAt = performance.now();
		const isNew = before?.id === game.id && game.moves.length > before.moves.length;
		if (isNew || (before && game.moves.length < before.moves.length)) this.hint = null;
		if (isNew) this.announceMove(game, this.sentMove);
		this.sentMove = null;
		const hasEnded = game.outcome !== "ongoing" && before?.outcome !== game.outcome;
		if (before && hasEnded) this.announceEnd(game);
		if (hasEnded && game.isRated) this.loadRating(() => this.draw());
		this.draw();
		const { firstStone } = this;
		this.firstStone = null;
		if (firstStone && !game.moves.length) this.play(firstStone);
	}

	/** Announce the latest move and play its sound, unless the click has already played it. */
	announceMove(/** @type {GameState} */ game, /** @type {string | null} */ drawn) {
		const point = game.moves.at(-1);
		if (!point) return;
		const colour = colourAt(game, game.moves.length - 1);
		announce(t("said.move", { colour: t(colour), point: point.toUpperCase() }));
		if (point !== drawn) playStone(colour);
	}

	announceEnd(/** @type {GameState} */ game) {
		announce(status(game, this.info.levels));
		const mine = personColour(game);
		playEnd(!mine || game.outcome === "draw" ? "end" : game.outcome === mine ? "win" : "loss");
	}

	// -- user actions --------------------------------------------------------------------------------------------------

	/** Send an action; an action without arguments can be given by name. */
	async act(/** @type {Act["action"] | SimpleAction["action"]} */ action) {
		if (!this.game) return;
		const whole = typeof action === "string" ? { action } : action;
		try {
			await socket.request({ type: "act", gameId: this.game.id, action: whole });
		} catch (error) {
			this.sentMove = null;
			notifyError(error);
			this.draw();
		}
	}

	play(/** @type {string} */ point) {
		if (this.isSettingUp) {
			this.startAt(point);
			return;
		}
		const { game } = this;
		if (!game?.turn?.isPerson || game.turn.step !== "stone") return;
		if (!game.turn.legal.includes(point)) {
			const foul = game.fouls.find((each) => each.point === point);
			notify(foul ? t("foul.text", { kind: t(`foul.${foul.kind}`), point }) : t("not-here", { point }), {
				error: true,
			});
			return;
		}
		this.sentMove = point;
		this.view.drawBoard(game, this);
		playStone(game.currentPlayer);
		this.act({ action: "play", point, turnNumber: game.moves.length });
	}

	async askHint() {
		if (!this.game?.turn?.isPerson) return;
		const turn = this.game.moves.length;
		try {
			const answer = await socket.request({ type: "hint", gameId: this.game.id });
			if (answer.turnNumber !== turn || this.game?.moves.length !== turn) return;
			this.hint = answer;
			announce(hintText(answer));
			this.draw();
		} catch (error) {
			notifyError(error);
		}
	}

	async abort() {
		const { game } = this;
		if (!game || (game.moves.length && !(await confirmed(t("abort.question"), t("action.abort"))))) return;
		try {
			this.newGame();
			await deleteGame(game.id);
		} catch (error) {
			notifyError(error);
		}
	}

	rematch() {
		if (this.game) this.enter(rematch(this.game.id));
	}

	async resign() {
		if (this.game?.turn && (await confirmed(t("resign.question"), t("resign")))) this.act("resign");
	}

	async typePoint() {
		const point = this.board.state.toPlay ? await askPoint(this.board) : null;
		if (point) this.play(point);
	}

	// -- drawing -------------------------------------------------------------------------------------------------------

	/** Show the position after `ply` moves without changing the game. */
	showPly(/** @type {number} */ ply) {
		if (!this.game) return;
		const last = this.game.moves.length;
		this.shownPly = ply >= last ? null : Math.max(0, ply);
		this.draw();
	}

	stepBy(/** @type {number} */ steps) {
		if (this.game) this.showPly((this.shownPly ?? this.game.moves.length) + steps);
	}

	draw() {
		this.view.draw(this);
	}

	newGame() {
		this.showSetup();
		go("play");
	}

	togglePause() {
		if (this.game?.turn) this.act(this.game.isPaused ? "resume" : "pause");
	}

	/** The actions of the keys. @returns {Actions<"play">} */
	actions() {
		return {
			undo: () => this.game?.canUndo && this.act("undo"),
			redo: () => this.game?.canRedo && this.act("redo"),
			hint: () => this.askHint(),
			moveNow: () => this.game?.isThinking && this.act("moveNow"),
			thinkAgain: () => this.game && this.act("thinkAgain"),
			resign: () => this.resign(),
			pause: () => this.togglePause(),
			pauseWatched: () => this.game && !personSeats(this.game).length && this.togglePause(),
			step: () => this.game?.isPaused && this.act("step"),
			newGame: () => this.newGame(),
			back: () => this.stepBy(-1),
			forward: () => this.stepBy(1),
			first: () => this.showPly(0),
			last: () => this.showPly(Infinity),
			board: () => this.board.focus(),
			typePoint: () => this.typePoint(),
		};
	}

	unmount() {
		this.leave();
		this.unfollow();
		clearInterval(this.ticker);
	}
}

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
	const page = new PlayPage(main, await serverInfo());
	const follow = (/** @type {Route} */ { rest: [id], query }) => {
		if (id === "new") {
			chooseOpponent(query);
			// If the query names an agent, its rules are for the new game and do not describe a position.
			page.showSetup(query.has("agent") ? null : positionIn(query));
		} else if (id) page.begin(id);
		else if (page.watching) replaceRoute(`play/${page.watching}`);
		else page.showSetup();
	};
	const last = read(KEY, /** @type {string | null} */ (null));
	if (!route.rest[0] && last) {
		page.begin(last);
		replaceRoute(`play/${last}`);
	} else {
		follow(route);
	}
	return { unmount: () => page.unmount(), actions: page.actions(), follow };
}
