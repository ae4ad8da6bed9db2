// @ts-check
/** Import and export of game files: paste, drop, choose, download. The server parses and writes the formats. */

import { exportRecord, importRecord } from "./api.js";
import { download, h } from "./dom.js";
import { t, translated } from "./i18n.js";
import { notify, notifyError, openDialog } from "./notice.js";
import { boardPng, boardSvg } from "./picture.js";
import { choice, field } from "./widgets/fields.js";

/** @import { ExportResult, FormatInfo, ImportRequest, RecordInput, RecordOutput } from "./messages.js" */

/** Encode a file as an import request. */
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
  if (first.notes.length) notify(first.notes.slice(0, 3).join(" · "));
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
 * Import a pasted, dropped or chosen game and pass it to `onRecord`.
 * @param {string | File} source
 * @param {(record: RecordOutput) => void} onRecord
 */
export async function importFrom(source, onRecord) {
  try {
    const record = await read(typeof source === "string" ? { text: source } : await requestOf(source));
    if (record) onRecord(record);
  } catch (error) {
    notifyError(error);
  }
}

/** Show the dialog for opening a game. */
export async function openImport(/** @type {(record: RecordOutput) => void} */ onRecord) {
  const source = await openDialog(t("import"), (/** @type {(answer: string | File | null) => void} */ close) => {
    const text = h("textarea", {
      rows: 6,
      placeholder: t("import.placeholder"),
      "aria-label": t("import.text"),
      spellcheck: false,
    });
    const file = h("input", {
      type: "file",
      accept: ".sgf,.psq,.rif,.lib,.json,.txt,.pos,.rec",
      onchange: () => {
        const chosen = file.files?.[0];
        if (chosen) close(chosen);
      },
    });
    return [
      h("p", { class: "soft small" }, t("import.help")),
      text,
      field(t("import.file"), file),
      h(
        "div",
        { class: "buttons even" },
        h("button", { class: "button", type: "button", onclick: () => close(null) }, t("cancel")),
        h(
          "button",
          { class: "button primary", type: "button", onclick: () => close(text.value.trim() || null) },
          t("import.open"),
        ),
      ),
    ];
  });
  if (source) await importFrom(source, onRecord);
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
          ? t("export.losses", { what: file.losses.join(", ") })
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

/** Let the browser save a file that the server has written. */
export function saveFile(/** @type {ExportResult} */ { base64, filename, mediaType }) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  download(filename, new Blob([bytes], { type: mediaType }));
}

/** Copy text to the clipboard. */
export async function copy(/** @type {string} */ text) {
  try {
    await navigator.clipboard.writeText(text);
    notify(t("copied"));
  } catch {
    notify(t("copy.failed"), { error: true });
  }
}
