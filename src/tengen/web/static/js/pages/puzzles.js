// @ts-check
/** The puzzle page: attacks and defences. The rating and the progress are stored in this browser. */

import { dailyPuzzle, puzzle, puzzleSolution, puzzles, serverInfo, tryPuzzle } from "../api.js";
import { Board } from "../board/board.js";
import { stonesOf } from "../board/state.js";
import { followSettings } from "../board_settings.js";
import { fill, h, keepingFocus } from "../dom.js";
import { showRules } from "../headline.js";
import { t } from "../i18n.js";
import { announce, notifyError } from "../notice.js";
import { daysInARow } from "../puzzle_rating.js";
import { note, progress, solver, today } from "../puzzle_record.js";
import { go, hashOf, replaceRoute } from "../router.js";
import { read, save } from "../settings.js";
import { playEnd, playStone } from "../sound.js";
import { button, choice, field } from "../widgets/fields.js";
import { linePlayer } from "../widgets/line_player.js";
import { other } from "../workspace.js";

const PAGE_SIZE = 60;

/** @import { PositionInfo, Puzzle, PuzzleSummary, Rule, Theme } from "../messages.js" */
/** @import { Route } from "../router.js" */
/** @typedef {{ theme: Theme | "", grade: string, rule: Rule | "" }} Filter an empty string matches anything */

const THEMES = /** @type {Theme[]} */ (["fours", "threes", "defence", "fouls"]);

class PuzzlePage {
  filter = read("tengen.puzzle-filter", /** @type {Filter} */ ({ theme: "", grade: "", rule: "" }));
  /** @type {PuzzleSummary[]} */ list = [];
  total = 0;
  /** The puzzle on the board. @type {Puzzle | null} */ current = null;
  /** The moves so far, including the replies. @type {string[]} */ moves = [];
  /** The verdict on the last move. @type {"" | "right" | "wrong" | "solved" | "shown"} */ verdict = "";
  /** How the opponent answers a wrong move: the moves after it. @type {string[]} */ refutation = [];
  /** The number of moves of the refutation or the solution that are on the board. */ step = 0;
  /** The puzzle of today. @type {PuzzleSummary | null} */ daily = null;
  isWaiting = false;
  hasFailed = false;
  /** The facts after the last reply; null at the start. @type {PositionInfo | null} */ position = null;
  /** Incremented whenever the board is set up; replies to earlier requests are ignored. */ turn = 0;
  /** The rules that have puzzles; until the server responds, only the chosen one. @type {string[]} */
  rules = this.filter.rule ? [this.filter.rule] : [];

  constructor(/** @type {HTMLElement} */ main) {
    const boardBox = h("div");
    this.confirmBar = h(
      "div",
      { class: "confirm-bar", hidden: true },
      button(t("cancel"), () => this.board.set({ pending: null })),
      button(t("place"), () => this.board.confirm(), { kind: "primary" }),
    );
    this.task = h("div", { class: "card" });
    this.shelf = h("div", { class: "card" });
    fill(
      main,
      h("h1", { class: "visually-hidden" }, t("page.puzzles")),
      h(
        "div",
        { class: "stage" },
        h("section", { class: "table", "aria-label": t("board") }, boardBox, this.confirmBar),
        h("div", { class: "side" }, this.task, this.shelf),
      ),
    );
    this.board = new Board(boardBox, {
      onPlay: (point) => this.play(point),
      onPending: (point) => (this.confirmBar.hidden = !point),
    });
    this.unfollow = followSettings(this.board);
  }

  async loadList(offset = 0) {
    const { theme, grade, rule } = this.filter;
    const query = { theme: theme || null, grade: Number(grade) || null, rule: rule || null };
    const found = await puzzles({ ...query, limit: PAGE_SIZE, offset });
    this.list = offset ? [...this.list, ...found.puzzles] : found.puzzles;
    this.total = found.total;
    this.drawShelf();
  }

