// [data-hints]: the editors of a caption whose foils a model may be asked about, one press at a time.
//   data-hints = address; each [data-foil] holds [data-hint-ask] (a button) and [data-hint-answer] (a status line)
import { fresh, post } from "../foilworks/dom.js";

const EVERY_MS = 1000;
const PATIENCE = 60;

export function wireHints(root) {
  for (const form of fresh(root, "[data-hints]", "Hints")) {
    for (const part of form.querySelectorAll("[data-foil]")) wire(part, form.dataset.hints);
  }
}

function wire(part, address) {
  const [box, button, line] = ["textarea", "[data-hint-ask]", "[data-hint-answer]"].map((name) => part.querySelector(name));
  button.addEventListener("click", () => ask(box, button, line, address));
  // What was said of another text is no longer said of this one.
  box.addEventListener("input", () => (line.textContent = ""));
}

async function ask(box, button, line, address) {
  const text = box.value;
  button.disabled = true;
  try {
    for (let turn = 0; turn < PATIENCE && box.isConnected && box.value === text; turn += 1) {
      const answer = await (await post(address, { text })).json();
      show(line, answer);
      if (answer.state !== "waiting") return;
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    line.textContent = line.dataset.unanswered;
  } finally {
    button.disabled = false;
  }
}

function show(line, answer) {
  const numbers = answer.text ? ` (${answer.text} / ${answer.caption})` : "";
  line.textContent = (answer.problem ?? answer.words) + numbers;
  line.dataset.state = answer.state ?? "failed";
}
