/** Import and export of game files: paste, drop, choose, download. The server parses and writes the formats. */

import { exportRecord, importRecord } from "./api.js";
import { download, h } from "./dom.js";
import { t, translated } from "./i18n.js";
import { notify, notifyError, openDialog } from "./notice.js";
import { boardPng, boardSvg } from "./picture.js";
import { choice, field } from "./widgets/fields.js";

/** @import { ExportResult, FormatInfo, ImportRequest, RecordInput, RecordOutput } from "./messages.js" */

async function requestOf(/** @type {File} */ file) {
	const bytes = new Uint8Array(await file.arrayBuffer());
	let binary = "";
	for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
	return { base64: btoa(binary), filename: file.name.slice(-80) };
}

/**
 * Import a game; for a collection, ask the user which one.
 * @param {ImportRequest} request
 * @returns {Promise<RecordOutput | null>} null if the user cancelled
 */
async function read(request) {
	const first = await importRecord(request);
	if (first.notes.length) notify(first.notes.slice(0, 3).map(translated).join(" · "));
	if (first.gameCount <= 1) return first.record;
	const index = await openDialog(
		t("import.which", { count: first.gameCount }),
		(/** @type {(answer: number | null) => void} */ close) => [
			h(
				"div",
				{ class: "stack game-choice" },
				first.titles.map((title, i) =>
					h("button", { class: "button", type: "button", onclick: () => close(i) }, `${i + 1}. ${title}`),
				),
			),
		],
	);
	if (index === null) return null;
	return index === first.index ? first.record : (await importRecord({ ...request, index })).record;
}

/**
 * Import a pasted or dropped game and pass it to `onRecord`. Text that cannot be read is shown in the dialog.
 * @param {string | File} source
 * @param {(record: RecordOutput) => void} onRecord
 */
async function importFrom(source, onRecord) {
	try {
		const record = await read(typeof source === "string" ? { text: source } : await requestOf(source));
		if (record) onRecord(record);
	} catch (error) {
		if (typeof source === "string") openImport(onRecord, { text: source, error });
		else notifyError(error);
	}
}

/**
 * Show the dialog for opening a game. It stays open until a game has been read, so that the text is not lost.
 * @param {(record: RecordOutput) => void} onRecord
 * @param {{ text: string, error: unknown } | null} [failed] a text that could not be read
 */
export async function openImport(onRecord, failed = null) {
	const record = await openDialog(t("import"), (/** @type {(answer: RecordOutput | null) => void} */ close) => {
		const failure = h("p", { class: "field-error small", role: "alert", hidden: true });
		const text = h("textarea", {
			rows: 6,
			value: failed?.text ?? "",
			placeholder: t("import.placeholder"),
			"aria-label": t("import.text"),
			spellcheck: false,
		});
		const fail = (/** @type {unknown} */ error) => {
			failure.hidden = false;
			failure.textContent = error instanceof Error ? error.message : String(error);
			showPlace(text, failure.textContent);
		};
		const open = async (/** @type {string | File} */ source) => {
			if (!source) return;
			try {
				const found = await read(typeof source === "string" ? { text: source } : await requestOf(source));
				if (found) close(found);
			} catch (error) {
				fail(error);
			}
		};
		const file = h("input", {
			type: "file",
			accept: ".sgf,.psq,.rif,.lib,.json,.txt,.pos,.rec",
			onchange: () => {
				const chosen = file.files?.[0];
				if (chosen) open(chosen);
			},
		});
		if (failed) setTimeout(() => fail(failed.error));
		return [
			h("p", { class: "soft small" }, t("import.help")),
			text,
			failure,
			field(t("import.file"), file),
			h(
				"div",
				{ class: "buttons even" },
				h("button", { class: "button", type: "button", onclick: () => close(null) }, t("cancel")),
				h(
					"button",
					{ class: "button primary", type: "button", onclick: () => open(text.value.trimEnd()) },
					t("import.open"),
				),
			),
		];
	});
	if (record) onRecord(record);
}

