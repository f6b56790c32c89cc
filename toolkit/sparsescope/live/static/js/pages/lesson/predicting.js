// A prediction: answer, how sure, a second vote after talking, the run, and a vote on where else the claim holds.

import { focusedIn, h, holdButton, isHeld, plainSymbols, setText, show, symbols } from "../../dom.js";
import { makeAnswer } from "./answers.js";
import { Step } from "./steps.js";

const SURE = [[1, "a guess"], [2, "rather sure"], [3, "certain"]];

export class PredictionStep extends Step {
  redraw() {
    super.redraw();
    const kept = this.body.progress.kept.reveals[this.k];
    if (kept) this.answer.compare(kept);
  }

  constructor(body, question, k) {
    super(body, `Prediction ${k}`, "p" + k);
    this.k = k;
    this.question = question;
    const name = `p${k}`;
    this.answer = makeAnswer(body.page, question, name);
    this.sure = SURE.map(([value, text]) => [value, h("input", { type: "radio", name: name + "-sure", value, "data-testid": `${name}-sure-${value}` }), text]);
    this.sureness = h("fieldset", { class: "lesson-sure" }, h("legend", {}, "How sure are you?"), ...this.sure.map(([, input, text]) => h("label", {}, input, text)));
    this.lock = h("button", { type: "button", class: "act primary", "data-testid": name + "-lock", onclick: () => this.send() }, "Lock in and run");
    this.note = h("p", { class: "lesson-note", role: "alert", "data-testid": name + "-note" });
    this.reveal = h("div", { class: "lesson-reveal", role: "status", "data-testid": name + "-reveal" });
    this.others = h("div", { role: "status", "data-testid": name + "-elsewhere" });
    this.talk = h("button", { type: "button", "data-testid": name + "-talk", onclick: () => this.talkFirst() }, "Lock in, talk first");
    this.acts = h("p", { class: "lesson-acts" }, this.lock, this.talk);
    this.first = h("p", { class: "muted", role: "status", "data-testid": name + "-first" });
    this.more = h("button", { type: "button", "data-testid": name + "-more", onclick: () => this.askElsewhere() }, "Does it hold elsewhere?");
    this.bets = question.elsewhere.map((place) => [place, ...["holds", "does not hold"].map((text) => h("input", { type: "radio", name: `${name}-${place}`, value: text, "data-testid": `${name}-bet-${place}-${text.split(" ")[0]}` }))]);
    this.betting = h("fieldset", { class: "lesson-bets" }, h("legend", {}, "Vote again: where else does the claim hold?"), ...this.bets.map(([place, yes, no]) => h("p", { role: "radiogroup", "aria-label": place }, h("span", {}, ...symbols(place)), h("label", {}, yes, "holds"), h("label", {}, no, "does not hold"))));
    this.condition = h("p");
    this.where = h("details", { class: "muted" }, h("summary", {}, "Where it holds"), this.condition);
    this.again = h("button", { type: "button", "data-testid": name + "-again", onclick: () => this.startAgain() }, "Start again");
    this.after = h("div", { class: "lesson-after", hidden: true }, this.betting, h("p", { class: "lesson-acts" }, this.more, body.lesson.alone ? this.again : ""), this.others, this.where);
    this.element.append(body.paragraph(question.question, { class: "lesson-question" }), this.answer.element, this.sureness, this.first, this.acts, this.note, this.plot, this.reveal, this.after);
  }

