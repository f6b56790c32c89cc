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

// One entry of the browser's history for each gesture: Back and Forward take changes back and make them again. A page
// that was loaded in between no longer knows what was changed, and begins again from the address of the entry.
function pastOf(handle) {
  let place = history.state?.sparsescope ?? 0
  const onPop = (event) => {
    const steps = (event.state?.sparsescope ?? 0) - place
    place += steps
    for (let k = 0; k < Math.abs(steps); k++) {
      if (!(steps < 0 ? handle()?.undo() : handle()?.redo())) {
        location.reload()
        return
      }
    }
  }
  addEventListener("popstate", onPop)
  return {
    push() {
      place += 1
      history.pushState({...history.state, sparsescope: place}, "", location.href)
    },
    back: () => history.back(),
    end: () => removeEventListener("popstate", onPop),
  }
}

// What a page has to show after a reload to go on with its run. It lives as long as the tab.
const REJOIN = "sparsescope.rejoin"

// The server sees this cookie before the page can show its secret: with it a full server lets a page in that is loaded again.
const PLACES = "sparsescope-places", MOST_PLACES = 16

function rememberPlace(place) {
  const kept = document.cookie.split("; ").find((text) => text.startsWith(PLACES + "="))?.slice(PLACES.length + 1) ?? ""
  const places = [...kept.split(".").filter((name) => name && name !== place), place].slice(-MOST_PLACES)
  document.cookie = `${PLACES}=${places.join(".")}; path=/; SameSite=Lax; max-age=86400`
}

// A veil over pictures that no longer move: what they show was true at that iteration, and the run may be elsewhere by now.
// The page asks once a second whether the server is there, and loads itself again when it is: with the run if that is still
// waiting, else from the settings in the address. It asks for the static file at `address`: pages answer no HEAD.
function veil(el, iteration, address) {
  const box = document.createElement("div")
  box.setAttribute("role", "alert")
  box.dataset.testid = "connection-lost"
  box.style.cssText = "position: fixed; inset: 0; z-index: 2000; display: flex; justify-content: center; align-items: flex-start;" +
    " background: color-mix(in srgb, Canvas 55%, transparent)"
  const card = document.createElement("p")
  card.style.cssText = "margin: 96px 24px 0; padding: 12px 20px; max-width: 36em; border-radius: 8px; border: 1px solid #d55e00;" +
    " background: Canvas; color: CanvasText; font: 15px/1.5 system-ui, sans-serif"
  const at = iteration === null ? "" : ` The pictures are those of iteration ${iteration}.`
  card.textContent = `The connection to the explorer is lost.${at} This page goes on by itself when the server answers again.`
  box.append(card)
  el.append(box)
  const timer = setInterval(async () => {
    try {
      const answer = await fetch(address, {method: "HEAD", cache: "no-store"})
      if (answer.status < 500) {
        clearInterval(timer)
        location.reload()
      }
    } catch {
      // Still away: asked again in a second.
    }
  }, 1000)
}

// A websocket for the page's messages alone, beside Bokeh's (wire.py says how both sides change over). Until it is open,
// and where there is none, messages go over Bokeh's channel.
const TURN_MS = 10000 // for the first word on the new websocket

