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
  if (body.dataset.theme === "dark") {
    return "dark" // marimo
  }
  return "light"
}

// The kernel is asked whether it lives. An answer that stays away is said at once as what it is, this many seconds without
// one; the pictures are veiled when it stays away for long, or when the notebook itself says that the kernel is gone.
const ASK_MS = 500
const SAID_MS = 1400 // with the half second until the next question: within two seconds
const VEIL_MS = 6000

function watchKernel(model, root, iteration) {
  const box = document.createElement("p")
  box.setAttribute("role", "alert")
  box.dataset.testid = "kernel-silent"
  box.hidden = true
  box.style.cssText = "margin: 8px; padding: 8px 16px; border: 1px solid #d55e00; border-radius: 8px; font: 14px/1.5 system-ui, sans-serif"
  root.before(box)
  let asked = null // when, if there was no answer yet
  let gone = false
  let ticked = Date.now()
  function say() {
    const waited = asked === null ? 0 : Date.now() - asked
    const silent = gone || waited > SAID_MS
    const veiled = gone || waited > VEIL_MS
    const at = iteration()
    const shown = at === null ? "" : ` What you see is iteration ${at}.`
    const why = gone
      ? "The kernel was restarted or has ended: run the cell again."
      : `The kernel has not answered for ${Math.round(waited / 1000)} s: it is busy with a cell, or was restarted (then run the cell again).`
    const text = silent ? why + shown : ""
    box.hidden = !silent
    root.style.opacity = veiled ? "0.4" : ""
    if (box.textContent !== text) {
      box.textContent = text
    }
  }
  function ask() {
    const now = Date.now()
    if (now - ticked > 4 * ASK_MS) {
      asked = null // this page slept: the answer may lie there unread
    }
    ticked = now
    try {
      if (asked === null) {
        model.send({type: "ping"})
        asked = now
      }
    } catch {
      gone = true // there is no way to the kernel any more
    }
    say()
  }
  const lost = () => {
    gone = true
    say()
  }
  model.on("comm_live_update", lost) // after the first view this comes when the kernel has been restarted or shut down
  const timer = setInterval(ask, ASK_MS)
  return {
    heard() {
      asked = null
      if (gone || !box.hidden) {
        gone = false
        say()
      }
    },
    end() {
      clearInterval(timer)
      model.off("comm_live_update", lost)
    },
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
  watcher.observe(document.body, {attributes: true, attributeFilter: ["data-jp-theme-light", "data-theme", "class"]})
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