  begin() {
    const { progress } = this.body;
    const { given } = this.question; // an answer in Python to the same question
    const same = (reveal) => !given || JSON.stringify(reveal.answer) === JSON.stringify(given.answer);
    if (progress.kept.reveals[this.k] && !same(progress.kept.reveals[this.k])) progress.forget(this.k);
    const { reveals, elsewhere, firsts, bets } = progress.kept;
    const { recorded } = this.body.page;
    show(this.acts, !recorded);
    if (firsts[this.k]) this.showFirst(firsts[this.k]);
    if (reveals[this.k] && recorded) this.acts.after(this.playButton(this.k, reveals[this.k].picture));
    if (reveals[this.k]) {
      this.found(reveals[this.k]);
      if (this.body.lesson.keeps && !given) this.body.page.link.do("kept", { k: this.k, answer: reveals[this.k].answer, sure: reveals[this.k].sure });
    } else if (given && !recorded) {
      this.fill(given);
      this.send();
    }
    for (const [place, yes, no] of this.bets) [yes.checked, no.checked] = [(bets[this.k] || {})[place] === true, (bets[this.k] || {})[place] === false];
    if (elsewhere[this.k]) this.drawElsewhere(elsewhere[this.k], true);
    if (recorded) for (const node of [this.more, this.again, this.betting]) show(node, false);
  }

  awaited() {
    return !this.body.progress.kept.reveals[this.k];
  }

  fill({ answer, sure }) {
    this.answer.set(answer);
    for (const [value, input] of this.sure) input.checked = value === sure;
  }

  /** The vote as it stands; where it is not complete the note says what is missing. */
  vote() {
    const answer = this.answer.value();
    const sure = this.sure.find(([, input]) => input.checked);
    setText(this.note, answer === null ? "Answer first: the run comes afterwards." : sure ? "" : "Say how sure you are.");
    return answer === null || !sure ? null : { answer, sure: sure[0] };
  }

  /** Keep this vote, and let the student talk to a neighbour before the vote that counts. */
  talkFirst() {
    const vote = this.vote();
    if (!vote) return;
    this.body.progress.put("firsts", this.k, vote);
    this.body.page.link.do("vote", { k: this.k, ...vote });
    this.showFirst(vote);
    this.lock.focus();
  }

  showFirst(vote) {
    this.fill(vote);
    show(this.talk, false);
    setText(this.first, "Your first vote is kept. Talk to your neighbour for a minute, then vote again: change the answer or leave it.");
  }

  send() {
    if (isHeld(this.lock)) return;
    const vote = this.vote();
    if (!vote) return;
    this.answer.lock(true);
    this.sureness.disabled = this.talk.disabled = true;
    holdButton(this.lock, true);
    this.lock.textContent = "Running …";
    setText(this.first, "");
    this.body.run("predict", { k: this.k, ...vote, first: this.body.progress.kept.firsts[this.k] || null });
  }

  /** Nothing is under way any more: unlock what got no answer. */
  rest() {
    this.betting.disabled = false;
    holdButton(this.more, false);
    const queued = this.body.waiting.some(([, message]) => message.k === this.k);
    const left = this.others.querySelector(".lesson-under-way");
    if (left && !queued) {
      if (focusedIn(left)) this.more.focus();
      left.replaceChildren("Stopped.");
    }
    if (!this.awaited() || queued) return;
    this.answer.lock(false);
    this.sureness.disabled = this.talk.disabled = false;
    holdButton(this.lock, false);
    this.lock.textContent = "Lock in and run";
  }

  startAgain() {
    if (this.body.lesson.keeps) this.body.page.link.do("forget", { k: this.k });
    this.body.forget(this.k);
  }

