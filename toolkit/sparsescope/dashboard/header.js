// The right part of the page's top bar: the pages there are, which data is shown, and a button that copies the address.
// It also keeps the choice of light or dark in a cookie of this page's address, for a year.

const STYLE = `
  :host, .bar { width: 100%; }
  .bar { display: flex; align-items: center; gap: 16px; font-family: inherit; font-size: 14px; color: #fff; min-width: 0; padding-left: 24px; box-sizing: border-box; }
  nav { display: flex; gap: 16px; min-width: 0; overflow-x: auto; scrollbar-width: none; }
  nav a { color: inherit; text-decoration: none; opacity: .75; padding: 4px 0; }
  nav a[aria-current] { opacity: 1; border-bottom: 2px solid currentColor; }
  .summary { margin-left: auto; opacity: .85; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; font-variant-numeric: tabular-nums; }
  button { flex: none; font: inherit; color: inherit; background: transparent; border: 1px solid rgba(255, 255, 255, .45); border-radius: 6px;
           padding: 4px 12px; min-width: 96px; cursor: pointer; white-space: nowrap; }
  button:hover { background: rgba(255, 255, 255, .12); }
  button:focus-visible, nav a:focus-visible { outline: 2px solid #f0e442; outline-offset: 2px; }
  @media (max-width: 760px) { .wide { display: none; } nav { gap: 10px; flex: 1 1 0; } .bar { gap: 8px; padding-left: 12px; } .summary { display: none; } button { margin-left: auto; min-width: 0; } }
`

async function copyAddress() {
  if (navigator.clipboard && window.isSecureContext) {
    await navigator.clipboard.writeText(location.href)
    return
  }
  // Plain http on another machine has no clipboard interface: select a text and use the old command.
  const field = document.createElement("textarea")
  field.value = location.href
  document.body.append(field)
  field.select()
  const done = document.execCommand("copy")
  field.remove()
  if (!done) {
    throw new Error("the browser does not allow copying")
  }
}

function keepTheme(model) {
  // of the first page, at the root: a page may be at a place below it
  const path = new URL(model.pages[0].address, location.href).pathname.replace(/[^/]*$/, "")
  document.cookie = `${model.cookie}=${model.dark ? "dark" : "light"}; path=${path}; max-age=31536000; SameSite=Lax`
}

// The corner of the class is beside the page, not in it: it stays when the page is drawn anew.
function joinClass(model) {
  const key = Symbol.for("sparsescope.page")
  if (globalThis[key] === undefined) {
    globalThis[key] = model.page
    const script = document.createElement("script")
    script.type = "module"
    script.src = new URL(model.class_module, document.baseURI).href
    document.head.append(script)
  }
}

export function render({model}) {
  // Until somebody chooses, the page follows the system; only a choice is kept.
  let wished = null
  model.on("dark", () => {
    if (model.dark === wished) {
      return
    }
    wished = null
    keepTheme(model)
  })
  const chosen = document.cookie.split("; ").some((part) => part.startsWith(model.cookie + "="))
  if (!chosen && !model.dark && matchMedia("(prefers-color-scheme: dark)").matches) {
    wished = true
    model.dark = true
  }
  const bar = document.createElement("div")
  bar.className = "bar"
  const style = document.createElement("style")
  style.textContent = STYLE

  const nav = document.createElement("nav")
  nav.setAttribute("aria-label", "pages")
  for (const page of model.pages) {
    const link = document.createElement("a")
    link.textContent = page.title
    link.title = page.about
    link.href = page.address
    // What both pages know goes along: the address holds it, and changes while one looks.
    const carry = () => {
      const query = new URLSearchParams([...new URLSearchParams(location.search)].filter(([key]) => page.takes.includes(key)))
      link.href = page.address + (query.size ? "?" + query : "")
    }
    for (const type of ["pointerenter", "pointerdown", "focus"]) {
      link.addEventListener(type, carry)
    }
    if (page.current) {
      link.setAttribute("aria-current", "page")
    }
    nav.append(link)
  }

  const summary = document.createElement("span")
  summary.className = "summary"
  summary.dataset.testid = "dataset-summary"
  const showSummary = () => { summary.textContent = model.summary; summary.title = model.summary }
  model.on("summary", showSummary)
  showSummary()

  const button = document.createElement("button")
  button.type = "button"
  button.dataset.testid = "copy-link"
  button.title = "Copy the address of this page: it holds all settings, not the data"
  button.setAttribute("aria-live", "polite")
  const label = () => {
    const wide = document.createElement("span")
    wide.className = "wide"
    wide.textContent = " link"
    button.replaceChildren("Copy", wide)
  }
  label()
  let timer = 0
  button.addEventListener("click", () => {
    copyAddress().then(
      () => { button.textContent = "Copied" },
      () => { button.textContent = "Copy it above" },
    ).finally(() => {
      clearTimeout(timer)
      timer = setTimeout(label, 2000)
    })
  })

  if (model.class_module) {
    joinClass(model)
  }
  bar.append(style, nav, summary, button)
  // Where the list of pages is longer than the bar, it begins with the page that is shown.
  requestAnimationFrame(() => {
    const here = nav.querySelector("[aria-current]")
    if (here) {
      nav.scrollLeft = here.offsetLeft - nav.offsetLeft - (nav.clientWidth - here.offsetWidth) / 2
    }
  })
  return bar
}
