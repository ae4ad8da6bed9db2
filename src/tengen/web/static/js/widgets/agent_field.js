/** Form fields for choosing an agent and its parameters. The result is a specification such as `alphabeta:nodes=5000`. */

import { fill, h } from "../dom.js";
import { t, translated } from "../i18n.js";
import { choice, field } from "./fields.js";

/** @import { ParameterInfo, ServerInfo } from "../messages.js" */

/** Parameter types with a text field; all other types are lists of choices. */
const TEXT_TYPES = ["int", "float", "str"];

function parseAgent(/** @type {string} */ text) {
	const [name = "", rest = ""] = text.split(/:(.*)/s);
	/** @type {Record<string, string>} */
	const values = {};
	for (const pair of rest.split(",").filter(Boolean)) {
		const [key = "", value = ""] = pair.split(/=(.*)/s);
		values[key] = value;
	}
	return { name, values };
}

/** Format an agent specification; empty values are omitted. */
function formatAgent(/** @type {string} */ name, /** @type {Record<string, string>} */ values) {
	const pairs = Object.entries(values)
		.filter(([, value]) => value !== "")
		.map(([key, value]) => `${key}=${value}`);
	return pairs.length ? `${name}:${pairs.join(",")}` : name;
}

/**
 * Create the fields for choosing an agent and its parameters.
 * @param {ServerInfo} info
 * @param {string} value an agent specification
 * @param {(text: string) => void} onchange
 * @param {{ analyses?: boolean, label?: string }} [options] `analyses`: offer only agents that can analyse
 */
export function agentField(info, value, onchange, { analyses = false, label = t("agent") } = {}) {
	const known = info.agents.filter((agent) => !analyses || agent.analyses);
	let { name, values } = parseAgent(value);
	if (!known.some((agent) => agent.name === name)) ({ name, values } = parseAgent(info.defaultAgent));

	const details = h("div", { class: "stack" });
	const changed = () => onchange(formatAgent(name, values));
	const input = (/** @type {ParameterInfo} */ parameter) => {
		const current = values[parameter.key] ?? "";
		const set = (/** @type {string} */ text) => {
			values = { ...values, [parameter.key]: text.trim() };
			changed();
		};
		const parts = parameter.type.split(" | ");
		if (parts.length > 1 && !parts.some((part) => TEXT_TYPES.includes(part))) {
			// A run created after the page was loaded is not in the list yet.
			const offered = current && !parts.includes(current) ? [...parts, current] : parts;
			const named = offered
				.filter((part) => part !== "none")
				.map((part) => /** @type {[string, string]} */ ([part, part]));
			return choice([["", parameter.default ?? "–"], ...named], current, set);
		}
		return h("input", {
			value: current,
			placeholder: parameter.default ?? "",
			maxLength: 60,
			spellcheck: false,
			onchange: (/** @type {Event} */ event) => set(/** @type {HTMLInputElement} */ (event.target).value),
		});
	};
	const draw = () => {
		const agent = known.find((each) => each.name === name);
		if (!agent) return;
		const fields = agent.parameters.map((/** @type {ParameterInfo} */ parameter) => {
			const control = field(parameter.key, input(parameter));
			control.title = translated(parameter.help);
			return control;
		});
		fill(
			details,
			h("p", { class: "soft small" }, translated(agent.summary)),
			fields.length
				? h(
						"details",
						{ open: Object.keys(values).length > 0 },
						h("summary", { class: "small soft" }, t("parameters")),
						h("div", { class: "fields parameters" }, fields),
					)
				: null,
		);
	};
	const select = choice(
		known.map((agent) => [agent.name, agent.name]),
		name,
		(chosen) => {
			name = chosen;
			values = {};
			draw();
			changed();
		},
	);
	draw();
	return h("div", { class: "stack" }, field(label, select), details);
}
