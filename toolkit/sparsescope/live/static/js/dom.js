// Small helpers for making and changing elements.

/** An element: h("button", {class: "x", onclick: f, "data-testid": "y"}, "text", child, ...). */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Formulas as they are written in Python (x_ij, λ_max, 10^-3, Σ_{r≠y}) with real sub- and superscripts. */
export function formula(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(/([_^])(\{[^}]*\}|[A-Za-z0-9∞]+)/g)) {
    nodes.push(text.slice(at, found.index), h(found[1] === "_" ? "sub" : "sup", {}, found[2].replace(/[{}]/g, "")));
    at = found.index + found[0].length;
  }
  nodes.push(text.slice(at));
  return nodes.filter((node) => node !== "");
}

const SYMBOL = /(?<![\p{L}\d_])(λ|[KkGWvxusSΣ]|prox|max)_(\{[^}]*\}|max|ref|[ij][jc\d]|[A-Za-z0-9∞])(?![\p{L}\d_])/gu;

/** A sentence with real subscripts (λ_max, K_j) and real minus signs; names such as breast_cancer stay. `low` makes a subscript. */
export function symbols(text, low = (words) => h("sub", {}, words)) {
  const nodes = [];
  let at = 0;
  const said = minus(text);
  for (const found of said.matchAll(SYMBOL)) {
    nodes.push(said.slice(at, found.index) + found[1], low(found[2].replace(/[{}]/g, "")));
    at = found.index + found[0].length;
  }
  nodes.push(said.slice(at));
  return nodes.filter((node) => node !== "");
}

/** The same where there is only plain text: a tooltip, an option of a menu, a label for screen readers. */
export function plainSymbols(text) {
  return minus(text).replace(SYMBOL, (_, letter, words) => letter + words.replace(/[{}]/g, ""));
}

/** Numbers below zero and powers of ten with a minus sign instead of a hyphen; 1e-05 is 1e−5. */
function minus(text) {
  return String(text).replace(/(^|[\s(\[,;:=])-(?=\d)/g, "$1−").replace(/(\de)-0?(?=\d)/g, "$1−").replace(/(\de)\+0?(?=\d)/g, "$1");
}

/** Set the text of an element only if it differs, with its symbols. */
export function setSymbols(element, text) {
  if (element.dataset.said === text) return;
  element.dataset.said = text;
  element.replaceChildren(...symbols(text));
}

/** Set the text of an element only if it differs: untouched nodes cost the browser nothing, a changed text less than a new one. */
export function setText(element, text) {
  const node = element.firstChild;
  if (node && node === element.lastChild && node.nodeType === 3 && text !== "") {
    if (node.data !== text) node.data = text;
  } else if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  const text = value === null || value === undefined ? null : String(value);
  if (text === element.getAttribute(name)) return;
  if (text === null) element.removeAttribute(name);
  else element.setAttribute(name, text);
}

export function show(element, visible) {
  if (element.hidden === visible) element.hidden = !visible;
}

/** Disable an element, or enable it, only if it is not so already: the browser styles it anew each time it is told. */
export function disable(element, disabled) {
  if (element.disabled !== disabled) element.disabled = disabled;
}

/** A canvas as sharp as the screen; returns its context, scaled to CSS pixels, and says whether the size changed. */
export function fitCanvas(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(1, Math.round(width * ratio));
  const g = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== w || canvas.height !== g) {
    canvas.width = w;
    canvas.height = g;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** Hold a button, or let it go. It keeps the focus, which a disabled one would lose; whoever listens to it asks `isHeld`. */
export function holdButton(button, held) {
  setAttribute(button, "aria-disabled", held ? "true" : null);
}

export function isHeld(button) {
  return button.getAttribute("aria-disabled") === "true";
}

/** The element inside of this one that has the focus, or null. */
export function focusedIn(element) {
  const active = element.getRootNode().activeElement;
  return active && element.contains(active) ? active : null;
}

/** Follow the pointer that went down on an element, from where it is now until it is lifted. */
export function drag(element, event, follow, end = () => {}) {
  event.preventDefault();
  element.focus({ preventScroll: true });
  element.setPointerCapture(event.pointerId);
  const over = new AbortController();
  const { signal } = over;
  const stop = () => {
    over.abort();
    end();
  };
  element.addEventListener("pointermove", follow, { signal });
  for (const type of ["pointerup", "pointercancel"]) element.addEventListener(type, stop, { signal });
  follow(event);
}
