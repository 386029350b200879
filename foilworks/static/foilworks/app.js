// What every page needs. Each module wires up a part of the page by its data attributes and may run again on new parts.
import { catchUpChoices } from "./choices.js";
import { wireDialogs } from "./dialogs.js";
import { fresh } from "./dom.js";
import { announceHotkeys, startHotkeys } from "./hotkeys.js";
import { startLive } from "./live.js";
import { wireForms } from "./submit.js";
import { wireToasts } from "./toasts.js";

/** Shows moments, which the server writes in UTC, in the time zone of this computer: <time data-moment="j M Y, H:i">. */
function wireMoments(root) {
  const language = document.documentElement.lang === "en" ? "en-GB" : document.documentElement.lang;
  for (const element of fresh(root, "time[data-moment]", "Moment")) {
    const form = element.dataset.moment;
    const day = form.includes("j") ? { day: "numeric", month: "short" } : {};
    const year = form.includes("Y") ? { year: "numeric" } : {};
    const second = form.includes("s") ? { second: "2-digit" } : {};
    const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short" };
    const moment = new Date(element.dateTime);
    element.title = element.textContent;
    element.textContent = new Intl.DateTimeFormat(language, { ...day, ...year, ...time, ...second }).format(moment);
  }
}

function wire(root) {
  wireMoments(root);
  wireDialogs(root);
  wireForms(root);
  wireToasts(root);
  announceHotkeys(root);
  // Few pages have something to copy: the others need not load it.
  if (root.querySelector("[data-fills]")) import("./fills.js").then(({ wireFills }) => wireFills(root));
  if (root.querySelector("[data-copy]")) import("./copy.js").then(({ wireCopies }) => wireCopies(root));
}

wire(document);
startHotkeys(document);
startLive(document);
// On a narrow screen bar and tabs scroll sideways: the link of this page must not be out of sight.
for (const row of document.querySelectorAll(".appbar-nav, .tabs")) {
  const here = row.querySelector("[aria-current]");
  if (here) row.scrollLeft += here.getBoundingClientRect().left - row.getBoundingClientRect().left - (row.clientWidth - here.offsetWidth) / 2;
}
// After "load" htmx is there; the browser may also have put an earlier choice back into a form.
if (document.readyState === "complete") catchUpChoices(document);
else addEventListener("load", () => catchUpChoices(document));
for (const swapped of ["htmx:load", "foilworks:load"]) document.addEventListener(swapped, (event) => wire(event.target));