function lineOf(model, take, restart) {
  const OPEN = 1
  let wire = null, state = "bokeh", held = []
  function close() {
    const old = wire
    wire = null
    state = "bokeh"
    held = []
    old?.close()
  }
  // To Bokeh's channel again, where the page begins anew: what was on its way is lost, but not what waited here.
  function back(mine) {
    if (mine === wire) {
      const lost = state !== "bokeh", waited = held
      close()
      if (lost) {
        restart()
        waited.filter((message) => message.type !== "credit").forEach((message) => model.send_msg(message))
      }
    }
  }
  return {
    begin(address, secret) {
      close()
      const mine = wire = new WebSocket(address)
      mine.binaryType = "arraybuffer"
      mine.onopen = () => mine.send(JSON.stringify({wire: secret}))
      mine.onmessage = ({data}) => {
        if (mine !== wire) {
          return
        }
        if (typeof data !== "string") {
          const length = new DataView(data).getUint32(0, true)
          take(new TextDecoder().decode(new Uint8Array(data, 4, length)), new Uint8Array(data, 4 + length))
        } else if (state === "wire") {
          take(data, null)
        } else {
          state = "wire"
          held.splice(0).forEach((message) => mine.send(JSON.stringify(message)))
        }
      }
      mine.onclose = () => back(mine)
    },
    // The server has said its last word on Bokeh's channel.
    turn() {
      if (wire?.readyState === OPEN) {
        model.send_msg({type: "wired"})
        state = "turning"
        const mine = wire
        setTimeout(() => state === "turning" && back(mine), TURN_MS)
      }
    },
    send(message) {
      if (state === "wire" && wire.readyState !== OPEN) {
        back(wire) // it is closing: the browser would refuse the message, and the server would never have it
        if (message.type !== "credit") {
          model.send_msg(message)
        }
      } else if (state === "wire") {
        wire.send(JSON.stringify(message))
      } else if (state === "turning") {
        held.push(message)
      } else {
        model.send_msg(message)
      }
    },
    close,
    state: () => state,
  }
}

// A file goes to the server by a plain request, which brings the secret of this page; `progress` hears the share that is sent.
function sendFile(address, token, file, progress) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest()
    request.open("POST", address)
    request.setRequestHeader("Content-Type", "application/octet-stream")
    request.setRequestHeader("X-Sparsescope-Page", token)
    request.setRequestHeader("X-Sparsescope-Name", encodeURIComponent(file.name))
    request.upload.onprogress = (event) => progress(event.loaded / Math.max(event.total, 1))
    request.onload = () => {
      try {
        resolve(JSON.parse(request.responseText))
      } catch {
        resolve({error: `The server did not take the file (status ${request.status}).`})
      }
    }
    request.onerror = () => resolve({error: "The connection was lost while the file was sent; it may be larger than the server takes."})
    request.send(file)
  })
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
  let gone = false, lost = false
  const early = []
  const setQuery = addressBar()
  let iteration = null
  let token = ""
  const past = pastOf(() => handle)

  const moduleAddress = new URL(model.module_address, document.baseURI)
  let ready = null
  const line = lineOf(model, (header, block) => receive({header, block}), () => {
    if (!gone && !lost && ready) {
      model.send_msg(ready)
    }
  })

  function receive({header: text, block}) {
    const header = JSON.parse(text)
    if (header.type === "frame" && header.status) {
      iteration = header.status.iteration
    }
    if (header.type === "address") {
      setQuery(header.query)
    } else if (header.type === "rejoin") {
      sessionStorage.setItem(REJOIN, header.token)
      token = header.token
      rememberPlace(header.place)
      if (header.wire) {
        const address = new URL("../../../wire", moduleAddress) // the module lies in static/extensions/sparsescope/
        address.protocol = address.protocol.replace("http", "ws")
        line.begin(address, header.token)
      }
    } else if (header.type === "wire") {
      line.turn()
    } else if (handle === null) {
      early.push([text, block])
    } else {
      handle.receive(header, block ? [block instanceof Uint8Array ? block : new Uint8Array(block)] : [])
    }
  }

  model.on("msg:custom", receive)
  model.on("dark", () => handle?.setTheme(model.dark ? "dark" : "light"))
  model.on("remove", () => {
    gone = true
    line.close()
    past.end()
    handle?.destroy()
    handle = null
  })

  globalThis.Bokeh?.documents?.[0]?.on_event("connection_lost", () => {
    if (!lost && !gone) {
      lost = true
      veil(root, iteration, new URL("../../js/bokeh.min.js", moduleAddress))
    }
  })

  importNatively(moduleAddress.href).then((module) => {
    if (gone) {
      return
    }
    handle = module.mount({
      el: root,
      send: (message) => {
        if (message.type === "ready") {
          line.close()
          ready = {...message, rejoin: sessionStorage.getItem(REJOIN)}
          model.send_msg(ready)
        } else {
          line.send(message)
        }
      },
      theme: model.dark ? "dark" : "light",
      options: {shell: "panel", home: model.home, history: past, upload: (file, progress) => sendFile(new URL("../../../upload", moduleAddress), token, file, progress)},
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
