/** The forms that start training runs and tournaments. */

import { algorithms, operations, run, serverInfo, startTournament, startTraining } from "../api.js";
import { fill, h } from "../dom.js";
import { t, translated } from "../i18n.js";
import { notifyError } from "../notice.js";
import { go } from "../router.js";
import { agentField } from "../widgets/agent_field.js";
import { button, choice, field, wholeNumber } from "../widgets/fields.js";
import { heading } from "./parts.js";

/** @import { AlgorithmInfo, OperatingInfo, OperationInfo, RunSummary, StartTournament, StartTraining } from "../messages.js" */

const RULES = ["freestyle", "standard", "renju", "caro", "caro-exact"];
const DEFAULT_TIME_MS = 500;
const MOST_PLAYERS = 12;

/** A name for a new run or tournament; it contains the time, so it is very likely unused. */
const freshName = (/** @type {string} */ base) =>
	`${base}-${new Date()
		.toISOString()
		.slice(5, 16)
		.replace(/[^0-9]/g, "")}`.slice(0, 40);

/** @param {string} value @param {(value: string) => void} oninput */
const nameField = (value, oninput) => {
	const input = h("input", {
		value,
		maxLength: 40,
		pattern: "[a-z0-9][a-z0-9\\-]*",
		required: true,
		spellcheck: false,
		oninput: () => oninput(input.value),
	});
	return field(t("lab.name"), input);
};

/** @param {() => Promise<OperationInfo>} start @param {string} section @param {Element[]} parts */
function startForm(start, section, parts) {
	const form = h(
		"form",
		{
			class: "card start-form",
			onsubmit: async (/** @type {Event} */ event) => {
				event.preventDefault();
				submit.disabled = true;
				try {
					const started = await start();
					go(`laboratory/${section}/${encodeURIComponent(started.name)}`);
				} catch (error) {
					notifyError(error);
					submit.disabled = false;
				}
			},
		},
		parts,
	);
	const submit = h("button", { type: "submit", class: "button primary" }, t("lab.start"));
	form.append(h("div", { class: "buttons" }, submit));
	return form;
}

const readOnly = (/** @type {OperatingInfo} */ operating) =>
	h(
		"div",
		{ class: "empty" },
		h("p", null, t("lab.read-only")),
		h("p", { class: "soft" }, translated(operating.whyNot)),
	);

export async function showTrainingForm() {
	const [operating, known] = await Promise.all([operations(), algorithms()]);
	const head = heading("runs", t("lab.start-training"), false);
	if (!operating.isEnabled) return [head, readOnly(operating)];
	let chosen = /** @type {AlgorithmInfo} */ (known[0]);
	/** @type {StartTraining} */
	const wanted = { name: "", algorithm: "", preset: "", settings: {}, seed: 0, maxMinutes: 60 };
	const rest = h("div", { class: "stack" });
	const settingFields = () => {
		const preset = chosen.presets.find(({ name }) => name === wanted.preset);
		return chosen.settings.map(({ key, least, most, isInteger }) => {
			const input = h("input", {
				type: "number",
				min: least,
				max: most,
				step: isInteger ? 1 : "any",
				placeholder: String(preset?.values[key] ?? t("lab.default")),
				value: wanted.settings?.[key] ?? "",
				onchange: () => {
					const { [key]: _, ...others } = wanted.settings ?? {};
					wanted.settings = input.value === "" ? others : { ...others, [key]: Number(input.value) };
				},
			});
			return field(t(`lab.set.${key}`), input);
		});
	};
	const draw = () => {
		const preset = chosen.presets.find(({ name }) => name === wanted.preset);
		fill(
			rest,
			h("p", { class: "soft small" }, translated(chosen.description)),
			field(
				t("lab.preset"),
				choice(
					chosen.presets.map(({ name, rules }) => [name, `${name} · ${rules}`]),
					wanted.preset,
					choosePreset,
				),
			),
			h("p", { class: "soft small" }, translated(preset?.description ?? "")),
			nameField(wanted.name, (value) => (wanted.name = value)),
			h("fieldset", { class: "fields settings" }, h("legend", null, t("lab.settings")), settingFields()),
			h(
				"div",
				{ class: "fields" },
				field(
					t("lab.seed"),
					wholeNumber(0, 0, 2 ** 31 - 1, (value) => (wanted.seed = value)),
				),
				field(
					t("lab.max-minutes"),
					wholeNumber(60, 1, 1440, (value) => (wanted.maxMinutes = value)),
				),
			),
		);
	};
	const choosePreset = (/** @type {string} */ name) => {
		wanted.preset = name;
		wanted.name = freshName(name);
		wanted.settings = chosen.settings.some(({ key }) => key === "milestone_every") ? { milestone_every: 10 } : {};
		draw();
	};
	const chooseAlgorithm = (/** @type {string} */ name) => {
		chosen = known.find((each) => each.name === name) ?? chosen;
		wanted.algorithm = chosen.name;
		choosePreset((chosen.presets.find((each) => each.name === "6x6x4") ?? chosen.presets[0])?.name ?? "");
	};
	chooseAlgorithm(chosen.name);
	const algorithm = field(
		t("lab.algorithm"),
		choice(
			known.map(({ name }) => [name, name]),
			chosen.name,
			chooseAlgorithm,
		),
	);
	return [head, startForm(() => startTraining(wanted), "runs", [algorithm, rest])];
}

