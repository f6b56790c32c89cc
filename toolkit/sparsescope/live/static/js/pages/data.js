// The data page: files of one's own with the roles of their columns and what was left out, and what the data are.

import { h, setText, show } from "../dom.js";
import { count, known, number, plural } from "../charts/format.js";
import { mountPage } from "./frame.js";

export const VERSION = "1";

const PAGES = [["./", "Explorer"], ["./path", "Path"], ["./race", "Race"]];

export function mount(given) {
  return mountPage((page) => new DataBody(page), given);
}

const megabytes = (bytes) => `${count(bytes / 2 ** 20)} MB`;

class DataBody {
  constructor(page) {
    this.page = page;
    this.send = page.options.upload; // there is none where no server takes files
    this.input = h("input", { type: "file", class: "sr-only", tabindex: "-1", "aria-hidden": "true", "data-testid": "data-file", onchange: () => this.take_files(this.input.files) });
    this.pick = h("button", { type: "button", class: "act primary", "data-testid": "data-pick", onclick: () => this.input.click() }, "Choose a file");
    this.limits = h("p", { class: "prox-saying" });
    this.progress = h("progress", { max: 1, value: 0, hidden: true, "aria-label": "sending the file", "data-testid": "data-progress" });
    this.state = h("p", { class: "data-state", role: "status", "data-testid": "data-state" });
    this.files = h("ul", { class: "data-files", "aria-label": "your files", "data-testid": "data-files" });
    this.drop = h(
      "section", { class: "card data-drop", "aria-label": "your own data", "data-testid": "data-drop" },
      h("div", { class: "race-bar" }, h("h2", {}, "Your own data"), this.pick, this.input, h("span", { class: "page-doc" }, "or drop one here"), this.files, this.state), this.progress, this.limits,
    );
    for (const type of ["dragover", "dragenter"]) this.drop.addEventListener(type, (event) => this.over(event, true));
    this.drop.addEventListener("dragleave", (event) => this.over(event, false));
    this.drop.addEventListener("drop", (event) => {
      this.over(event, false);
      this.take_files(event.dataTransfer.files);
    });
    this.error = h("p", { class: "data-error", role: "alert", hidden: true, "data-testid": "data-error" });
    this.report = h("ul", { class: "data-report", "data-testid": "data-report" });
    this.remove = h("button", { type: "button", class: "act", "data-testid": "data-remove", onclick: () => this.page.link.do("remove") }, "Remove this file");
    this.columnsTitle = h("h2", {});
    this.columns = h("table", { class: "race-table data-columns", "data-testid": "data-columns" });
    this.more = h("p", { class: "prox-saying" });
    this.table = h("section", { class: "card", "aria-label": "what was read", hidden: true },
      h("div", { class: "data-head" }, this.columnsTitle, this.remove), this.error, this.report, h("div", { class: "data-scroll", tabindex: "0", role: "group", "aria-label": "columns" }, this.columns), this.more);
    this.title = h("h2", { "data-testid": "data-title" });
    this.about = h("p", { class: "page-doc" });
    this.facts = h("dl", { class: "facts", "data-testid": "data-facts" });
    this.links = PAGES.map(([address, text]) => page.opener(address, `Open in ${text}`, "data-to-" + text.toLowerCase()));
    this.classes = h("div", { class: "class-sizes", role: "list", "aria-label": "classes", tabindex: "0" });
    this.frequent = h("div", { class: "class-sizes", role: "list", "aria-label": "most frequent features" });
    this.pairs = h("div", { class: "class-sizes data-pairs", role: "list", "aria-label": "largest correlations", "data-testid": "data-pairs" });
    this.none = h("p", { class: "page-doc", "data-testid": "data-none" });
    this.whole = h("div", { class: "data-parts" },
      h("div", {}, this.facts), h("div", {}, this.classesTitle = h("h2", { class: "minor" }), this.classes), this.often = h("div", {}, h("h2", { class: "minor" }, "features that are not zero most often"), this.frequent),
      this.related = h("div", {}, h("h2", { class: "minor", title: "of the features that vary most, in the training samples" }, "features of largest correlation"), this.pairs));
    this.element = h("div", { class: "data" },
      this.drop, this.table,
      h("section", { class: "card data-card", "aria-label": "the data" }, h("div", { class: "data-head" }, this.title, ...this.links), this.about, this.none, this.whole));
  }

  over(event, lit) {
    event.preventDefault();
    this.drop.classList.toggle("is-lit", lit && Boolean(this.send));
  }

  // ------------------------------------------------------------------------------------------------------------ files
  async take_files(files) {
    if (!this.send || this.sending || !files.length) return;
    const [file] = files;
    this.say("", "");
    const most = this.picture && this.picture.limits ? this.picture.limits.bytes : Infinity;
    if (file.size > most) {
      this.say(`${file.name} has ${megabytes(file.size)}; at most ${megabytes(most)} are taken.`, "error");
      return;
    }
    this.sending = true;
    this.pick.disabled = true;
    show(this.progress, true);
    const answer = await this.send(file, (share) => {
      this.progress.value = share;
      this.say(share < 1 ? `Sending ${file.name}: ${Math.round(100 * share)} %` : `Reading ${file.name} …`, "");
    });
    this.sending = false;
    this.pick.disabled = false;
    this.input.value = "";
    show(this.progress, false);
    this.say(answer.error || "", answer.error ? "error" : "");
    if (answer.name) this.page.link.post({ type: "show", name: answer.name });
  }

  say(text, kind) {
    setText(this.state, text);
    this.state.classList.toggle("is-error", kind === "error");
  }

  /** Whether the data are described. */
  settled() {
    return Boolean(this.described) && this.drawn === this.described;
  }