  /** Find out which rules have puzzles; a stored choice without puzzles is dropped. */
  async loadRules() {
    const { rules } = await serverInfo();
    const counts = await Promise.all(rules.map((rule) => puzzles({ rule: /** @type {Rule} */ (rule), limit: 1 })));
    this.rules = rules.filter((_, i) => counts[i]?.total);
    if (!this.rules.includes(this.filter.rule)) this.filter = { ...this.filter, rule: "" };
    this.daily = await dailyPuzzle(today());
  }

  setFilter(/** @type {Partial<Filter>} */ changes) {
    this.filter = { ...this.filter, ...changes };
    save("tengen.puzzle-filter", this.filter);
    this.loadList().then(() => this.next(), notifyError);
  }

  async open(/** @type {string} */ id) {
    if (this.current?.id === id) return;
    try {
      this.current = await puzzle(id);
    } catch (error) {
      notifyError(error);
      return;
    }
    this.restart();
    this.hasFailed = false;
    announce(taskText(this.current));
    this.drawShelf();
  }

  restart() {
    this.setUp([], "");
  }

  /** Show the puzzle after some moves. Replies to pending requests will be ignored. */
  setUp(/** @type {string[]} */ moves, /** @type {typeof this.verdict} */ verdict) {
    this.turn += 1;
    this.isWaiting = false;
    this.moves = moves;
    this.verdict = verdict;
    this.refutation = [];
    this.step = 0;
    this.position = null;
    this.draw();
  }

  /** Return the next unsolved puzzle in the list. */
  following() {
    const done = progress();
    const at = this.list.findIndex(({ id }) => id === this.current?.id);
    const following = [...this.list.slice(at + 1), ...this.list.slice(0, at + 1)];
    return following.find(({ id }) => !done[id]?.solved) ?? following[0] ?? null;
  }

  next() {
    const found = this.following();
    if (found) go(`puzzles/${found.id}`);
  }

  async play(/** @type {string} */ point) {
    if (this.isWaiting || this.verdict === "wrong" || this.verdict === "solved") return;
    const { current, turn } = this;
    if (!current) return;
    this.moves = [...this.moves, point];
    this.isWaiting = true;
    playStone(current.currentPlayer);
    this.draw();
    try {
      const answer = await tryPuzzle(current.id, this.moves);
      if (this.turn !== turn) return;
      this.isWaiting = false;
      this.verdict = answer.verdict;
      this.position = answer.position;
      if (answer.reply) playStone(other(current.currentPlayer));
      if (answer.verdict === "wrong") {
        this.refutation = answer.refutation;
        this.step = Math.min(1, answer.refutation.length);
      } else if (answer.reply) this.moves = [...this.moves, answer.reply];
      if (answer.verdict === "solved") {
        note(current, true, this.dayOf(current));
        playEnd("win");
      } else if (answer.verdict === "wrong") {
        if (!this.hasFailed) note(current, false, null);
        this.hasFailed = true;
        playEnd("loss");
      }
      announce(this.statusText());
    } catch (error) {
      if (this.turn !== turn) return;
      this.isWaiting = false;
      this.moves = this.moves.slice(0, -1);
      notifyError(error);
    }
    this.draw();
    this.drawShelf();
  }

  async showSolution() {
    const { current, turn } = this;
    if (!current) return;
    try {
      const { pv } = await puzzleSolution(current.id);
      if (this.turn !== turn) return;
      if (!this.hasFailed && this.verdict !== "solved") note(current, false, null);
      this.hasFailed = true;
      this.setUp([], "shown");
      this.refutation = pv;
      this.showStep(pv.length);
    } catch (error) {
      notifyError(error);
    }
  }

  /** Today, if the puzzle is the one of today. */
  dayOf(/** @type {Puzzle} */ { id }) {
    return this.daily?.id === id ? today() : null;
  }

  /** Show the first moves of the refutation or the solution. */
  showStep(/** @type {number} */ step) {
    this.step = Math.max(0, Math.min(this.refutation.length, step));
    this.draw();
  }

