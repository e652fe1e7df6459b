// Pages opened from a list in a safe frame over it, or shown in frames of the page itself.
import { adopt, listen } from "../frames/frames.js";
import { onKey, wireKeys } from "../keys/keys.js";
import "../frames/readable.js";
import { wireReader } from "../reading/reader.js";
import "../reading/text_view.js";

listen({ key: onKey });
const frames = document.querySelectorAll("main .frame");
frames.forEach(adopt);
if (frames.length) wireKeys();
wireReader(document.getElementById("main"));