  found(message) {
    this.fill(message);
    this.answer.lock(true);
    this.answer.compare(message);
    const focused = focusedIn(this.acts);
    const byKeys = focused && focused.matches(":focus-visible");
    this.sureness.disabled = true;
    show(this.acts, false);
    setText(this.first, "");
    const verdict = message.right ? "As you said." : message.distance ? `Measured otherwise: ${message.distance}.` : "Measured otherwise.";
    const { body } = this;
    const pair = (name, text, more = {}) => [h("dt", {}, name), h("dd", more, ...symbols(text))];
    const lines = [
      h("p", { tabindex: -1, class: "lesson-verdict" + (message.right ? " is-right" : "") }, ...symbols(verdict)),
      h("dl", { class: "lesson-pair" }, ...(message.first ? pair("you at first", message.first) : []), ...pair(message.first ? "you after talking" : "you", message.yours), ...pair("measured", message.theirs, { class: "is-measured" })),
      h("p", {}, ...symbols(message.said)), ...message.sentences.map((text) => body.paragraph(text, { class: "lesson-sentence" })),
      body.paragraph(`Claim: ${message.claim} ${message.holds ? "It holds" : "It does not hold"} in this run (${message.case}).`, { class: "muted" }),
    ];
    this.reveal.replaceChildren(...lines);
    this.condition.replaceChildren(...body.worded(message.condition));
    show(this.after, true);
    this.display(message.picture);
    if (focused) lines[0].focus({ preventScroll: !byKeys }); // the button is gone
  }

  askElsewhere() {
    if (isHeld(this.more)) return;
    const bets = Object.fromEntries(this.bets.filter(([, yes, no]) => yes.checked || no.checked).map(([place, yes]) => [place, yes.checked]));
    this.body.progress.put("bets", this.k, bets);
    this.betting.disabled = true;
    holdButton(this.more, true);
    this.others.replaceChildren(this.underWay(0));
    this.body.run("elsewhere", { k: this.k });
  }

  /** Where it runs now, and how to end it; what was found stays. */
  underWay(at) {
    const stop = h("button", { type: "button", "data-testid": `p${this.k}-stop`, onclick: () => this.body.stop() }, "Stop");
    return h("p", { class: "muted lesson-under-way" }, `Running on ${this.bets[at][0]} (${at + 1} of ${this.bets.length}) … `, stop);
  }

  drawElsewhere(rows, done) {
    const bets = this.body.progress.kept.bets[this.k] || {};
    const some = Object.keys(bets).length > 0;
    const [yes, no] = ["holds", "does not hold"];
    const mine = (row) => (row.case in bets ? h("td", { "data-label": "you said", class: bets[row.case] === row.holds ? "is-good" : "is-yours" }, bets[row.case] ? yes : no) : h("td", { "data-label": "you said", class: "no-vote" }, "–"));
    const line = (row) => h("tr", {}, h("th", { scope: "row" }, ...symbols(row.case)), some ? mine(row) : "", h("td", { "data-label": "the claim", class: row.holds ? "is-good" : "is-not" }, row.holds ? yes : no), h("td", { "data-label": "measured" }, ...symbols(row.measured)), h("td", {}, ...symbols(row.said)));
    const head = h("tr", {}, ...["where", ...(some ? ["you said"] : []), "the claim", "measured", "the run"].map((text) => h("th", { scope: "col" }, text)));
    const table = h("table", { class: "lesson-table lesson-elsewhere" }, h("thead", {}, head), h("tbody", {}, ...rows.map(line)));
    const [stopping, here] = [focusedIn(this.others), [this.betting, this.more, this.others].some(focusedIn)];
    const found = h("div", { class: "lesson-scroll", tabindex: 0, role: "group", "aria-label": "other data" }, table);
    this.others.replaceChildren(found, done ? "" : this.underWay(rows.length));
    this.where.open = done;
    show(this.betting, !done);
    show(this.more, !done);
    if (done && here) found.focus({ preventScroll: true }); // what had the focus is gone
    else if (stopping) this.others.querySelector("button").focus();
  }

  take(message) {
    const { body } = this;
    if (message.k !== this.k) return false;
    if (message.type === "frame") this.display(message.picture);
    else if (message.type === "reveal") {
      body.progress.put("reveals", this.k, message);
      this.found(message);
      body.update();
      this.body.page.requestDraw();
    } else if (message.type === "elsewhere") {
      if (message.done) body.progress.put("elsewhere", this.k, message.rows);
      this.drawElsewhere(message.rows, message.done);
    }
    return true;
  }
}
