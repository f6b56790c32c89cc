// The entry of a recorded run: the page's own modules, with a player in the explorer's place.

import { mount } from "./main.js";
import { beginReplay } from "./replay/begin.js";
import { Player } from "./replay/player.js";

beginReplay((room, header, bytes, theme) => {
  const player = new Player(header, bytes);
  const handle = mount({ el: room, send: (message) => player.take(message), theme, options: { shell: "recording", replay: player } });
  player.receive = (message, buffers) => handle.receive(message, buffers);
  return handle;
});
