/** Reads the state of a game: who plays which colour, and the sentences above the moves. */

import { t } from "../i18n.js";
import { nameOf } from "../widgets/player_bar.js";
import { shapeText } from "../widgets/reasons.js";
import { other } from "../workspace.js";

/** @import { Stone } from "../board/state.js" */
/** @import { Colour, GameState, LevelInfo, PlayerRating, Seat } from "../messages.js" */
/** @import { PositionFields } from "../workspace.js" */

export const personSeats = (/** @type {GameState} */ { players }) =>
	/** @type {const} */ (["proposer", "chooser"]).filter((seat) => players[seat]?.kind === "person");

/** The colour of the only human player; null if there are two or none. @returns {Colour | null} */
export function personColour(/** @type {GameState} */ game) {
	const seats = personSeats(game);
	if (seats.length !== 1 || !game.blackSeat) return null;
	return game.blackSeat === seats[0] ? "black" : "white";
}

/** The colour of a move; colours alternate from the initial player. @returns {Colour} */
export const colourAt = (/** @type {GameState} */ game, /** @type {number} */ index) =>
	index % 2 ? other(game.initialPlayer) : game.initialPlayer;

/** The seat that plays a colour; until the opening has decided, the proposer counts as black. @returns {Seat} */
export function seatOf(/** @type {GameState} */ game, /** @type {Colour} */ colour) {
	const black = game.blackSeat ?? "proposer";
	return colour === "black" ? black : black === "proposer" ? "chooser" : "proposer";
}

/** The stones of a position; the moves alternate from the initial player. @returns {Stone[]} */
export function stonesOfPosition(
	/** @type {Omit<PositionFields, "rules">} */ { initialStones = [], initialPlayer = "black", moves },
) {
	const played = moves.map((point, i) => ({
		point,
		colour: i % 2 ? other(initialPlayer) : initialPlayer,
		number: i + 1,
	}));
	return [...initialStones.map(([colour, point]) => ({ point, colour })), ...played];
}

export function nameOfSeat(/** @type {GameState} */ game, /** @type {Seat} */ seat, /** @type {LevelInfo[]} */ levels) {
	const { players, blackSeat } = game;
	const player = players[seat];
	if (player && (player.kind !== "person" || player.name)) return nameOf(player, levels);
	if (personSeats(game).length === 1) return t("you");
	return blackSeat ? t(seat === blackSeat ? "black" : "white") : t(`player.${seat}`);
}

/** The sentence above the moves: the result, or what happens next. */
export function status(/** @type {GameState} */ game, /** @type {LevelInfo[]} */ levels) {
	if (game.outcome !== "ongoing") return resultSentence(game);
	if (game.isPaused) return t("status.paused");
	const { turn } = game;
	if (turn && !turn.isPerson) return t("status.thinking", { name: nameOfSeat(game, turn.seat, levels) });
	if (turn?.step === "option") return t("status.choose");
	if (turn && turn.stonesDue > 1) return t("status.place", { count: turn.stonesDue });
	return personColour(game) ? t("status.yours") : t("status.to-move", { colour: t(game.currentPlayer) });
}

/** How a game ended: "You won by a four-three in 23 moves". */
function resultSentence(/** @type {GameState} */ game) {
	const { outcome, winningShape } = game;
	const moves = game.moves.length;
	if (outcome === "draw") return t("result.draw-in", { moves });
	const mine = personColour(game);
	const who = mine === null ? "wins" : outcome === mine ? "you-won" : "you-lost";
	const how = game.reason === "five" && winningShape ? "shape" : game.reason.replaceAll(" ", "-");
	return t(`result.${who}.${how}`, { colour: t(outcome), moves, shape: winningShape ? shapeText(winningShape) : "" });
}

/** What the players chose in the opening, and why. */
export const choiceTexts = (/** @type {GameState} */ game, /** @type {LevelInfo[]} */ levels) =>
	game.choiceNotes.map(({ seat, option, whiteWinrate }) => {
		const chose = t(`chose.${option}`, { name: nameOfSeat(game, seat, levels) });
		if (whiteWinrate === null) return chose;
		const percent = Math.round(100 * (option === "take-black" ? 1 - whiteWinrate : whiteWinrate));
		return `${chose} ${t(`chose.${option}.why`, { percent })}`;
	});

/** Format a rating change with its sign: +14, −8. */
const signed = (/** @type {number} */ change) => `${change < 0 ? "−" : "+"}${Math.abs(change)}`;

/** Say whether a game against a level is rated or, once it is over, the new rating; empty for other games. */
export function ratedText(/** @type {GameState} */ game, /** @type {PlayerRating | null} */ rating) {
	const hasLevel = Object.values(game.players).some((player) => player?.kind === "level");
	if (!hasLevel || personSeats(game).length !== 1) return "";
	if (!game.isRated) return t("rated.not");
	if (game.turn) return t("rated");
	const entry = rating?.history.find(({ gameId }) => gameId === game.id);
	return entry ? t("rated.after", { rating: entry.rating, change: signed(entry.change) }) : "";
}
