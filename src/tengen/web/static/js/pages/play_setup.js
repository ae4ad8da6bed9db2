/** The form for a new game: opponent, colour and rules. */

import { fill, h, keepingFocus } from "../dom.js";
import { t, translated } from "../i18n.js";
import { change, settings } from "../settings.js";
import { agentField } from "../widgets/agent_field.js";
import { button, check, choice, field, segments, wholeNumber } from "../widgets/fields.js";
import { sizeOf } from "../workspace.js";

const SIZES = [15, 19, 20, 13, 9, 6, 3];
/** Opponents that are chosen by the name of an agent. */
const ADVANCED = ["agent", "watch"];
const CLOCKS = ["none", "60+1", "180+2", "300+3", "600+5", "1800+10"];

/** @import { NewGame, PlayerRating, ServerInfo } from "../messages.js" */
/** @typedef {typeof settings.game} GameSettings */

export function rulesOf(/** @type {GameSettings} */ game) {
	return `${game.width}x${game.height}:${game.winLength}:${game.rule}${game.opening === "free" ? "" : `:${game.opening}`}`;
}

/** Parse the text of a ruleset into settings; its opening is ignored. */
function rulesIn(/** @type {string} */ text) {
	const [, winLength = "5", rule = "freestyle"] = text.split(":");
	return { ...sizeOf(text), winLength: Number(winLength), rule };
}

/** Return the usual win length of a board: five, but fewer on small boards, except in renju. */
function winLengthOf(
	/** @type {number} */ width,
	/** @type {number} */ height,
	/** @type {string} */ rule = "freestyle",
) {
	const size = Math.min(width, height);
	return rule === "renju" || size > 6 ? 5 : size > 3 ? 4 : 3;
}

/** Create the request that starts a game. `coin` decides the colour if it is random. @returns {NewGame} */
export function requestOf(/** @type {GameSettings} */ game, /** @type {boolean} */ coin) {
	/** @returns {NewGame["black"]} */
	const agent = (/** @type {string} */ text) => ({ kind: "agent", agent: text, maxTimeMs: 1000 * game.seconds });
	const person = /** @type {const} */ ({ kind: "person" });
	const [mainSeconds = 0, incrementSeconds = 0] = game.clock.split("+").map(Number);
	const request = {
		rules: rulesOf(game),
		...(game.clock === "none" ? {} : { clock: { mainMs: 1000 * mainSeconds, incrementMs: 1000 * incrementSeconds } }),
	};
	if (game.opponent === "person") return { ...request, black: person, white: person };
	if (game.opponent === "watch") return { ...request, black: agent(game.agent), white: agent(game.second) };
	/** @type {NewGame["black"]} */
	const opponent =
		game.opponent === "level" ? { kind: "level", level: game.level, isAdaptive: game.adaptive } : agent(game.agent);
	const isBlack = game.colour === "black" || (game.colour === "random" && coin);
	return { ...request, black: isBlack ? person : opponent, white: isBlack ? opponent : person };
}

/** Fill in the form with the opponent and rules given in the address. */
export function chooseOpponent(/** @type {URLSearchParams} */ query) {
	const [agent, rules] = [query.get("agent"), query.get("rules")];
	if (!agent) return;
	const { width, height, winLength, rule } = { ...settings.game, ...(rules ? rulesIn(rules) : {}) };
	change({ game: { ...settings.game, opponent: "agent", agent, width, height, winLength, rule, opening: "free" } });
}

/**
 * Create the form.
 * @param {ServerInfo} info
 * @param {PlayerRating | null} rating the user's rating, once it is known
 * @param {(request: NewGame) => void} onStart
 * @param {boolean} [hasPosition] whether the game starts from a position, which determines the rules
 */
