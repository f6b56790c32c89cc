// The notebook shell of the explorer, appended to the page's module (which brings `mount`): carries messages between the
// view in the notebook and the kernel, and nothing else.

function notebookTheme() {
  const body = document.body
  if (body.dataset.jpThemeLight !== undefined) {
    return body.dataset.jpThemeLight === "false" ? "dark" : "light"
  }
  if (body.classList.contains("vscode-dark") || body.classList.contains("vscode-high-contrast")) {
    return "dark"
  }
  return "light"
}

function renderInNotebook({model, el}) {
  const root = document.createElement("div")
  el.append(root)
  const handle = mount({
    el: root,
    send: (message) => model.send(message),
    theme: notebookTheme(),
    options: {shell: "widget"},
  })
  const receive = (header, buffers) => {
    handle.receive(header, buffers.map((view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength)))
  }
  model.on("msg:custom", receive)

  const watcher = new MutationObserver(() => handle.setTheme(notebookTheme()))
  watcher.observe(document.body, {attributes: true, attributeFilter: ["data-jp-theme-light", "class"]})
  model.send({type: "view", open: true})

  return () => {
    watcher.disconnect()
    model.off("msg:custom", receive)
    model.send({type: "view", open: false})
    handle.destroy()
  }
}

export default {render: renderInNotebook}
