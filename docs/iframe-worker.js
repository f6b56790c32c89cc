// Search in pages that are opened from a disk: browsers start no workers there, so the worker's script runs in a hidden
// frame. The theme loads this name in place of one from a network.

if (location.protocol === "file:") {
  window.Worker = class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      this.ready = new Promise((done) => {
        const script = inside.document.createElement("script");
        inside.importScripts = (...urls) => urls.reduce((before, next) => before.then(() => load(inside.document, next)), Promise.resolve());
        inside.postMessage = (data) => {
          const event = new MessageEvent("message", { data });
          this.dispatchEvent(event);
          if (this.onmessage) this.onmessage(event);
        };
        script.onload = () => done(inside);
        script.src = url;
        inside.document.head.append(script);
      });
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {}
  };
}

/** Run a script in a document; resolves when it has run. */
function load(document, url) {
  return new Promise((done) => {
    const script = document.createElement("script");
    script.onload = done;
    script.src = url;
    document.head.append(script);
  });
}
