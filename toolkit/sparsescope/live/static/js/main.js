// The face of the module: mount({el, send, theme, options}) -> {receive, setTheme, undo, redo, destroy}.

import { Page } from "./page.js";
import { bindKeys } from "./keyboard.js";
import { h } from "./dom.js";

export const VERSION = "1";

let mounted = 0;

/**
 * Put an explorer into `el`. `send` takes messages for the explorer; `theme` is "light" or "dark"; `options.height`
 * (pixels) makes the page scroll inside itself, `options.compact` leaves λ, one chart and W; `options.history` = {push, back} is the browser's: a gesture is pushed,
 * and the shell calls `undo` and `redo` when somebody goes back or forward.
 */
export function mount({ el, send, theme = "light", options = {} }) {
  const host = h("div", { class: "sparsescope-host" });
  host.style.display = "block";
  if (options.height) {
    Object.assign(host.style, { height: options.height + "px", overflow: "auto" });
    host.style.setProperty("--room", options.height + "px"); // which a compact page fills
  }
  el.append(host);
  const page = new Page(host, send, theme, options);
  mounted += 1;
  // On a page of its own the explorer hears keys wherever the focus is; in a notebook only when it has the focus.
  const keys = bindKeys(options.shell === "widget" ? page.frame : document, {
    space: () => page.actions.toggle(),
    ".": () => page.link.do("step", { n: 1 }),
    ">": () => page.link.do("step", { n: 10 }),
    ":": () => page.link.do("step", { n: 10 }),
    r: () => page.link.do("reset"),
    u: () => page.goBack(),
    ",": () => page.scrub.step(-1),
    p: () => page.pin(),
    x: () => page.look({ xlog: !page.store.settings.xlog }),
    y: () => page.look({ ylog: page.store.settings.ylog === false }),
    "?": () => page.help.toggle(),
    Escape: () => {
      page.help.toggle(false);
      page.scrub.release();
    },
  });
  const debug = debugObject(page);
  window.__sparsescope = debug;
  page.link.ready(VERSION);
  return {
    receive: (header, buffers) => page.receive(header, buffers),
    setTheme: (name) => page.setTheme(name),
    undo: () => page.undo(),
    redo: () => page.redo(),
    destroy() {
      keys();
      page.destroy();
      host.remove();
      if (window.__sparsescope === debug) delete window.__sparsescope;
    },
  };
}

/** What tests and curious people can look at from the browser's console. */
function debugObject(page) {
  const { store, link } = page;
  return {
    version: VERSION,
    get mounted() { return mounted; },
    get points() { return store.total; },
    get held() { return store.n; },
    get frames() { return page.frames; },
    get received() { return page.received; },
    get marks() { return store.marks.map(({ iteration, kind, text }) => ({ iteration, kind, text })); },
    get settings() { return { ...store.settings }; },
    get status() { return { mode: store.mode, message: store.message, ...(store.status || {}) }; },
    get lam() { return store.lam; },
    get lastFrameAge() { return performance.now() - page.lastFrame; },
    get paintMs() { return page.paintMs; },
    get latency() { return link.latencies.length ? link.latencies[link.latencies.length - 1] : null; },
    get latencies() { return link.latencies.slice(); },
    page,
  };
}
