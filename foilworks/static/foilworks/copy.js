// [data-copy="text"]: a button that copies the text. [data-copied="words"] beside it is a status that says so for a moment.
// [data-copy-fragment]: the text is the address of this page, and its fragment belongs to it.
import { fresh } from "./dom.js";

const SAY_MS = 3000;

export function wireCopies(root) {
  for (const button of fresh(root, "[data-copy]", "Copy")) button.addEventListener("click", () => copy(button));
}

async function copy(button) {
  const status = button.parentElement.querySelector("[data-copied]");
  const copied = (await byClipboard(textOf(button))) || bySelection(button);
  status.textContent = copied ? status.dataset.copied : status.dataset.failed;
  clearTimeout(status.timer);
  status.timer = setTimeout(() => (status.textContent = ""), SAY_MS);
}

function textOf(button) {
  return button.dataset.copy + (button.hasAttribute("data-copy-fragment") ? location.hash : "");
}

/** The clipboard exists on secure origins only, and a person may have refused it. */
async function byClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** The old way, which a laboratory's plain-http address still has: a text that is selected for a moment. */
function bySelection(button) {
  const box = Object.assign(document.createElement("textarea"), { value: textOf(button), readOnly: true });
  box.className = "visually-hidden";
  button.after(box);
  box.select();
  const copied = document.execCommand("copy");
  box.remove();
  button.focus();
  return copied;
}
