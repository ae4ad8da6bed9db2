// @ts-check
/** The game under study, shared by the analysis and the review page and kept in this browser between visits. */

import { positionInfo } from "./api.js";
import { debounce } from "./dom.js";
import { read, save } from "./settings.js";
import { add, lineThrough, newRoot, pathTo, play, stonesAt, walk } from "./tree.js";

/** @typedef {import("./tree.js").Node} Node */
/** @typedef {import("./board/state.js").Colour} Colour */

const KEY = "tengen.study";
const MOST_KEPT_NODES = 3000;
const KEEP_AFTER_MS = 400;
const HEADER = /** @type {const} */ (["black", "white", "outcome", "reason", "event", "round", "date", "comment"]);

export const other = (/** @type {Colour} */ colour) => /** @type {Colour} */ (colour === "black" ? "white" : "black");

/** The size a ruleset's text begins with. */
export function sizeOf(/** @type {string} */ rules) {
  const [, width, height] = /^(\d+)(?:x(\d+))?/.exec(rules) ?? [null, "15", "15"];
  return { width: Number(width), height: Number(height ?? width) };
}

/**
 * @typedef {object} PositionFields a position as the server has it
 * @property {string} rules
 * @property {[Colour, string][]} [initialStones]
 * @property {Colour} [initialPlayer]
 * @property {string[]} moves
 */

const isFromStart = (/** @type {PositionFields} */ { initialStones = [], initialPlayer = "black" }) => !initialStones.length && initialPlayer === "black";

/**
 * A position as the query of an address: its moves, and all of it where they do not begin on the empty board.
 * @returns {Record<string, string>}
 */
export function queryOf(/** @type {PositionFields} */ position) {
  const { rules, initialStones = [], initialPlayer, moves } = position;
  if (isFromStart(position)) return { rules, moves: moves.join(",") };
  return { position: JSON.stringify({ rules, initialStones: [...initialStones].sort(), initialPlayer, moves }) };
}

/** The position in the query of an address; null where there is none that could be read. @returns {PositionFields | null} */
export function positionIn(/** @type {URLSearchParams} */ query) {
  const rules = query.get("rules");
  if (rules) return { rules, moves: (query.get("moves") ?? "").split(",").filter(Boolean) };
  try {
    const found = JSON.parse(query.get("position") ?? "null");
    const stones = (found.initialStones ?? []).map((/** @type {[Colour, string]} */ [colour, point]) => [colour, String(point)]);
    const moves = (found.moves ?? []).map(String);
    return found.rules ? { rules: String(found.rules), initialStones: stones, initialPlayer: found.initialPlayer, moves } : null;
  } catch {
    return null;
  }
}

class Workspace {
  rules = "15x15:5:freestyle";
  root = newRoot();
  node = this.root;
  /** Names of the players and the like, as files have them. @type {Record<string, any>} */
  header = {};
  /** Facts of the server by node. @type {Map<number, any>} */
  facts = new Map();

  /** Begin anew, from a position and with its moves. */
  begin(/** @type {PositionFields} */ position) {
    const { rules, initialStones = [], initialPlayer = null, moves } = position;
    const stones = (/** @type {Colour} */ wanted) => initialStones.filter(([colour]) => colour === wanted).map(([, point]) => point);
    this.rules = rules;
    this.root = newRoot(isFromStart(position) ? null : { black: stones("black"), white: stones("white"), empty: [], currentPlayer: initialPlayer });
    this.header = {};
    this.facts.clear();
    let colour = initialPlayer ?? "black";
    this.node = this.root;
    for (const point of moves) {
      this.node = play(this.node, point, colour);
      colour = other(colour);
    }
    this.keep();
  }

  /** Take over a record of the server. */
  load(/** @type {any} */ record) {
    const given = record.nodes;
    this.rules = record.rules;
    this.header = Object.fromEntries(HEADER.map((key) => [key, record[key] ?? ""]));
    this.facts.clear();
    /** @type {Node[]} */
    const made = [];
    for (const { parent, colour, move, setup, comment, ...extra } of given) {
      if (parent === null || parent === undefined) {
        const root = newRoot(setup ?? null);
        root.comment = comment ?? "";
        root.extra = extra;
        made.push(root);
        // A file may play its first move in the root.
        if (colour) made[0] = add(root, { point: move, colour });
        this.root = root;
      } else {
        made.push(add(made[parent], { point: move ?? null, colour: colour ?? null, comment, setup: setup ?? null, extra }));
      }
    }
    this.node = this.root;
    this.keep();
  }

