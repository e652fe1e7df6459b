// Pages opened from a list in a safe frame over it: on the finished page and in the history.
import { listen } from "../frames/frames.js";
import { onKey } from "../keys/keys.js";
import "../frames/readable.js";
import { wireReader } from "../reading/reader.js";
import "../reading/text_view.js";

listen({ key: onKey });
wireReader(document.getElementById("main"));
