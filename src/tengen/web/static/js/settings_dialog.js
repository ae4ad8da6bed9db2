/** The settings dialog. Changes apply immediately. */

import { h } from "./dom.js";
import { LANGUAGES, preferredLanguage, t } from "./i18n.js";
import { openDialog } from "./notice.js";
import { change, settings } from "./settings.js";
import { check, segments } from "./widgets/fields.js";

export function openSettings() {
	const choices = (
		/** @type {"theme" | "numbers" | "confirm" | "coordinates"} */ key,
		/** @type {string[]} */ values,
	) => {
		const options = values.map((value) => /** @type {[string, string]} */ ([value, t(`${key}.${value}`)]));
		return h(
			"div",
			{ class: "field" },
			h("span", null, t(key)),
			segments(t(key), options, settings[key], (value) => change({ [key]: value })),
		);
	};
	const languages = Object.entries(LANGUAGES).map(([key, { name }]) => /** @type {[string, string]} */ ([key, name]));
	openDialog(t("settings"), (close) => [
		choices("theme", ["auto", "light", "dark"]),
		h(
			"div",
			{ class: "field" },
			h("span", null, t("language")),
			segments(t("language"), languages, preferredLanguage(settings.language), (value) => {
				close(null);
				change({ language: value });
			}),
		),
		choices("numbers", ["off", "last", "all"]),
		choices("confirm", ["auto", "always", "never"]),
		choices("coordinates", ["letters", "numbers", "off"]),
		check(t("sound"), settings.sound, (sound) => change({ sound })),
		check(t("shortcuts"), settings.shortcuts, (shortcuts) => change({ shortcuts })),
	]);
}