export function setupForm(info, rating, onStart, hasPosition = false) {
	const body = h("div", { class: "stack setup" });
	const set = (/** @type {Partial<GameSettings>} */ changes, redraw = true) => {
		change({ game: { ...settings.game, ...changes } });
		if (redraw) keepingFocus(body, draw);
	};
	if (!settings.game.agent) set({ agent: info.defaultAgent, second: info.defaultAgent }, false);

	const opponentFields = (/** @type {GameSettings} */ game) => {
		if (game.opponent === "level") return levelFields(info, rating, set);
		const time = field(
			t("agent.seconds"),
			wholeNumber(game.seconds, 1, 30, (seconds) => set({ seconds }, false)),
		);
		if (game.opponent === "agent") return [agentField(info, game.agent, (agent) => set({ agent }, false)), time];
		if (game.opponent === "watch") {
			return [
				agentField(info, game.agent, (agent) => set({ agent }, false), { label: t("black") }),
				agentField(info, game.second, (second) => set({ second }, false), { label: t("white") }),
				time,
			];
		}
		return [h("p", { class: "soft small" }, t("setup.person-help"))];
	};

	const sizeFields = (/** @type {GameSettings} */ game) => {
		const isPreset = game.width === game.height && SIZES.includes(game.width);
		const options = /** @type {[string, string][]} */ ([
			...SIZES.map((size) => [String(size), `${size} × ${size}`]),
			["other", t("size.other")],
		]);
		const select = choice(options, isPreset ? String(game.width) : "other", (value) => {
			const [width, height] = value === "other" ? [17, 16] : [Number(value), Number(value)];
			set({ width, height, winLength: winLengthOf(width, height, game.rule) });
		});
		const sides = isPreset
			? []
			: [
					field(
						t("size.width"),
						wholeNumber(game.width, 3, 22, (width) =>
							set({ width, winLength: winLengthOf(width, game.height, game.rule) }),
						),
					),
					field(
						t("size.height"),
						wholeNumber(game.height, 3, 22, (height) =>
							set({ height, winLength: winLengthOf(game.width, height, game.rule) }),
						),
					),
				];
		return [field(t("size"), select), ...sides];
	};

	const draw = () => {
		const { game } = settings;
		const named = (/** @type {string} */ prefix) => (/** @type {string} */ value) =>
			/** @type {[string, string]} */ ([value, t(`${prefix}.${value}`)]);
		const isAdvanced = ADVANCED.includes(game.opponent);
		const hasColour = game.opponent === "level" || game.opponent === "agent";
		fill(
			body,
			segments(
				t("opponent"),
				["level", "person", "advanced"].map(named("opponent")),
				isAdvanced ? "advanced" : game.opponent,
				(opponent) => set({ opponent: opponent === "advanced" ? "agent" : opponent }),
			),
			isAdvanced
				? segments(t("opponent.advanced"), ADVANCED.map(named("opponent")), game.opponent, (opponent) =>
						set({ opponent }),
					)
				: null,
			...opponentFields(game),
			hasColour
				? h(
						"div",
						{ class: "field" },
						h("span", null, t("colour")),
						segments(t("colour"), ["black", "random", "white"].map(named("colour")), game.colour, (colour) =>
							set({ colour }),
						),
					)
				: null,
			...(hasPosition ? [h("p", { class: "soft small" }, t("setup.from-position"))] : rulesFields(game, named)),
			h(
				"div",
				{ class: "start-bar" },
				h(
					"button",
					{ class: "button primary large wide", type: "submit" },
					t(game.opponent === "watch" ? "setup.watch" : "setup.start"),
				),
			),
		);
	};

	const rulesFields = (
		/** @type {GameSettings} */ game,
		/** @type {(prefix: string) => (value: string) => [string, string]} */ named,
	) => [
		h(
			"div",
			{ class: "fields" },
			field(
				t("rule"),
				choice(info.rules.map(named("rule")), game.rule, (rule) =>
					set({ rule, ...(rule === "renju" ? { winLength: 5 } : {}) }),
				),
			),
			...sizeFields(game),
		),
		h("p", { class: "soft small" }, t(`rule.${game.rule}.help`)),
		h(
			"details",
			{ open: game.opening !== "free" || game.clock !== "none" || game.winLength !== 5 },
			h("summary", { class: "small soft" }, t("setup.more")),
			h(
				"div",
				{ class: "fields" },
				field(
					t("opening"),
					choice(info.openings.map(named("opening")), game.opening, (opening) => set({ opening })),
				),
				field(
					t("clock"),
					choice(
						CLOCKS.map((clock) => [clock, clock === "none" ? t("clock.none") : clockText(clock)]),
						game.clock,
						(clock) => set({ clock }, false),
					),
				),
				field(
					t("win-length"),
					choice(
						["3", "4", "5", "6"].map((length) => [length, length]),
						String(game.winLength),
						(length) => set({ winLength: Number(length) }),
					),
				),
			),
			game.opening === "free" ? null : h("p", { class: "soft small" }, t(`opening.${game.opening}.help`)),
		),
	];
	draw();
	return h(
		"form",
		{
			class: "card",
			onsubmit: (/** @type {Event} */ event) => {
				event.preventDefault();
				onStart(requestOf(settings.game, Math.random() < 0.5));
			},
		},
		h("h2", null, t("setup.title")),
		body,
	);
}

