// @ts-check
/** The keys of the analysis page. */

import { change, settings } from "../settings.js";
import { sibling } from "../tree.js";
import { workspace } from "../workspace.js";
import { MAX_LINES } from "./analyse_side.js";

/** @import { AnalysePage } from "./analyse.js" */

export function shortcutsOf(/** @type {AnalysePage} */ page) {
  const turn = (/** @type {"showCandidates" | "showThreats" | "showPolicy"} */ key) => () =>
    change({ [key]: !settings[key] });
  return [
    { keys: [" "], label: "key.analysis", run: () => page.toggle() },
    { keys: ["ArrowLeft"], label: "key.back", run: () => page.walk(-1) },
    { keys: ["ArrowRight"], label: "key.forward", run: () => page.walk(1) },
    { keys: ["ArrowUp"], label: "key.previous-variation", run: () => page.goTo(sibling(workspace.node, -1)) },
    { keys: ["ArrowDown"], label: "key.next-variation", run: () => page.goTo(sibling(workspace.node, 1)) },
    { keys: ["PageUp"], label: "key.back-10", run: () => page.walk(-10) },
    { keys: ["PageDown"], label: "key.forward-10", run: () => page.walk(10) },
    { keys: ["Home"], label: "key.first", run: () => page.walk(-Infinity) },
    { keys: ["End"], label: "key.last", run: () => page.walk(Infinity) },
    { keys: ["Enter"], label: "key.play-best", run: () => page.playBest() },
    { keys: [">"], label: "key.line-forward", run: () => page.stepLine(1) },
    { keys: ["<"], label: "key.line-back", run: () => page.stepLine(-1) },
    { keys: ["Escape"], label: "key.line-leave", run: () => page.stepLine(-Infinity) },
    { keys: ["m"], label: "setup-stones", run: () => (page.editor ? page.closeEditor() : page.setUpStones()) },
    { keys: ["h"], label: "header.edit", run: () => page.editHeader() },
    { keys: ["c"], label: "showCandidates", run: turn("showCandidates") },
    { keys: ["x"], label: "showThreats", run: turn("showThreats") },
    { keys: ["v"], label: "showPolicy", run: turn("showPolicy") },
    { keys: ["]"], label: "key.more-lines", run: () => change({ lines: Math.min(MAX_LINES, settings.lines + 1) }) },
    { keys: ["["], label: "key.fewer-lines", run: () => change({ lines: Math.max(1, settings.lines - 1) }) },
    { keys: ["g"], label: "second-engine", run: () => page.toggleSecond() },
    { keys: ["f"], label: "solve.vcf", run: () => page.solve("vcf") },
    { keys: ["F"], label: "solve.vct", run: () => page.solve("vct") },
    { keys: ["p"], label: "tree.promote", run: () => page.promote() },
    { keys: ["Delete"], label: "tree.delete", run: () => page.remove() },
    { keys: ["k"], label: "comment", run: () => page.comment.focus() },
    { keys: ["i"], label: "import", run: () => page.openImport() },
    { keys: ["e"], label: "export", run: () => page.openExport() },
    { keys: ["w"], label: "share", run: () => page.share() },
    { keys: ["+"], label: "board.clear", run: () => page.clear() },
    { keys: ["b"], label: "key.board-focus", run: () => page.board.focus() },
    { keys: ["/"], label: "key.type-point", run: () => page.typePoint() },
  ];
}
