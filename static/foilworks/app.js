// What every page needs. Each module wires up a part of the page by its data attributes and may run again on new parts.
import { wireDialogs } from "./dialogs.js";
import { announceHotkeys, startHotkeys } from "./hotkeys.js";
import { wireForms } from "./submit.js";
import { wireToasts } from "./toasts.js";

function wire(root) {
  wireDialogs(root);
  wireForms(root);
  wireToasts(root);
  announceHotkeys(root);
}

wire(document);
startHotkeys(document);
document.addEventListener("htmx:load", (event) => wire(event.target));