  // -- drawing -----------------------------------------------------------------------------------------------------------

  statusText() {
    if (this.isWaiting) return t("thinking");
    if (this.verdict === "") return t("puzzle.your-move");
    const [reply] = this.refutation;
    if (this.verdict !== "wrong" || !reply) return t(`puzzle.${this.verdict}`);
    const wins = this.refutation.length > 1;
    return t(wins ? "puzzle.loses" : "puzzle.refuted", { point: reply, moves: (this.refutation.length + 1) >> 1 });
  }

  draw() {
    keepingFocus(this.task, () => this.fillTask());
  }

  fillTask() {
    const { current, position } = this;
    const moves = [...this.moves, ...this.refutation.slice(0, this.step)];
    if (!current) {
      fill(this.task, h("div", { class: "empty" }, h("p", null, t("puzzle.none"))));
      return;
    }
    showRules(current.rules);
    const player = current.currentPlayer;
    const set = current.initialStones.map(([colour, point]) => ({ point, colour }));
    const played = moves.map((point, i) => ({ point, colour: i % 2 ? other(player) : player, number: i + 1 }));
    const mayPlay = !this.isWaiting && (this.verdict === "" || this.verdict === "right");
    const lastTry = this.verdict === "wrong" || this.verdict === "solved" ? this.moves.at(-1) : null;
    this.board.set({
      width: current.boardXSize,
      height: current.boardYSize,
      stones: stonesOf([...set, ...played]),
      lastMove: moves.at(-1) ?? current.lastMove,
      winningLine: this.verdict === "solved" ? (position?.winningLine ?? []) : [],
      fouls: mayPlay ? (position ?? current).fouls.map((foul) => foul.point) : [],
      toPlay: mayPlay ? player : null,
      numbers: moves.length ? "all" : "off",
      pending: null,
      marks: lastTry ? [{ point: lastTry, kind: this.verdict === "solved" ? "right" : "wrong" }] : [],
    });
    fill(
      this.task,
      h(
        "div",
        { class: "row-between" },
        h("h2", null, t(current.kind === "defence" ? "puzzle.title-defence" : "puzzle.title", { colour: t(player) })),
        h(
          "span",
          { class: "stars", role: "img", "aria-label": t("puzzle.grade", { grade: current.grade }) },
          "★".repeat(current.grade) + "☆".repeat(5 - current.grade),
        ),
      ),
      h("p", null, taskText(current)),
      h("p", { class: `verdict ${this.verdict}`, role: "status" }, this.statusText()),
      this.refutation.length ? linePlayer(this.refutation, this.step, (step) => this.showStep(step)) : null,
      h(
        "div",
        { class: "buttons even" },
        button(t("puzzle.again"), () => this.restart(), {
          icon: "undo",
          disabled: !this.moves.length && !this.refutation.length,
        }),
        button(t("puzzle.solution"), () => this.showSolution(), { icon: "hint", disabled: this.verdict === "shown" }),
        button(t("puzzle.next"), () => this.next(), {
          icon: "forward",
          kind: this.verdict === "solved" ? "primary" : "",
        }),
      ),
      h(
        "p",
        { class: "soft small" },
        `${current.rules} · ${t("puzzle.rating", { rating: current.rating })} · ${current.id}`,
      ),
    );
  }

  drawShelf() {
    keepingFocus(this.shelf, () => this.fillShelf());
  }

