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

// The kernel is asked whether it lives; a silent one is busy with a cell, or was restarted and knows nothing of the page.
const PING_MS = 2000
const SILENT_MS = 6000

function watchKernel(model, root, iteration) {
  const box = document.createElement("p")
  box.setAttribute("role", "alert")
  box.dataset.testid = "kernel-silent"
  box.hidden = true
  box.style.cssText = "margin: 8px; padding: 8px 16px; border: 1px solid #d55e00; border-radius: 8px; font: 14px/1.5 system-ui, sans-serif"
  root.before(box)
  let heard = Date.now()
  const timer = setInterval(() => {
    try {
      model.send({type: "ping"})
    } catch {
      heard = Math.min(heard, Date.now() - SILENT_MS) // no way to the kernel any more: as good as silent
    }
    const silent = Date.now() - heard > SILENT_MS
    if (silent === !box.hidden) {
      return
    }
    box.hidden = !silent
    root.style.opacity = silent ? "0.4" : ""
    const at = iteration()
    const shown = at === null ? "" : ` What you see is iteration ${at}.`
    box.textContent = silent ? `The kernel does not answer: it is busy with a cell, or was restarted (then run the cell again).${shown}` : ""
  }, PING_MS)
  return {
    heard() {
      heard = Date.now()
    },
    end: () => clearInterval(timer),
  }
}

function renderInNotebook({model, el}) {
  const root = document.createElement("div")
  el.append(root)
  let iteration = null
  const kernel = watchKernel(model, root, () => iteration)
  const handle = mount({
    el: root,
    send: (message) => model.send(message),
    theme: notebookTheme(),
    options: {shell: "widget", height: model.get("height") || 0, compact: model.get("height") > 0},
  })
  const receive = (header, buffers) => {
    kernel.heard()
    if (header.type === "pong") {
      return
    }
    if (header.type === "frame" && header.status) {
      iteration = header.status.iteration
    }
    handle.receive(header, buffers.map((view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength)))
  }
  model.on("msg:custom", receive)

  const watcher = new MutationObserver(() => handle.setTheme(notebookTheme()))
  watcher.observe(document.body, {attributes: true, attributeFilter: ["data-jp-theme-light", "class"]})
  model.send({type: "view", open: true})

  return () => {
    watcher.disconnect()
    kernel.end()
    model.off("msg:custom", receive)
    model.send({type: "view", open: false})
    handle.destroy()
  }
}

export default {render: renderInNotebook}
