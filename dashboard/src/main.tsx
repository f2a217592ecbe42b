// Where the dashboard begins.
import "./styles/tokens.css";
import "./styles/ground.css";
import "./styles/shell.css";
import "./styles/parts.css";
import { render } from "preact";
import { App } from "./app";
import { listen } from "./live/event-stream";
import { listenForKeys } from "./shortcuts";

listen();
listenForKeys();
const root = document.getElementById("app");
if (root) render(<App />, root);