  // -------------------------------------------------------------------------------------------------------- messages
  take(message) {
    if (message.type === "working") setText(this.none, message.text);
    if (message.type === "working") show(this.none, true);
    if (message.type === "described") this.described = message;
    this.page.requestDraw();
  }

  draw(picture) {
    this.picture = picture;
    this.drawDrop(picture);
    this.drawShown(picture);
    if (this.described !== this.drawn) this.drawDescribed(this.described);
    this.drawn = this.described;
    for (const link of this.links) link.renew();
  }

  drawDrop({ files, limits, shown }) {
    if (!this.send || !limits) {
      this.pick.disabled = true;
      setText(this.limits, "Files are taken by sparsescope explore in a browser. In Python, hand the data over: ss.datasets.load(\"file.csv\"), ss.datasets.from_arrays(X, y).");
      return;
    }
    setText(this.limits, `${limits.formats}. At most ${megabytes(limits.bytes)}, ${count(limits.rows)} rows, ${count(limits.columns)} columns, ${count(limits.cells)} cells; ${limits.files} files. Nothing leaves this server's machine; files are forgotten some minutes after the last page of this browser is closed.`);
    const key = JSON.stringify([files, shown && shown.name]);
    if (key === this.filesKey) return;
    this.filesKey = key;
    this.files.replaceChildren(...files.map((file) => h("li", {}, h("button", {
      type: "button", class: "act", "aria-pressed": String(Boolean(shown) && shown.name === file.name), "data-testid": "data-show", onclick: () => this.page.link.post({ type: "show", name: file.name }),
    }, file.title + (file.usable ? "" : " (needs a label)")))));
  }

  drawShown({ shown, roles }) {
    show(this.table, Boolean(shown));
    if (!shown) return;
    setText(this.columnsTitle, shown.columns.length ? `Columns of ${shown.title}` : shown.title);
    show(this.error, Boolean(shown.error));
    setText(this.error, shown.error ? `No data set yet: ${shown.error}.` : "");
    const key = JSON.stringify([shown, roles]);
    if (key === this.shownKey) return;
    this.shownKey = key;
    this.report.replaceChildren(...shown.report.map((text) => h("li", {}, text)));
    const focused = this.columns.getRootNode().activeElement;
    const at = focused && focused.dataset ? focused.dataset.column : null;
    const head = h("tr", {}, ...["column", "role", "values", "different", "missing", "for example"].map((text) => h("th", { scope: "col" }, text)));
    const rows = shown.columns.map((column, k) => {
      const select = h("select", { "aria-label": `role of ${column.name}`, "data-column": String(k), "data-testid": "data-role", onchange: () => this.page.link.post({ type: "roles", roles: [[k, select.value]] }) },
        ...roles.map((role) => h("option", { value: role, selected: role === column.role }, role)));
      return h("tr", { class: "is-" + column.role }, h("th", { scope: "row", title: column.name }, column.name), h("td", {}, select), h("td", {}, column.kind), h("td", {}, count(column.distinct)), h("td", {}, column.missing ? count(column.missing) : "–"), h("td", { class: "data-example", title: column.example }, column.example));
    });
    this.columns.replaceChildren(...(rows.length ? [h("thead", {}, head), h("tbody", {}, ...rows)] : []));
    if (at !== null) this.columns.querySelector(`[data-column="${at}"]`)?.focus();
    setText(this.more, shown.more ? `and ${count(shown.more)} more columns, which keep the roles that suit them` : "");
  }

  drawDescribed(data) {
    if (!data) return;
    show(this.none, Boolean(data.none));
    setText(this.none, data.none);
    show(this.whole, !data.none);
    for (const link of this.links) show(link, !data.none && this.page.options.shell === "panel");
    setText(this.title, data.none ? "The data" : data.title);
    setText(this.about, data.none ? "" : [data.about, data.source && `Source: ${data.source}.`, data.licence && `Licence: ${data.licence}.`].filter(Boolean).join(" "));
    if (data.none) return;
    const facts = [
      ["samples", `${count(data.n)} for training, ${data.n_test ? count(data.n_test) : "none"} held out`],
      ["features", count(data.d)],
      [data.sets ? "labels" : "classes", count(data.m)],
      ["not zero", `${number(100 * data.density, 3)} % of the entries; stored ${data.sparse ? "sparse" : "dense"}`],
      ["scaling", data.scaling],
      ["rare", `${plural(data.rare, "feature", "features")} in fewer than ${data.few} samples; ${count(data.unused)} in none`],
      ["split", data.split],
    ];
    this.facts.replaceChildren(...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
    setText(this.classesTitle, (data.sets ? "samples of each label" : "samples of each class") + (data.more_classes ? `, ${count(data.more_classes)} more not shown` : ""));
    const top = Math.max(...data.classes.map(({ train }) => train), 1);
    this.classes.replaceChildren(...data.classes.map(({ name, train, test }) => bar(name, train / top, known(test) ? `${count(train)} + ${count(test)}` : count(train))));
    show(this.often, data.sparse);
    show(this.related, data.correlations.length > 0);
    this.pairs.replaceChildren(...data.correlations.map(({ first, second, value }) => {
      const row = bar(`${first} – ${second}`, Math.abs(value), number(value, 2));
      row.classList.toggle("is-minus", value < 0);
      return row;
    }));
    this.frequent.replaceChildren(...data.frequent.map(({ name, share }) => bar(name, share, `${number(100 * share, 2)} %`)));
  }
}

function bar(name, share, text) {
  const length = h("i", {});
  length.style.width = 100 * share + "%";
  return h("div", { class: "class-row", role: "listitem" }, h("span", { title: name }, name), h("span", { class: "bar" }, length), h("span", {}, text));
}
