/** The buttons beside a game: in an opening, during the game, and after its end. */

import { t } from "../i18n.js";
import { go } from "../router.js";
import { button } from "../widgets/fields.js";
import { queryOf } from "../workspace.js";
import { personColour, personSeats } from "./play_game.js";

/** @import { Act, GameState, SimpleAction } from "../messages.js" */

/**
 * @typedef {object} Actions what the buttons do
 * @property {(action: Act["action"] | SimpleAction["action"]) => void} act
 * @property {() => void} askHint
 * @property {() => void} resign
 * @property {() => void} newGame
 * @property {() => void} abort
 * @property {() => void} rematch
 */

/** The buttons for the opening options, if the user has to choose one. */
export function openingButtons(/** @type {GameState} */ { turn }, /** @type {Actions} */ { act }) {
	if (!turn?.isPerson || turn.step !== "option") return [];
	return turn.options.map((option) =>
		button(t(`option.${option}`), () => act({ action: "choose", option }), { kind: "wide" }),
	);
}

export function gameButtons(/** @type {GameState} */ game, /** @type {Actions} */ actions) {
	const { turn, isThinking, isPaused, canUndo } = game;
	const mayAskHint = turn !== null && turn.isPerson && turn.step === "stone";
	const make = (
		/** @type {string} */ name,
		/** @type {string} */ icon,
		/** @type {() => void} */ run,
		/** @type {boolean} */ enabled = true,
	) => button(t(`action.${name}`), run, { icon, disabled: !enabled });
	const moveNow = make("move-now", "now", () => actions.act("moveNow"), isThinking);
	const rest = [make("new", "new", actions.newGame), make("abort", "delete", actions.abort)];
	if (personSeats(game).length) {
		return [
			make("undo", "undo", () => actions.act("undo"), canUndo),
			make("hint", "hint", actions.askHint, mayAskHint),
			moveNow,
			make("resign", "flag", actions.resign),
			...rest,
		];
	}
	const pause = isPaused
		? make("resume", "start", () => actions.act("resume"))
		: make("pause", "pause", () => actions.act("pause"));
	return [pause, make("step", "forward", () => actions.act("step"), isPaused), moveNow, ...rest];
}

export function endButtons(/** @type {GameState} */ game, /** @type {Actions} */ actions) {
	const query = () => queryOf({ ...game, rules: game.rules.split(":").slice(0, 3).join(":") });
	const side = personColour(game);
	const list = [
		button(t("rematch"), actions.rematch, { kind: "primary", icon: "play" }),
		button(t("page.review"), () => go("review", { ...query(), game: game.id, ...(side ? { side } : {}), start: "1" }), {
			icon: "review",
		}),
		button(t("page.analyse"), () => go("analyse", query()), { icon: "analyse" }),
		button(t("action.new"), actions.newGame, { icon: "new" }),
	];
	return game.canUndo ? [...list, button(t("action.undo"), () => actions.act("undo"), { icon: "undo" })] : list;
}
