// The teacher's board: a tile a question, who is there, the question box, and the buttons that move the class.

import { h, setText, show } from "../dom.js";
import { embedded } from "../embedded.js";
import { askForm } from "./ask.js";
import { histogram } from "./bins.js";
import { Leading } from "./leading.js";
import { addressOf, begin, ClassLink } from "./link.js";

export const VERSION = "1";

const percent = (share) => `${Math.round(100 * share)} %`;
const CONFIDENCE = ["", "guesses", "fairly sure", "sure"];

class Tile {
  constructor(link, id) {
    this.link = link;
    this.id = id;
    this.shows = false; // the measured answer, on this board only
    this.element = h("section", { class: "card", "data-testid": "tile" });
  }

  say(type, more = {}) {
    this.link.say({ type, question: this.id, ...more });
  }

  button(text, press, more = {}) {
    return h("button", { type: "button", onclick: press, ...more }, text);
  }

  draw(tile) {
    const text = JSON.stringify(tile) + this.shows;
    if (text === this.drawn) return;
    this.drawn = text;
    const focused = this.element.getRootNode().activeElement?.dataset.act;
    const shows = this.shows || tile.revealed;
    const measured = tile.measured.map(([label]) => label);
    const word = tile.marked ? "answer" : "measured";
    this.element.setAttribute("aria-label", tile.text);
    this.element.replaceChildren(
      h("div", { class: "tile-head" }, h("h2", {}, tile.title ? `${tile.title}: ${tile.text}` : tile.text), this.badge(tile)),
      h("p", { class: "muted", "data-testid": "tile-facts" }, this.facts(tile, shows)),
      ...histogram(tile.bins, shows ? measured : [], word),
      ...(shows && measured.length && !tile.bins.some((bin) => measured.includes(bin.label)) ? [h("p", {}, `The answer (${word}): `, h("b", {}, measured.join(", ")))] : []),
      ...this.wrong(tile, shows), this.buttons(tile),
    );
    if (focused) this.element.querySelector(`[data-act="${focused}"]`)?.focus();
  }

  badge(tile) {
    if (tile.talk) return h("span", { class: "badge talk", title: "between 30 and 70 % are right: talking with the neighbour pays", "data-testid": "talk" }, "talk now");
    if (tile.revealed) return h("span", { class: "badge done" }, "shown");
    return tile.locked ? h("span", { class: "badge" }, "locked") : null;
  }

  facts(tile, shows) {
    const facts = [`${tile.in.before} of ${tile.students} in`];
    if (tile.in.after || tile.phase === "after") facts.push(`${tile.in.after} again after talking`);
    const sure = tile.confidence.after ?? tile.confidence.before;
    if (sure !== null) facts.push(`on average ${CONFIDENCE[Math.round(sure)]}`);
    if (tile.seconds !== null) facts.push(`median ${Math.round(tile.seconds)} s`);
    if (shows && tile.right !== null) facts.push(`${percent(tile.right)} right`);
    return facts.join(" · ");
  }

  wrong(tile, shows) {
    if (!shows || !tile.wrong.length) return [];
    return [h("h3", {}, "Common wrong answers"), ...tile.wrong.map(({ label, count, sentence }) => h("p", { class: "say bad" }, `${label} (${count})`, sentence ? `: ${sentence}` : ""))];
  }

  buttons(tile) {
    const flip = () => { this.shows = !this.shows; this.draw(tile); };
    return h(
      "div", { class: "row" },
      this.button(tile.locked ? "Unlock" : "Lock", () => this.say("lock", { on: !tile.locked }), { "data-act": "lock", "data-testid": "lock" }),
      tile.phase === "before"
        ? this.button("Talk and predict again", () => this.say("vote", { phase: "after" }), { "data-act": "vote", "data-testid": "vote" })
        : this.button("Back to the first round", () => this.say("vote", { phase: "before" }), { "data-act": "vote" }),
      this.button("Answer on this screen", flip, { "aria-pressed": String(this.shows), "data-act": "measured", "data-testid": "measured", disabled: !tile.measured.length && tile.right === null }),
      this.button(tile.revealed ? "Hide from the class" : "Reveal to the class", () => this.say("reveal", { on: !tile.revealed }), { "data-act": "reveal", "data-testid": "reveal" }),
      this.button("Remove", () => { if (confirm("Take this question with its answers from the board?")) this.say("remove"); }, { "data-act": "remove" }),
    );
  }
}