/** The form that starts a tournament; `run` in the query adds networks of that run as players. */
export async function showTournamentForm(/** @type {URLSearchParams} */ query) {
	const [operating, info] = await Promise.all([operations(), serverInfo()]);
	const head = heading("tournaments", t("lab.start-tournament"), false);
	if (!operating.isEnabled) return [head, readOnly(operating)];
	const ofRun = query.get("run") ? (await run(query.get("run") ?? "")).summary : null;
	/** @type {StartTournament} */
	const wanted = {
		name: freshName("cup"),
		rules: ofRun?.rules ?? "9x9:5:freestyle",
		players: ofRun ? iterationsOf(ofRun) : ["random", "rule-based", "alphabeta:nodes=300"],
		rounds: 4,
		timeMs: DEFAULT_TIME_MS,
		seed: 0,
		maxMinutes: 60,
	};
	const players = h("ol", { class: "players" });
	const count = h("p", { class: "soft small", role: "status" });
	const update = () => {
		const n = wanted.players.length;
		count.textContent = t("lab.games", { games: wanted.rounds ? (wanted.rounds * n * (n - 1)).toString() : "0" });
	};
	const draw = () => {
		fill(
			players,
			wanted.players.map((player, i) =>
				h(
					"li",
					null,
					agentField(info, player, (text) => (wanted.players[i] = text), { label: t("lab.player", { number: i + 1 }) }),
					wanted.players.length > 2
						? button(t("lab.remove"), () => {
								wanted.players.splice(i, 1);
								draw();
							})
						: null,
				),
			),
		);
		add.hidden = wanted.players.length >= MOST_PLAYERS;
		update();
	};
	const add = button(t("lab.add-player"), () => {
		wanted.players.push("naive:level=3");
		draw();
	});
	draw();
	const rules = rulesFields(wanted.rules, (text) => (wanted.rules = text));
	return [
		head,
		startForm(() => startTournament(wanted), "tournaments", [
			nameField(wanted.name, (value) => (wanted.name = value)),
			rules,
			players,
			h("div", { class: "buttons" }, add),
			h(
				"div",
				{ class: "fields" },
				field(
					t("lab.rounds"),
					wholeNumber(wanted.rounds ?? 4, 1, 500, (value) => {
						wanted.rounds = value;
						update();
					}),
				),
				field(
					t("lab.time-ms"),
					wholeNumber(DEFAULT_TIME_MS, 10, 10_000, (value) => (wanted.timeMs = value)),
				),
				field(
					t("lab.max-minutes"),
					wholeNumber(60, 1, 1440, (value) => (wanted.maxMinutes = value)),
				),
			),
			count,
		]),
	];
}

/** The first, a middle and the newest network of a run. */
function iterationsOf(/** @type {RunSummary} */ { agent, milestones }) {
	const kept = [milestones[0], milestones[Math.floor(milestones.length / 2)]].filter((each) => each !== undefined);
	return [...new Set(kept)].map((each) => `${agent},iteration=${each}`).concat(agent ?? []);
}

/** Fields for the size of the board, the length of a win and the rule. */
function rulesFields(/** @type {string} */ text, /** @type {(text: string) => void} */ onchange) {
	const [size = "9x9", win = "5", name = "freestyle"] = text.split(":");
	let [width, length, rule] = [Number(size.split("x")[0]), Number(win), name];
	const changed = () => onchange(`${width}x${width}:${length}:${rule}`);
	return h(
		"div",
		{ class: "fields" },
		field(
			t("size"),
			wholeNumber(width, 3, 22, (value) => {
				width = value;
				changed();
			}),
		),
		field(
			t("lab.win-length"),
			wholeNumber(length, 3, 6, (value) => {
				length = value;
				changed();
			}),
		),
		field(
			t("rule"),
			choice(
				RULES.map((each) => [each, t(`rule.${each}`)]),
				rule,
				(value) => {
					rule = value;
					changed();
				},
			),
		),
	);
}
