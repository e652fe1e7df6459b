// Pages opened from a list in a safe frame over it: on the finished page and in the history.
import { listen } from "./frames.js";
import { onKey } from "./keys.js";
import "./readable.js";
import { wireReader } from "./reader.js";
import "./text_view.js";

listen({ key: onKey });
wireReader(document.getElementById("main"));
