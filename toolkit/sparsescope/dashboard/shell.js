// The Panel shell of the explorer: carries messages between the page's module and the server, and nothing else.
//
// The module is imported by a native module script. Panel's own loader (es-module-shims in shim mode) would fetch the text,
// parse it and import it again from a blob, which costs time for a megabyte and defeats the browser's cache of compiled code.

const KEY = Symbol.for("sparsescope.modules")

function importNatively(address) {
  const loading = (globalThis[KEY] ??= new Map())
  if (!loading.has(address)) {
    loading.set(address, new Promise((resolve, reject) => {
      const name = "sparsescope:" + address
      addEventListener(name, (event) => resolve(event.detail), {once: true})
      const script = document.createElement("script")
      script.type = "module"
      script.textContent =
        `import * as module from ${JSON.stringify(address)}\n` +
        `dispatchEvent(new CustomEvent(${JSON.stringify(name)}, {detail: module}))`
      script.onerror = () => {
        loading.delete(address)
        reject(new Error(`the page's module could not be loaded from ${address}`))
      }
      document.head.append(script)
    }))
  }
  return loading.get(address)
}

// The address bar follows the settings without a reload and without filling the history. Browsers limit how often it may be
// changed, and a slider moves often: only the last of a burst is written.
function addressBar() {
  let timer = 0
  return (query) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      const url = new URL(location.href)
      url.search = query
      history.replaceState(history.state, "", url)
    }, 150)
  }
}

function showFailure(el, error) {
  const box = document.createElement("div")
  box.setAttribute("role", "alert")
  box.dataset.testid = "shell-error"
  box.style.cssText = "margin: 24px; padding: 16px; border: 1px solid #d55e00; border-radius: 8px; font: 14px system-ui, sans-serif"
  box.textContent = `The explorer could not start: ${error.message}`
  el.replaceChildren(box)
}

export function render({model, el}) {
  const root = document.createElement("div")
  root.style.cssText = "width: 100%; min-height: 100%"
  let handle = null
  let gone = false
  const early = []
  const setQuery = addressBar()

  function receive({header, block}) {
    if (header.type === "address") {
      setQuery(header.query)
    } else if (handle === null) {
      early.push([header, block])
    } else {
      handle.receive(header, block ? [new Uint8Array(block)] : [])
    }
  }

  model.on("msg:custom", receive)
  model.on("dark", () => handle?.setTheme(model.dark ? "dark" : "light"))
  model.on("remove", () => {
    gone = true
    handle?.destroy()
    handle = null
  })

  importNatively(new URL(model.module_address, document.baseURI).href).then((module) => {
    if (gone) {
      return
    }
    handle = module.mount({
      el: root,
      send: (message) => model.send_msg(message),
      theme: model.dark ? "dark" : "light",
      options: {shell: "panel"},
    })
    for (const [header, block] of early.splice(0)) {
      receive({header, block})
    }
  }).catch((error) => {
    console.error(error)
    showFailure(root, error)
  })
  return root
}
