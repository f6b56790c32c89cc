// What the build puts behind the module: the style sheet as text.
const EMBEDDED = { css: "" };

export function embed(parts) {
  Object.assign(EMBEDDED, parts);
}

export function embedded(name) {
  return EMBEDDED[name];
}
