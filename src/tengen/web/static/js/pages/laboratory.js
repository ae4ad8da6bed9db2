// @ts-check
/** The laboratory page: training runs, tournaments, networks and papers from the server's folders. */

import {
  models,
  papers,
  run,
  runGame,
  runs,
  tournament,
  tournamentGame,
  tournamentGames,
  tournaments,
} from "../api.js";
import { fill, h } from "../dom.js";
import { number, t } from "../i18n.js";
import { notifyError } from "../notice.js";
import { go, hashOf } from "../router.js";
import { change } from "../settings.js";
import { chart } from "../widgets/chart.js";
import { button } from "../widgets/fields.js";
import { workspace } from "../workspace.js";

/** @import { GameRow, ModelInfo, RecordOutput, RunSummary, Series, TableInfo, TournamentSummary } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @import { Child } from "../dom.js" */

const SECTIONS = ["runs", "tournaments", "models", "papers"];
/** Interval between refreshes of a page with live content. */
const REFRESH_MS = 4000;
const GAMES_PER_PAGE = 50;
const CARDS_PER_PAGE = 100;
/** Series without a curve: the step counter, and the strength, which has its own chart. */
const NO_CURVES = /^(iteration$|strength\.)/;
/** The number of curves shown by default. Losses come first; the rest is collapsed. */
const CURVES_SHOWN = 7;

const when = (/** @type {string} */ text) => {
  const date = new Date(text);
  return Number.isNaN(date.getTime())
    ? text
    : date.toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
};

const live = (/** @type {boolean} */ isLive) => (isLive ? h("span", { class: "live" }, t("live")) : null);
const empty = (/** @type {string} */ key, /** @type {string} */ command) =>
  h("div", { class: "empty" }, h("p", null, t(key)), h("code", null, command));

/** Open a game on the analysis page. */
function study(/** @type {RecordOutput} */ record) {
  workspace.load(record);
  workspace.node = workspace.lastNode();
  workspace.keep();
  go("analyse");
}

/** Create a table of a report. The first `left` columns contain text, the others numbers. */
function reportTable(/** @type {TableInfo} */ { title, columns, rows, note, left }) {
  const kind = (/** @type {number} */ i) => (i < left ? "" : "num");
  return h(
    "div",
    { class: "card scroll" },
    h(
      "table",
      null,
      h("caption", null, title),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          columns.map((name, i) => h("th", { scope: "col", class: kind(i) }, name)),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((row) =>
          h(
            "tr",
            null,
            row.map((cell, i) => h("td", { class: kind(i) }, cell)),
          ),
        ),
      ),
    ),
    note ? h("p", { class: "soft small" }, note) : null,
  );
}

/** Create the note about a damaged run, tournament or network. */
const damage = (/** @type {string | null} */ problem) =>
  problem ? h("p", { class: "damaged small" }, t("lab.damaged", { problem })) : null;

/**
 * Create a list of cards, newest first, with a button that loads more.
 * @template T
 * @param {T[]} found
 * @param {number} total
 * @param {(each: T) => HTMLElement} card
 * @param {(offset: number) => Promise<T[]>} load
 */
function cardList(found, total, card, load) {
  const cards = h("div", { class: "cards" }, found.map(card));
  let shown = found.length;
  const note = h("span", { class: "soft small" });
  const more = button(t("more"), async () => {
    try {
      const next = await load(shown);
      cards.append(...next.map(card));
      shown += next.length;
      update();
    } catch (error) {
      notifyError(error);
    }
  });
  const rest = h("div", { class: "row-start" }, more, note);
  const update = () => {
    rest.hidden = shown >= total;
    note.textContent = t("lab.newest-of", { shown: number(shown), total: number(total) });
  };
  update();
  return [cards, rest];
}

// -- runs ------------------------------------------------------------------------------------------------------------

