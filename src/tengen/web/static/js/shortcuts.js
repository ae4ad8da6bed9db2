// @ts-check
/** Keyboard shortcuts: each page registers its own, and the `?` overlay lists them. Keys typed into a field are
 *  ignored. A setting turns off all shortcuts, because speech input can trigger them by accident. */

import { h } from "./dom.js";
import { t } from "./i18n.js";
import { openDialog } from "./notice.js";
import { settings } from "./settings.js";

/** @typedef {{ keys: string[], label: string, run: () => void }} Shortcut `keys` are values of `KeyboardEvent.key`; `label` is a text key (i18n.js) */

/** @type {Shortcut[]} */
let global = [];
/** @type {Shortcut[]} */
let ofPage = [];

export const setGlobalShortcuts = (/** @type {Shortcut[]} */ list) => (global = list);
export const setPageShortcuts = (/** @type {Shortcut[]} */ list) => (ofPage = list);

const SHOWN = /** @type {Record<string, string>} */ ({
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  " ": "Space",
  Delete: "Del",
});

/** The control that a click has focused. Keys go to the page, as if it were not focused. @type {Element | null} */
let clicked = null;

/** Start listening for keys. */
export function listen() {
  document.addEventListener("pointerdown", (event) => {
    clicked = /** @type {Element} */ (event.target).closest("button, a, summary");
  });
  // Some browsers press a button when Space is released.
  document.addEventListener("keyup", (event) => {
    if (event.key === " " && clicked !== null && event.target === clicked) event.preventDefault();
  });
  document.addEventListener("focusin", (event) => {
    if (event.target !== clicked) clicked = null;
  });
  document.addEventListener("keydown", (event) => {
    if (!settings.shortcuts || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, dialog, [contenteditable]"))
      return;
    // Space and Enter belong to a button that was focused with the keyboard, arrow keys to a group of radio buttons.
    const isPress = event.key === " " || event.key === "Enter";
    if (isPress && target !== clicked && target.closest("button, a, summary, input")) return;
    if (event.key.startsWith("Arrow") && target.closest("input")) return;
    const found = [...ofPage, ...global].find(({ keys }) => keys.includes(event.key));
    // Space never presses the button that was clicked last.
    if (event.key === " " && target === clicked) event.preventDefault();
    if (!found) return;
    event.preventDefault();
    found.run();
  });
}

/** Show all shortcuts that work on this page. */
export function showShortcuts() {
  const row = (/** @type {string[]} */ keys, /** @type {string} */ label) => [
    h(
      "dt",
      null,
      keys.map((key) => h("kbd", null, SHOWN[key] ?? key)),
    ),
    h("dd", null, t(label)),
  ];
  const rows = (/** @type {Shortcut[]} */ list) => list.flatMap(({ keys, label }) => row(keys, label));
  /** @type {[string[], string][]} */
  const onBoard = [
    [["Tab"], "key.board-focus"],
    [["←", "→", "↑", "↓"], "key.board-move"],
    [["Enter"], "key.board-place"],
    [["Esc"], "key.board-leave"],
  ];
  const part = (/** @type {string} */ title, /** @type {HTMLElement[]} */ list) => [
    h("h3", null, t(title)),
    h("dl", { class: "keys" }, list),
  ];
  openDialog(
    t("keys.title"),
    () => [
      settings.shortcuts ? null : h("p", null, t("keys.off")),
      h(
        "div",
        { class: "key-columns" },
        settings.shortcuts ? part("keys.page", rows(ofPage)) : null,
        part(
          "keys.board",
          onBoard.flatMap(([keys, label]) => row(keys, label)),
        ),
        settings.shortcuts ? part("keys.everywhere", rows(global)) : null,
      ),
    ],
    "wide",
  );
}
