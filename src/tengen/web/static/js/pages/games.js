// @ts-check
/** The games that were played in this browser: search, open, review, save, delete. The server stores them. */

import { deleteGame, exportMyGames, myGames, serverInfo } from "../api.js";
import { debounce, fill, h } from "../dom.js";
import { saveFile } from "../files.js";
import { rulesText } from "../headline.js";
import { t } from "../i18n.js";
import { confirmed, notifyError } from "../notice.js";
import { go } from "../router.js";
import { button, field } from "../widgets/fields.js";
import { nameOf } from "../widgets/player_bar.js";

/** @import { Colour, GameSummary, ServerInfo } from "../messages.js" */
/** @import { Route } from "../router.js" */

const AT_ONCE = 200;
const SEARCH_AFTER_MS = 150;
const FORMATS = ["sgf", "psq"];

class GamesPage {
  /** @type {GameSummary[]} */ games = [];
  total = 0;
  search = "";

  constructor(/** @type {HTMLElement} */ main, /** @type {ServerInfo} */ info) {
    this.info = info;
    this.list = h("tbody");
    this.notes = h("p", { class: "soft", role: "status" });
    const searched = debounce(() => this.draw(), SEARCH_AFTER_MS);
    this.input = h("input", {
      type: "search",
      oninput: () => {
        this.search = this.input.value;
        searched();
      },
    });
    this.more = button(t("games.more"), () => this.load());
    const columns = ["date", "opponent", "result", "accuracy", "rules", "actions"];
    fill(
      main,
      h(
        "section",
        { class: "card games" },
        h("div", { class: "row-between" }, h("h1", null, t("page.games")), this.exportButtons(null)),
        field(t("games.search"), this.input),
        h(
          "div",
          { class: "wide-table" },
          h(
            "table",
            null,
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                columns.map((name) => h("th", { scope: "col" }, t(`games.${name}`))),
              ),
            ),
            this.list,
          ),
        ),
        this.notes,
        this.more,
      ),
    );
  }

  /** Load the next games. */
  async load() {
    try {
      const { games, total } = await myGames(AT_ONCE, this.games.length);
      this.games.push(...games);
      this.total = total;
    } catch (error) {
      notifyError(error);
    }
    this.draw();
  }

  draw() {
    const words = this.search.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = this.games
      .map((game) => ({ game, texts: this.texts(game) }))
      .filter(({ texts }) => words.every((word) => Object.values(texts).join(" ").toLowerCase().includes(word)));
    fill(
      this.list,
      rows.map(({ game, texts }) => this.row(game, texts)),
    );
    const isEmpty = !this.games.length;
    this.notes.textContent = isEmpty ? t("games.none") : rows.length ? "" : t("games.no-match");
    this.more.hidden = this.games.length >= this.total;
  }

  /** What a row shows, and what the search looks at. */
  texts(/** @type {GameSummary} */ game) {
    const mine = colourOfPerson(game);
    const accuracy = mine ? game.accuracy[mine] : undefined;
    const both = /** @type {Colour[]} */ (["black", "white"]).flatMap((colour) => game.accuracy[colour] ?? []);
    return {
      date: new Date(1000 * game.startedAt).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }),
      opponent: this.opponent(game, mine),
      result: resultText(game, mine),
      accuracy: accuracy !== undefined ? String(Math.round(accuracy)) : both.map((one) => Math.round(one)).join(" – "),
      rules: rulesText(game.rules),
    };
  }

  /** The other player; both players if two people or two agents played. */
  opponent(/** @type {GameSummary} */ { players, black, white }, /** @type {Colour | null} */ mine) {
    const name = (/** @type {GameSummary["black"]} */ player) =>
      (player && nameOf(player, this.info.levels)) || t("opponent.person");
    if (mine) return name(mine === "black" ? white : black);
    const seats = [players.proposer ?? null, players.chooser ?? null];
    const others = seats.filter((player) => player?.kind !== "person");
    return (others.length === 1 ? others : [black ?? seats[0] ?? null, white ?? seats[1] ?? null])
      .map(name)
      .join(" – ");
  }

  row(/** @type {GameSummary} */ game, /** @type {ReturnType<GamesPage["texts"]>} */ texts) {
    const mine = colourOfPerson(game);
    return h(
      "tr",
      { class: "game-row" },
      h("td", null, h("a", { href: `#/play/${game.id}` }, texts.date)),
      h(
        "td",
        null,
        mine ? h("span", { class: `disc ${mine}`, role: "img", "aria-label": t(mine) }) : null,
        texts.opponent,
      ),
      h(
        "td",
        null,
        texts.result,
        h("span", { class: "soft small" }, ` · ${t("moves.count", { count: game.moveCount })}`),
      ),
      h("td", { class: "num" }, texts.accuracy || "–"),
      h("td", { class: "soft small" }, texts.rules),
      h(
        "td",
        { class: "row-actions" },
        button(t("games.open"), () => go(`play/${game.id}`), { icon: "play", kind: "bare", showLabel: false }),
        button(t("page.review"), () => this.review(game), {
          icon: "review",
          kind: "bare",
          showLabel: false,
          disabled: !game.moveCount,
        }),
        this.exportButtons(game),
        button(t("games.delete"), () => this.delete(game), { icon: "delete", kind: "bare", showLabel: false }),
      ),
    );
  }

  /** Buttons that save a game, or all games for null, one for each format. */
  exportButtons(/** @type {GameSummary | null} */ game) {
    return h(
      "span",
      { class: "buttons" },
      FORMATS.map((format) =>
        game
          ? button(format.toUpperCase(), () => this.export(format, game), {
              kind: "bare",
              title: t("games.export", { format: format.toUpperCase() }),
            })
          : button(t("games.export-all", { format: format.toUpperCase() }), () => this.export(format, null), {
              icon: "export",
            }),
      ),
    );
  }

  async export(/** @type {string} */ format, /** @type {GameSummary | null} */ game) {
    try {
      saveFile(await exportMyGames(format, game?.id ?? null));
    } catch (error) {
      notifyError(error);
    }
  }

  /** Open the review page with the game; a stored review is shown at once. */
  review(/** @type {GameSummary} */ game) {
    go(`review/${game.id}`);
  }

  async delete(/** @type {GameSummary} */ game) {
    if (!(await confirmed(t("games.delete.question"), t("games.delete")))) return;
    try {
      await deleteGame(game.id);
      this.games = this.games.filter((each) => each.id !== game.id);
      this.total -= 1;
      this.draw();
    } catch (error) {
      notifyError(error);
    }
  }
}

/** The colour of the only person; null if there are two or none, or if the opening has not settled it. @returns {Colour | null} */
function colourOfPerson(/** @type {GameSummary} */ { black, white }) {
  const isBlack = black?.kind === "person";
  if (isBlack === (white?.kind === "person")) return null;
  return isBlack ? "black" : "white";
}

function resultText(/** @type {GameSummary} */ { outcome }, /** @type {Colour | null} */ mine) {
  if (outcome === "ongoing") return t("games.unfinished");
  if (outcome === "draw") return t("draw");
  if (mine) return t(outcome === mine ? "games.won" : "games.lost");
  return t("games.winner", { colour: t(outcome) });
}

/** @param {HTMLElement} main @param {Route} _route */
export async function mount(main, _route) {
  const page = new GamesPage(main, await serverInfo());
  await page.load();
  return {
    unmount: () => {},
    shortcuts: [{ keys: ["/"], label: "games.search", run: () => page.input.focus() }],
  };
}