const runCard = (/** @type {RunSummary} */ each) =>
  h(
    "a",
    { class: "card link", href: hashOf(`laboratory/runs/${encodeURIComponent(each.name)}`) },
    h("div", { class: "row-between" }, h("h3", null, each.name), live(each.isLive)),
    h("p", { class: "soft small" }, [each.algorithm, each.rules].filter(Boolean).join(" · ")),
    h(
      "p",
      { class: "small" },
      t("lab.steps", { steps: number(each.steps) }),
      each.games ? ` · ${t("lab.games", { games: number(each.games) })}` : "",
    ),
    damage(each.problem),
    h("p", { class: "soft small" }, when(each.updatedAt)),
  );

async function showRuns() {
  const found = await runs(CARDS_PER_PAGE, 0);
  if (!found.total) return [empty("lab.no-runs", "tengen train alphazero --preset 6x6x4")];
  return cardList(found.runs, found.total, runCard, async (offset) => (await runs(CARDS_PER_PAGE, offset)).runs);
}

/** Create the buttons for playing against a network and for analysing with it. */
function agentButtons(/** @type {string} */ agent, /** @type {string} */ rules) {
  return h(
    "div",
    { class: "buttons" },
    button(t("lab.play-against"), () => go("play/new", { agent, rules }), { icon: "play", kind: "primary" }),
    button(
      t("lab.analyse-with"),
      () => {
        change({ engine: agent });
        go("analyse", { rules });
      },
      { icon: "analyse" },
    ),
  );
}

/** Games per second, if a run reports both games and seconds. */
const speedOf = (/** @type {Record<string, number>} */ { games, seconds }) =>
  games && seconds ? t("lab.speed", { speed: (games / seconds).toPrecision(2) }) : null;

async function showRun(/** @type {string} */ name) {
  const detail = await run(name);
  const { summary } = detail;
  const replay = async (/** @type {string} */ file) => study((await runGame(name, file)).record);
  const isLoss = (/** @type {Series} */ series) => series.name.startsWith("loss");
  const curved = detail.series.filter((series) => !NO_CURVES.test(series.name));
  const ordered = [...curved.filter(isLoss), ...curved.filter((series) => !isLoss(series))];
  const curves = ordered.map(({ name: title, steps, values }) =>
    h(
      "div",
      { class: "card" },
      chart(
        title,
        steps.map((x, i) => ({ x, y: values[i] ?? NaN })),
      ),
    ),
  );
  const strength = detail.strength.map((point) => ({
    x: point.step,
    y: point.elo,
    low: point.low,
    high: point.high,
  }));
  return [
    heading("runs", summary.name, summary.isLive),
    h(
      "p",
      { class: "soft" },
      [summary.algorithm, summary.rules, t("lab.steps", { steps: number(summary.steps) }), speedOf(summary.last)]
        .filter(Boolean)
        .join(" · "),
    ),
    damage(summary.problem),
    summary.agent ? agentButtons(summary.agent, summary.rules) : null,
    h(
      "div",
      { class: "charts" },
      strength.length ? h("div", { class: "card" }, chart(t("lab.strength"), strength)) : null,
      curves.slice(0, CURVES_SHOWN),
    ),
    curves.length > CURVES_SHOWN
      ? h(
          "details",
          null,
          h("summary", { class: "soft" }, t("lab.more-curves")),
          h("div", { class: "charts" }, curves.slice(CURVES_SHOWN)),
        )
      : null,
    detail.gameFiles.length
      ? h(
          "div",
          { class: "card" },
          h("h3", null, t("lab.latest-games", { count: number(detail.gameFileCount) })),
          h(
            "div",
            { class: "buttons" },
            detail.gameFiles
              .slice(0, 24)
              .map((file) => button(file, () => replay(file).catch(notifyError), { icon: "play" })),
          ),
        )
      : null,
    h(
      "details",
      { class: "card" },
      h("summary", null, t("lab.config")),
      h("pre", { class: "scroll small" }, detail.config),
    ),
  ];
}

// -- tournaments -----------------------------------------------------------------------------------------------------