  /** The tree as a record of the server. */
  record() {
    const places = new Map();
    const nodes = [...walk(this.root)].map((node, place) => {
      places.set(node, place);
      const { point, colour, setup, comment, extra, parent } = node;
      return { ...extra, parent: parent ? places.get(parent) : null, colour, move: point, setup, comment };
    });
    const header = Object.fromEntries(Object.entries(this.header).filter(([, value]) => value));
    return { ...header, rules: this.rules, nodes };
  }

  /** Keep the tree in this browser, once things are quiet, unless it is too large for that. */
  keep = debounce(() => this.keepNow(), KEEP_AFTER_MS);

  keepNow() {
    let count = 0;
    for (const _ of walk(this.root)) if (++count > MOST_KEPT_NODES) return;
    save(KEY, { record: this.record(), place: [...walk(this.root)].indexOf(this.node) });
  }

  /** Bring back what was kept. */
  restore() {
    const kept = /** @type {any} */ (read(KEY, null));
    if (!kept?.record?.nodes?.length) return;
    try {
      this.load(kept.record);
      this.node = [...walk(this.root)][kept.place] ?? this.root;
    } catch {
      this.begin({ rules: "15x15:5:freestyle", moves: [] });
    }
  }

  /** A node as the server's position fields: moves where they alternate, else the stones as they lie. @returns {PositionFields} */
  position(/** @type {Node} */ node) {
    const path = pathTo(node);
    const setup = path[0].setup;
    const first = setup?.currentPlayer ?? null;
    const moves = path.slice(1);
    const isPlain = moves.every((at, i) => at.point && !at.setup && (i === 0 ? true : at.colour !== moves[i - 1].colour));
    const stones = /** @type {[Colour, string][]} */ (isPlain ? [...(setup?.black ?? []).map((point) => ["black", point]), ...(setup?.white ?? []).map((point) => ["white", point])]
      : [...stonesAt(node).values()].map(({ colour, point }) => [colour, point]));
    const last = [...moves].reverse().find(({ colour }) => colour)?.colour;
    const next = isPlain ? moves[0]?.colour ?? first : node.setup?.currentPlayer ?? (last ? other(last) : first);
    return {
      rules: this.rules,
      ...(stones.length ? { initialStones: stones } : {}),
      ...(next && (stones.length || next === "white") ? { initialPlayer: next } : {}),
      moves: isPlain ? moves.map(({ point }) => /** @type {string} */ (point)) : [],
    };
  }

  /** Who moves at a node: as the server said, and until it has, the other colour. @returns {Colour} */
  toMove(node = this.node) {
    return this.facts.get(node.id)?.currentPlayer ?? node.setup?.currentPlayer ?? (node.colour ? other(node.colour) : "black");
  }

  /** The facts of a node, asked once. */
  async factsOf(/** @type {Node} */ node) {
    const known = this.facts.get(node.id);
    if (known) return known;
    const facts = await positionInfo({ ...this.position(node), includeThreats: true });
    this.facts.set(node.id, facts);
    return facts;
  }

  /** The node one stands on as the query of an address; null where more than moves leads to it. */
  query(node = this.node) {
    const position = this.position(node);
    return position.moves.length === pathTo(node).length - 1 ? queryOf(position) : null;
  }

  /** The node of a position that the moves from the root lead to, if there is one. */
  find(/** @type {PositionFields} */ position) {
    let node = /** @type {Node | undefined} */ (this.root);
    for (const point of position.moves) node = node?.children.find((child) => child.point === point);
    const query = node && this.query(node);
    return query && JSON.stringify(query) === JSON.stringify(queryOf(position)) ? node : null;
  }

  mainLine() {
    return lineThrough(this.root);
  }

  /** Put a node's stones onto a board. */
  boardState(node = this.node) {
    const facts = this.facts.get(node.id);
    return { ...sizeOf(this.rules), stones: stonesAt(node), lastMove: node.point, winningLine: facts?.winningLine ?? [],
      fouls: facts?.fouls.map((/** @type {any} */ foul) => foul.point) ?? [], preview: [], hint: null, marks: labels(node), pending: null };
  }
}

/** The signs a file has put on the points. @returns {import("./board/state.js").BoardState["marks"]} */
function labels(/** @type {Node} */ node) {
  const marks = /** @type {any[]} */ (node.extra.marks ?? []).filter(({ kind }) => kind === "label");
  return marks.map(({ point, text }) => ({ point, kind: "label", text }));
}

export const workspace = new Workspace();
addEventListener("pagehide", () => workspace.keepNow());