/**
 * The fields of a level: its name and description, the slider, and the user's rating with the suggested level.
 * @param {ServerInfo} info
 * @param {PlayerRating | null} rating
 * @param {(changes: Partial<GameSettings>, redraw?: boolean) => void} set
 */
function levelFields(info, rating, set) {
	const { game } = settings;
	const isAdaptive = game.adaptive && rating !== null;
	const about = h("div", { class: "level-about", "aria-live": "polite" });
	const show = (/** @type {number} */ number) => {
		const level = info.levels.find((each) => each.level === number);
		fill(
			about,
			h("strong", null, level ? translated(level.name) : t("level.n", { level: number })),
			level?.rating
				? h("span", { class: "soft", title: t("rating.help") }, ` ${t("rating.n", { rating: level.rating })}`)
				: null,
			h("p", { class: "soft small" }, level ? `${translated(level.description)}${t("full-stop")}` : ""),
		);
	};
	const range = h("input", {
		type: "range",
		min: 1,
		max: 10,
		step: 1,
		value: isAdaptive ? rating.suggestedLevel : game.level,
		disabled: isAdaptive,
		"aria-label": t("level"),
		oninput: () => {
			set({ level: Number(range.value) }, false);
			show(settings.game.level);
		},
		// The suggestion is drawn again only when the slider is released.
		onchange: () => set({ level: Number(range.value) }),
	});
	const ticks = h(
		"div",
		{ class: "ticks", "aria-hidden": "true" },
		Array.from({ length: 10 }, (_, i) => h("span", null, i + 1)),
	);
	show(Number(range.value));
	return [
		h("div", { class: "stack", dataset: { focus: "level" } }, about, h("div", null, range, ticks)),
		...(rating ? [ratingLine(info, rating, isAdaptive, set)] : []),
		check(t("adaptive"), isAdaptive, (adaptive) => set({ adaptive })),
	];
}

/**
 * @param {ServerInfo} info
 * @param {PlayerRating} rating
 * @param {boolean} isAdaptive
 * @param {(changes: Partial<GameSettings>) => void} set
 */
function ratingLine(info, { rating, deviation, games, suggestedLevel }, isAdaptive, set) {
	const name = translated(info.levels.find(({ level }) => level === suggestedLevel)?.name ?? "");
	const isOffered = !isAdaptive && suggestedLevel !== settings.game.level;
	return h(
		"p",
		{ class: "small rating-line", title: t("rating.help") },
		games ? t("rating.yours", { rating, error: 2 * deviation, games }) : t("rating.none"),
		" ",
		t("rating.suggested", { level: suggestedLevel, name }),
		isOffered ? " " : null,
		isOffered ? button(t("rating.take"), () => set({ level: suggestedLevel }), { kind: "bare small" }) : null,
	);
}

/** Format `300+3` as "5 min + 3 s". */
function clockText(/** @type {string} */ clock) {
	const [main = 0, increment = 0] = clock.split("+").map(Number);
	return t("clock.text", { minutes: main / 60, seconds: increment });
}