const tournamentCard = (/** @type {TournamentSummary} */ each) =>
  h(
    "a",
    { class: "card link", href: hashOf(`laboratory/tournaments/${encodeURIComponent(each.name)}`) },
    h("div", { class: "row-between" }, h("h3", null, each.title || each.name), live(each.isLive)),
    h("progress", { value: each.games, max: Math.max(1, each.gamesPlanned), "aria-label": t("lab.progress") }),
    h("p", { class: "small" }, t("lab.games-of", { games: number(each.games), planned: number(each.gamesPlanned) })),
    h("p", { class: "soft small clip" }, each.players.join(", ")),
    damage(each.problem),
    h("p", { class: "soft small" }, when(each.updatedAt)),
  );

async function showTournaments() {
  const found = await tournaments(CARDS_PER_PAGE, 0);
  if (!found.total) return [empty("lab.no-tournaments", "tengen tournament FILE.toml")];
  const load = async (/** @type {number} */ offset) => (await tournaments(CARDS_PER_PAGE, offset)).tournaments;
  return cardList(found.tournaments, found.total, tournamentCard, load);
}

async function showTournament(/** @type {string} */ name) {
  const [detail, listed] = await Promise.all([tournament(name), tournamentGames(name, GAMES_PER_PAGE, 0)]);
  const { summary } = detail;
  const body = h("tbody");
  const addRows = (/** @type {GameRow[]} */ games) =>
    body.append(
      ...games.map((game) =>
        h(
          "tr",
          null,
          h(
            "td",
            { class: "num" },
            button(
              String(game.number),
              async () => {
                try {
                  study(await tournamentGame(name, game.number));
                } catch (error) {
                  notifyError(error);
                }
              },
              { kind: "bare" },
            ),
          ),
          h("td", null, game.black),
          h("td", null, game.white),
          h("td", null, game.outcome === "draw" ? t("draw") : t(game.outcome)),
          h("td", null, game.ending),
          h("td", { class: "num" }, game.moves),
        ),
      ),
    );
  addRows(listed.games);
  let shown = listed.games.length;
  const more = button(t("more"), async () => {
    const next = await tournamentGames(name, GAMES_PER_PAGE, shown);
    addRows(next.games);
    shown += next.games.length;
    more.hidden = shown >= next.total;
  });
  more.hidden = shown >= listed.total;
  return [
    heading("tournaments", summary.title || summary.name, summary.isLive),
    h(
      "p",
      { class: "soft" },
      t("lab.games-of", { games: number(summary.games), planned: number(summary.gamesPlanned) }),
    ),
    ...detail.tables.filter((table) => !table.isDetail).map(reportTable),
    h(
      "div",
      { class: "card scroll" },
      h(
        "table",
        null,
        h("caption", null, t("lab.all-games")),
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["#", t("black"), t("white"), t("result"), t("ending"), t("moves")].map((text) =>
              h("th", { scope: "col" }, text),
            ),
          ),
        ),
        body,
      ),
      more,
    ),
    h(
      "details",
      null,
      h("summary", { class: "soft" }, t("lab.details")),
      h("div", { class: "stack" }, detail.tables.filter((table) => table.isDetail).map(reportTable)),
    ),
  ];
}

// -- networks and papers -----------------------------------------------------------------------------------------------

async function showModels() {
  const found = await models();
  if (!found.length) return [empty("lab.no-models", "tengen train")];
  return [h("div", { class: "cards wide" }, found.map(modelCard))];
}