  fillShelf() {
    const done = progress();
    const solved = Object.values(done).filter((each) => each.solved).length;
    const record = solver();
    const days = daysInARow(record.days, today());
    const any = /** @type {[string, string]} */ (["", t("any")]);
    fill(
      this.shelf,
      h(
        "div",
        { class: "row-between" },
        h("h2", null, t("page.puzzles")),
        h("span", { class: "soft small" }, t("puzzle.progress", { solved })),
      ),
      h(
        "dl",
        { class: "facts" },
        [
          [t("puzzle.your-rating"), record.rating],
          [t("puzzle.streak"), t("puzzle.streak-of", { streak: record.streak, best: record.best })],
          [t("puzzle.days"), days],
        ].flatMap(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
      ),
      this.daily
        ? h(
            "a",
            { class: "button", href: hashOf(`puzzles/${this.daily.id}`) },
            t(record.days.includes(today()) ? "puzzle.daily-solved" : "puzzle.daily"),
          )
        : null,
      h(
        "div",
        { class: "fields" },
        field(
          t("puzzle.theme"),
          choice(
            [any, ...THEMES.map((theme) => /** @type {[string, string]} */ ([theme, t(`puzzle.theme.${theme}`)]))],
            this.filter.theme,
            (theme) => this.setFilter({ theme: /** @type {Filter["theme"]} */ (theme) }),
          ),
        ),
        field(
          t("puzzle.difficulty"),
          choice(
            [
              any,
              ...[1, 2, 3, 4, 5].map((grade) => /** @type {[string, string]} */ ([String(grade), "★".repeat(grade)])),
            ],
            this.filter.grade,
            (grade) => this.setFilter({ grade }),
          ),
        ),
        field(
          t("rule"),
          choice(
            [any, ...this.rules.map((rule) => /** @type {[string, string]} */ ([rule, t(`rule.${rule}`)]))],
            this.filter.rule,
            (rule) => this.setFilter({ rule: /** @type {Filter["rule"]} */ (rule) }),
          ),
        ),
      ),
      h(
        "div",
        { class: "shelf" },
        this.list.map((each, i) => {
          const state = done[each.id]?.solved ? "solved" : done[each.id] ? "failed" : "";
          const label = t("puzzle.label", {
            number: i + 1,
            kind: t(`puzzle.theme.${each.themes.at(-1)}`),
            depth: each.depth,
            state: state ? t(`puzzle.state.${state}`) : "",
          });
          return h(
            "a",
            {
              class: `tile ${state}`,
              href: hashOf(`puzzles/${each.id}`),
              "aria-label": label,
              "aria-current": each.id === this.current?.id ? "true" : null,
              title: label,
            },
            i + 1,
          );
        }),
      ),
      this.list.length < this.total
        ? button(t("puzzle.more", { count: this.total - this.list.length }), () =>
            this.loadList(this.list.length).catch(notifyError),
          )
        : null,
    );
  }

  shortcuts() {
    return [
      { keys: ["n", "ArrowRight"], label: "puzzle.next", run: () => this.next() },
      { keys: ["r"], label: "puzzle.again", run: () => this.restart() },
      { keys: ["a"], label: "puzzle.solution", run: () => this.current && this.showSolution() },
      { keys: ["b"], label: "key.board-focus", run: () => this.board.focus() },
    ];
  }
}

const taskText = (/** @type {Puzzle} */ { currentPlayer, kind, depth }) =>
  kind === "defence"
    ? t("puzzle.task-defence", { colour: t(currentPlayer), depth })
    : t("puzzle.task", { colour: t(currentPlayer), kind: t(`puzzle.${kind}`), depth });

/** @param {HTMLElement} main @param {Route} route */
export async function mount(main, route) {
  const page = new PuzzlePage(main);
  page.draw();
  page.drawShelf();
  let isOpen = true;
  const follow = async (/** @type {Route} */ { rest: [id] }) => {
    const wanted = id ?? page.following()?.id;
    // The user may have left the page before the list arrived.
    if (!isOpen || !wanted) return;
    if (!id) replaceRoute(`puzzles/${wanted}`);
    await page.open(wanted);
  };
  const unmount = () => {
    isOpen = false;
    page.unfollow();
  };
  page
    .loadRules()
    .then(() => page.loadList())
    .then(() => follow(route))
    .catch(notifyError);
  return { unmount, shortcuts: page.shortcuts(), follow };
}
