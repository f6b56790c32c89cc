// The websocket of a page of the class: says hello, comes back by itself, and hands states to one listener.

const BASE = new URL("../../../", import.meta.url); // the module lies in static/extensions/sparsescope/
const FIRST_WAIT = 500, LONGEST_WAIT = 8000; // ms before it comes back
const REJOIN = "sparsescope.rejoin"; // the secret of the explorer in this tab, kept by its shell
const LOOK = 700; // ms between two looks whether this tab has another explorer

export const addressOf = (path) => new URL(path.replace(/^\//, ""), BASE).href;

/** The address of this page as the server knows it: from the root of the server, with the settings. */
export const placeOf = () => "/" + location.href.slice(BASE.href.length).replace(/#.*$/, "");

/** Put a whole page of the class into the document, once its module has its style sheet. */
export const begin = (mount) => queueMicrotask(() => {
  document.body.style.margin = "0";
  const el = document.createElement("div");
  document.body.append(el);
  mount({ el });
});

export class ClassLink {
  /** `page`: name of the page that this is on. `take(message)` gets everything the server says. */
  constructor(page, take) {
    this.page = page;
    this.take = take;
    this.teacher = false;
    this.wait = FIRST_WAIT;
    this.rejoin = null;
    this.connect();
    setInterval(() => this.lookForExplorer(), LOOK);
  }

  async connect() {
    try {
      const who = await fetch(addressOf("class/me"), { cache: "no-store" });
      if (!who.ok) throw new Error("the class is not there");
      this.teacher = (await who.json()).teacher;
      const address = new URL(addressOf("class/ws"));
      address.protocol = address.protocol.replace("http", "ws");
      this.socket = new WebSocket(address);
    } catch {
      this.later(); // the server is away: said on the page, tried again in a moment
      return;
    }
    this.socket.addEventListener("open", () => {
      this.wait = FIRST_WAIT;
      this.rejoin = null;
      this.lookForExplorer(true);
      this.take({ type: "online" });
    });
    this.socket.addEventListener("message", (event) => this.take(JSON.parse(event.data)));
    this.socket.addEventListener("close", () => this.later());
  }

  later() {
    this.take({ type: "offline" });
    setTimeout(() => this.connect(), this.wait * (0.75 + Math.random() / 2)); // not all thirty at once
    this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
  }

  lookForExplorer(always = false) {
    const rejoin = this.page === "class" ? null : sessionStorage.getItem(REJOIN);
    if ((always || rejoin !== this.rejoin) && this.say({ type: "hello", page: this.page, rejoin })) this.rejoin = rejoin;
  }

  /** Send a message; whether it could be sent. The server first hears which explorer this tab has by now. */
  say(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    if (message.type !== "hello") this.lookForExplorer();
    this.socket.send(JSON.stringify(message));
    return true;
  }
}
