// What the build puts behind the module: style sheet and plotly, as texts.
const EMBEDDED = { css: "", plotlySource: "", plotlyVersion: "" };

export function embed(parts) {
  Object.assign(EMBEDDED, parts);
}

export function embedded(name) {
  return EMBEDDED[name];
}