/** Select the place in the text that an error message names, such as "line 2, column 5". */
function showPlace(/** @type {HTMLTextAreaElement} */ text, /** @type {string} */ message) {
	const [, line, column] = /(?:line|第)\s*(\d+)(?:\s*行)?(?:[,，]?\s*(?:column|第)\s*(\d+))?/.exec(message) ?? [];
	if (!line || !text.value) return;
	const lines = text.value.split("\n");
	const above = lines.slice(0, Number(line) - 1).join("\n").length + (Number(line) > 1 ? 1 : 0);
	const start = above + (column ? Number(column) - 1 : 0);
	text.focus();
	text.setSelectionRange(start, column ? start + 1 : above + (lines[Number(line) - 1]?.length ?? 0));
}

/** Listen for games pasted outside a field or dropped anywhere; returns a function that stops listening. */
export function listenForGames(/** @type {(record: RecordOutput) => void} */ onRecord) {
	const onPaste = (/** @type {ClipboardEvent} */ event) => {
		if (/** @type {HTMLElement} */ (event.target).closest?.("input, textarea, dialog")) return;
		const source = event.clipboardData?.files[0] ?? event.clipboardData?.getData("text").trim();
		if (source) importFrom(source, onRecord);
	};
	const onDrop = (/** @type {DragEvent} */ event) => {
		event.preventDefault();
		const source = event.dataTransfer?.files[0] ?? event.dataTransfer?.getData("text").trim();
		if (source) importFrom(source, onRecord);
	};
	const onDragOver = (/** @type {DragEvent} */ event) => event.preventDefault();
	document.addEventListener("paste", onPaste);
	document.addEventListener("drop", onDrop);
	document.addEventListener("dragover", onDragOver);
	return () => {
		document.removeEventListener("paste", onPaste);
		document.removeEventListener("drop", onDrop);
		document.removeEventListener("dragover", onDragOver);
	};
}

/**
 * Show the dialog for saving a game or a picture of the board.
 * @param {FormatInfo[]} formats the formats that the server supports
 * @param {() => RecordInput} record
 * @param {SVGSVGElement} picture
 */
export function openExport(formats, record, picture) {
	openDialog(t("export"), () => {
		const written = formats.filter((format) => format.isWritten);
		let name = "sgf";
		const text = h("textarea", { rows: 7, readOnly: true, "aria-label": t("export.text") });
		const losses = h("p", { class: "small soft", role: "status" }, t("loading"));
		/** @type {ExportResult | null} */
		let file = null;
		const write = async () => {
			const asked = name;
			try {
				const answer = await exportRecord(record(), asked);
				if (asked !== name) return;
				file = answer;
				text.value = file.text ?? t("export.binary");
				losses.textContent = file.losses.length
					? t("export.losses", { what: file.losses.map(translated).join(", ") })
					: t("export.whole");
			} catch (error) {
				if (asked !== name) return;
				file = null;
				text.value = "";
				losses.textContent = error instanceof Error ? error.message : String(error);
			}
		};
		write();
		const save = () => file && saveFile(file);
		return [
			field(
				t("format"),
				choice(
					written.map((format) => [format.name, translated(format.title)]),
					name,
					(chosen) => {
						name = chosen;
						write();
					},
				),
			),
			text,
			losses,
			h(
				"div",
				{ class: "buttons even" },
				h("button", { class: "button", type: "button", onclick: () => copy(text.value) }, t("copy")),
				h(
					"button",
					{
						class: "button primary",
						type: "button",
						onclick: save,
					},
					t("download"),
				),
			),
			h("h3", null, t("picture")),
			h(
				"div",
				{ class: "buttons even" },
				h(
					"button",
					{
						class: "button",
						type: "button",
						onclick: () => download("board.svg", new Blob([boardSvg(picture)], { type: "image/svg+xml" })),
					},
					"SVG",
				),
				h(
					"button",
					{ class: "button", type: "button", onclick: async () => download("board.png", await boardPng(picture)) },
					"PNG",
				),
			),
		];
	});
}

export function saveFile(/** @type {ExportResult} */ { base64, filename, mediaType }) {
	const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
	download(filename, new Blob([bytes], { type: mediaType }));
}

export async function copy(/** @type {string} */ text) {
	try {
		await navigator.clipboard.writeText(text);
		notify(t("copied"));
	} catch {
		notify(t("copy.failed"), { error: true });
	}
}