class Board {
  constructor(root) {
    this.tiles = new Map();
    this.link = new ClassLink("class", (message) => this.take(message));
    this.count = h("span", { class: "grow", "data-testid": "board-count" });
    this.away = h("p", { class: "refused", role: "alert", "data-testid": "board-refused" });
    this.place = h("input", { type: "text", "aria-label": "address of a page of this server", value: "/", maxlength: 4000 });
    this.leading = new Leading(this.link, () => this.place.value.trim(), "Everyone to this address");
    this.address = h("p", { class: "big" });
    this.code = h("img", { class: "code", alt: "QR code of the students' address", src: addressOf("class/code.svg") });
    this.code.addEventListener("error", () => show(this.code, false)); // without the package that draws it
    this.grid = h("div", { class: "tiles" });
    this.running = h("p", { "data-testid": "board-running" });
    this.waiting = h("ul", { class: "slips", "data-testid": "waiting" });
    this.waitingHead = h("summary", { "data-testid": "waiting-head" });
    this.shown = h("ul", { class: "slips", "data-testid": "box-shown" });
    this.none = h("p", { class: "muted" }, "Nothing was let through yet.");
    const section = (title, ...inside) => h("section", { class: "card" }, h("h2", {}, title), ...inside);
    root.append(h("style", {}, embedded("css")), h(
      "main", { class: "class-page" },
      h(
        "div", { class: "class-wide" },
        h("div", { class: "head" }, h("h1", {}, "The class"), this.count, h("a", { class: "button", href: addressOf("") }, "Explorer"), h("a", { class: "button", href: addressOf("class/answers.csv") }, "Answers as CSV")),
        this.away,
        h("details", { class: "card" }, h("summary", {}, "How students come here"), this.address, this.code),
        this.grid, h(
          "div", { class: "tiles" }, section("Ask", askForm(this.link)),
          section("Everybody", this.running, h("label", { class: "field" }, "Page and settings", this.place), this.leading.element, h("p", { class: "muted" }, "In the explorer, the corner at the lower right brings everybody to what you see there.")),
          section("Question box", this.none, this.shown, h("details", {}, this.waitingHead, h("p", { class: "muted" }, "Not read yet: fold this away while others see the screen."), this.waiting)),
        ),
      ),
    ));
  }

  take(message) {
    if (message.type === "board") this.draw(message);
    else if (message.type === "class") location.reload(); // the teacher's cookie is gone
    else if (message.type === "refused") this.away.textContent = message.text;
    else if (message.type === "offline") this.away.textContent = "The connection is lost; it comes back by itself.";
    else if (message.type === "online") this.away.textContent = "";
  }

  draw(state) {
    this.away.textContent = "";
    setText(this.count, `${state.connected} here now, ${state.students} in all · ${state.kept ? "kept in a file" : "kept in memory only"}`);
    setText(this.address, state.address);
    setText(this.running, state.running.length ? `Still running: ${state.running.slice(0, 12).join(", ")}${state.running.length > 12 ? ` and ${state.running.length - 12} more` : ""}` : "Nobody's run is going on.");
    this.leading.take(state);
    for (const id of [...this.tiles.keys()]) if (!state.tiles.some((tile) => tile.id === id)) this.tiles.delete(id);
    const elements = [...state.tiles].reverse().map((tile) => {
      if (!this.tiles.has(tile.id)) this.tiles.set(tile.id, new Tile(this.link, tile.id));
      const drawn = this.tiles.get(tile.id);
      drawn.draw(tile);
      return drawn.element;
    });
    if (elements.length !== this.grid.children.length || elements.some((element, k) => element !== this.grid.children[k])) this.grid.replaceChildren(...elements);
    this.drawBox(state);
  }

  drawBox(state) {
    const text = JSON.stringify([state.box, state.names]);
    if (text === this.boxText) return;
    this.boxText = text;
    const judge = (words, message) => h("button", { type: "button", onclick: () => this.link.say(message) }, words);
    const unread = state.box.filter((slip) => slip.state === "waiting"), read = state.box.filter((slip) => slip.state === "shown");
    const slip = ({ id, text: written, who }, ...buttons) => h("li", {}, written, h("span", { class: "muted" }, ` ${who}`), h("div", { class: "row" }, ...buttons.map(([words, to]) => judge(words, { type: "slip", id, state: to }))));
    this.shown.replaceChildren(...read.map((one) => slip(one, ["Done", "removed"])));
    show(this.none, !read.length);
    const some = (found, word) => `${found.length} ${word}${found.length === 1 ? "" : "s"}`;
    setText(this.waitingHead, `Waiting for you: ${some(unread, "question")}, ${some(state.names, "nickname")}`);
    this.waiting.replaceChildren(
      ...unread.map((one) => slip(one, ["Show to all", "shown"], ["Remove", "removed"])),
      ...state.names.map(({ number, name }) => h("li", {}, `student ${number} would be called `, h("b", {}, name), h("div", { class: "row" }, judge("Allow", { type: "nickname", number, state: "shown" }), judge("No", { type: "nickname", number, state: "removed" })))),
    );
  }
}

export function mount({ el }) {
  return new Board(el.attachShadow({ mode: "open" }));
}

begin(mount);
