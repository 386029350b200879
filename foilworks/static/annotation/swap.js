// form[data-swap]: the answer is sent by this script and the next card put in the place of this one: one request a piece, no
// page to load, and the clip is there already: the page names the one that probably comes next ([data-next-clip]).
// Without scripts the form is sent as any other. What cannot be sent goes to the outbox.
// main[data-new]: the card has just come. A key pressed twice, or a double click, must not decide what nobody has seen.
// While an answer is under way (its form is [data-sent]) the card is done with: its skip would give a piece away that is
// answered, and its undo belongs to the answer before. Who takes back then means this answer: its own undo comes with the next card.
import { fresh, isSignedOut, reached, unreached } from "../foilworks/dom.js";

export const LOADED = "foilworks:load";
// As long as the second press of a double click may take.
const UNSEEN_MS = 500;
let ahead = null;
let unseen = null;
let takenBack = false;
let cardAt = here();

export function wireSwap(root) {
  for (const form of fresh(root, "form[data-swap]", "Swap")) {
    form.addEventListener("submit", (event) => {
      if (event.defaultPrevented) return;
      event.preventDefault();
      send(form, event.submitter);
    });
  }
  for (const next of fresh(root, "[data-next-clip]", "NextClip")) loadAhead(root, next.dataset.nextClip);
}

/** The browser keeps what it has loaded of a clip: once the one on show has all that it needs, the next one is fetched. */
function loadAhead(root, source) {
  const shown = root.querySelector("[data-player] video");
  const load = () => {
    ahead = Object.assign(document.createElement("video"), { preload: "auto", muted: true, src: source });
  };
  if (!shown || shown.readyState >= HTMLMediaElement.HAVE_ENOUGH_DATA) load();
  else shown.addEventListener("canplaythrough", load, { once: true });
}

async function send(form, submitter) {
  const body = new URLSearchParams(new FormData(form, submitter));
  const headers = { "X-Foilworks-Swap": "1" };
  let answer;
  try {
    answer = await fetch(location.pathname, { method: "POST", body, headers, credentials: "same-origin", redirect: "manual" });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    unreached();
    keep(form, submitter);
    return;
  }
  reached();
  const goes = answer.headers.get("X-Foilworks-Go");
  if (goes) location.assign(goes);
  // Signed out meanwhile, or the server is in trouble: the outbox keeps the answer and says so.
  else if (answer.type === "opaqueredirect" || isSignedOut(answer) || answer.status >= 500) keep(form, submitter);
  else show(await answer.text(), answer.headers.get("X-Foilworks-Url"));
}

function keep(form, submitter) {
  form.dispatchEvent(new CustomEvent("foilworks:keep", { detail: { submitter } }));
}

function show(page, address) {
  const found = new DOMParser().parseFromString(page, "text/html");
  const content = found.querySelector("main");
  const main = document.querySelector("main");
  if (!content) {
    location.reload();
    return;
  }
  const [was, is] = [main, content].map((part) => part.querySelector("[data-done-today]"));
  // The card that came counts on from this one: only what was stored came with an address.
  if (is && !is.textContent) is.textContent = String(Number(was?.textContent || 0) + (address ? 1 : 0));
  const [all, rest] = [main, content].map((part) => part.querySelector("[data-total]"));
  if (rest && !rest.textContent) rest.textContent = all?.textContent ?? "";
  // This card is still to be done, whatever was counted before it came.
  const least = Number(is?.textContent ?? 0) + 1;
  if (rest && Number(rest.textContent) < least) rest.textContent = String(least);
  if (address) moveTo(address);
  document.title = found.title;
  main.replaceChildren(...content.childNodes);
  guard(main);
  scrollTo(0, 0);
  main.focus({ preventScroll: true });
  main.dispatchEvent(new CustomEvent(LOADED, { bubbles: true }));
  say(main);
  if (takenBack && address) main.querySelector(".undo form")?.requestSubmit();
  takenBack = false;
}

function guard(main) {
  main.dataset.new = "";
  clearTimeout(unseen);
  unseen = setTimeout(() => delete main.dataset.new, UNSEEN_MS);
}

/** The address of the card, without the part of the page that somebody looks at. */
function here() {
  return location.pathname + location.search;
}

/** What stands outside the card and leads back to where the person is leads back to this one. */
function moveTo(address) {
  history.pushState(null, "", address);
  cardAt = here();
  for (const next of document.querySelectorAll(".appbar input[name='next']")) next.value = address;
  for (const link of document.querySelectorAll("[data-outbox] a")) link.search = new URLSearchParams({ next: location.pathname });
}

/** What a page that loads would have been heard to say. A status that comes with its words in it is mostly not read out. */
function say(main) {
  const words = [main.querySelector(".undo-word"), main.querySelector("[data-done-today]")?.parentElement];
  const text = words.map((part) => part?.textContent.trim().replace(/\s+/g, " "));
  const said = document.querySelector("[data-said]");
  if (said) said.textContent = text.filter(Boolean).join(" ");
}

/** A press that the guard swallows is answered, or it would look broken. */
function sayTooQuick() {
  const words = document.querySelector("main [data-too-quick]");
  const said = document.querySelector("[data-said]");
  if (words) words.hidden = false;
  if (words && said && !said.textContent.endsWith(words.textContent)) said.textContent += ` ${words.textContent}`;
}

// Before the form's own listeners, one of which takes a submit for sent.
addEventListener("submit", (event) => {
  const form = event.target;
  const isUnderWay = form.matches("main:has(form[data-swap][data-sent]) form[action]");
  if (isUnderWay && form.matches(".undo form")) takenBack = true;
  if (!isUnderWay && !form.matches("main[data-new] form[data-swap]")) return;
  if (!isUnderWay) sayTooQuick();
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });
// Nor is it asked why such a card is skipped.
addEventListener("click", (event) => {
  if (!event.target.closest?.("main:has(form[data-swap][data-sent]) [form='skip']")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });
// A link within the page moves, too, and what was typed must not go with it.
addEventListener("popstate", () => here() !== cardAt && location.reload());