function modelCard(/** @type {ModelInfo} */ model) {
  const made = [
    model.algorithm,
    model.rules,
    t("lab.weights", { weights: number(model.weights) }),
    t("lab.kilobytes", { kilobytes: number(Math.round(model.bytes / 1000)) }),
  ];
  const learnt = [
    t("lab.games", { games: number(model.games) }),
    t("lab.cpu-minutes", { minutes: number(Math.round(model.cpuMinutes)) }),
    model.elo === null ? null : t("lab.elo", { elo: Math.round(model.elo), error: Math.round(model.eloError ?? 0) }),
  ];
  const matches = model.matches.map((match) =>
    h(
      "tr",
      null,
      h("td", null, match.against, h("div", { class: "soft small" }, match.conditions)),
      h("td", { class: "num" }, match.games),
      h("td", { class: "num" }, match.wins),
      h("td", { class: "num" }, match.draws),
      h("td", { class: "num" }, match.losses),
    ),
  );
  return h(
    "div",
    { class: "card" },
    h("h3", null, model.name),
    h("p", { class: "soft small" }, made.filter(Boolean).join(" · ")),
    h("p", { class: "small" }, learnt.filter(Boolean).join(" · ")),
    damage(model.problem),
    model.agent ? agentButtons(model.agent, model.rules) : null,
    matches.length
      ? h(
          "div",
          { class: "scroll" },
          h(
            "table",
            { class: "small" },
            h(
              "thead",
              null,
              h(
                "tr",
                null,
                ["against", "games-played", "won", "drawn", "lost"].map((name, i) =>
                  h("th", { scope: "col", class: i ? "num" : "" }, t(`lab.${name}`)),
                ),
              ),
            ),
            h("tbody", null, matches),
          ),
        )
      : null,
    h("details", null, h("summary", null, t("lab.card")), h("pre", { class: "small prose" }, model.card)),
  );
}

async function showPapers() {
  const found = await papers();
  if (!found.length) return [empty("lab.no-papers", "tengen paper NAME")];
  return found.map((paper) =>
    h(
      "details",
      { class: "card" },
      h("summary", null, h("strong", null, paper.title || paper.name)),
      h("pre", { class: "small prose" }, paper.readme),
      paper.results.length ? h("p", { class: "soft small" }, paper.results.join(", ")) : null,
    ),
  );
}

function heading(/** @type {string} */ section, /** @type {string} */ title, /** @type {boolean} */ isLive) {
  return h(
    "div",
    { class: "row-start" },
    h("a", { class: "button bare", href: hashOf(`laboratory/${section}`), "aria-label": t("back") }, "←"),
    h("h2", null, title),
    live(isLive),
  );
}

/** @typedef {{ list: () => Promise<Child[]>, detail?: (name: string) => Promise<Child[]> }} View */

const RUNS = { list: showRuns, detail: showRun };

/** @type {Record<string, View>} */
const VIEWS = {
  runs: RUNS,
  tournaments: { list: showTournaments, detail: showTournament },
  models: { list: showModels },
  papers: { list: showPapers },
};

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
  const tabs = h("nav", { class: "tabs", "aria-label": t("page.laboratory") });
  const body = h("div", { class: "lab" });
  fill(main, h("div", { class: "page" }, h("h1", null, t("page.laboratory")), tabs, body));
  let shown = route;
  let turn = 0;
  let timer = 0;

  const show = async () => {
    clearTimeout(timer);
    const mine = ++turn;
    const [section = "runs", name] = shown.rest;
    const { list, detail } = VIEWS[section] ?? RUNS;
    fill(
      tabs,
      SECTIONS.map((each) =>
        h(
          "a",
          { href: hashOf(`laboratory/${each}`), "aria-current": each === section ? "page" : null },
          t(`lab.${each}`),
        ),
      ),
    );
    try {
      const parts = await (name && detail ? detail(name) : list());
      if (mine !== turn) return;
      // Do not redraw while the user has a section open.
      if (!body.querySelector("details[open]")) fill(body, ...parts);
      if (body.querySelector(".live")) timer = setTimeout(show, REFRESH_MS);
    } catch (error) {
      if (mine === turn)
        fill(body, h("div", { class: "empty" }, error instanceof Error ? error.message : String(error)));
    }
  };
  const follow = (/** @type {Route} */ next) => {
    shown = next;
    fill(body, h("p", { class: "empty" }, t("loading")));
    show();
  };
  follow(route);
  const shortcuts = SECTIONS.map((section, i) => ({
    keys: ["qwer".charAt(i)],
    label: `lab.${section}`,
    run: () => go(`laboratory/${section}`),
  }));
  return {
    unmount: () => {
      turn += 1;
      clearTimeout(timer);
    },
    shortcuts,
    follow,
  };
}
