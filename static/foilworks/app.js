// What every page loads, one part after the other: choices, dialogs, forms, messages, copies, moments, keys, live parts.
// Each part connects the page by its data attributes and may run again on new elements.
import { fresh, isComposing, isTyping, remember, remembered } from "./dom.js";

// [data-shown-in="selector"], a select or a group of radio buttons: the part of the page that the choice belongs to is
// fetched by htmx on change, and the field of that selector in it names the choice it was made for. What is chosen before
// htmx listens is fetched later.

/** Once everything is loaded: a choice that the page does not show yet is made again. */
function catchUpChoices(root) {
  for (const choice of root.querySelectorAll("[data-shown-in]")) {
    const shown = root.querySelector(choice.dataset.shownIn);
    if (shown && shown.value !== chosen(choice)) choice.dispatchEvent(new Event("change", { bubbles: true }));
  }
}

function chosen(choice) {
  return choice.matches("select") ? choice.value : (choice.querySelector("input:checked")?.value ?? "");
}

// [data-dialog-open="id"] opens a <dialog>; a click on its backdrop closes it; [data-unfold="id"] shows and hides a part; menus close on Escape and on a click outside.

function wireDialogs(root) {
  for (const opener of fresh(root, "[data-dialog-open]", "Opener")) {
    opener.setAttribute("aria-haspopup", "dialog");
    opener.addEventListener("click", (event) => {
      // A button that sends a form without scripts asks first.
      event.preventDefault();
      document.getElementById(opener.dataset.dialogOpen)?.showModal();
    });
  }
  for (const dialog of fresh(root, "dialog", "Dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog && !within(dialog, event)) dialog.close();
    });
  }
  for (const button of fresh(root, "[data-unfold]", "Unfold")) {
    const part = document.getElementById(button.dataset.unfold);
    const show = () => button.setAttribute("aria-expanded", String(part.hasAttribute("data-unfolded")));
    button.addEventListener("click", () => {
      part.toggleAttribute("data-unfolded");
      show();
    });
    show();
  }
  for (const menu of fresh(root, "details.menu", "Menu")) {
    document.addEventListener("click", (event) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
    menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
  }
}

function within(dialog, { clientX, clientY }) {
  const box = dialog.getBoundingClientRect();
  return clientX >= box.left && clientX <= box.right && clientY >= box.top && clientY <= box.bottom;
}

// form[data-once]: one press, one record. The key that makes a repeat harmless is in the form before it is sent (the server
// puts one there for pages without scripts), so pressing twice, a retry or a reload stores nothing twice.

function wireForms(root) {
  for (const form of fresh(root, "form[data-once]", "Once")) {
    form.addEventListener("submit", (event) => {
      if (form.dataset.sent) {
        event.preventDefault();
        return;
      }
      const key = form.elements.namedItem("idempotency_key");
      if (key && !key.value) key.value = randomKey();
      form.dataset.sent = "yes";
      // After this turn: a disabled button would drop its own name and value from what is sent.
      setTimeout(() => setBusy(form, true));
    });
  }
  for (const form of fresh(root, "form[data-autosubmit]", "Autosubmit")) {
    form.addEventListener("change", () => form.requestSubmit());
  }
}

/** The page came back from the browser's cache: its forms may be sent again (the server knows the key). */
addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    setBusy(form, false);
  }
});

function setBusy(form, busy) {
  // form.elements holds the buttons outside the form that name it, too.
  for (const element of form.elements) {
    if (element instanceof HTMLButtonElement && element.type === "submit") mark(element, busy);
  }
}

function mark(button, busy) {
  button.setAttribute("aria-disabled", String(busy));
  button.toggleAttribute("data-busy", busy);
}

/** randomUUID exists on secure origins only; a laboratory's plain-http address still needs a key. */
function randomKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Messages at the corner of the page. Good news leaves by itself; warnings and errors stay until dismissed.

const STAY_MS = 7000;

function wireToasts(root) {
  for (const toast of fresh(root, "[data-toast]", "Toast")) {
    toast.querySelector("[data-toast-close]")?.addEventListener("click", () => toast.remove());
    if (!toast.matches(".toast-warning, .toast-error") && !toast.querySelector("a, button:not([data-toast-close])")) leave(toast);
  }
}

function leave(toast) {
  let timer = setTimeout(() => toast.remove(), STAY_MS);
  toast.addEventListener("pointerenter", () => clearTimeout(timer));
  toast.addEventListener("pointerleave", () => (timer = setTimeout(() => toast.remove(), STAY_MS)));
}

// [data-fills="id"]: a button that writes its value into the field with this id.
function wireFills(root) {
  for (const button of fresh(root, "[data-fills]", "Fills")) button.addEventListener("click", () => fillField(button));
}

function fillField(button) {
  const field = document.getElementById(button.dataset.fills);
  field.value = button.value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus();
}

// [data-copy="text"]: a button that copies the text. [data-copied="words"] beside it is a status that says so for a moment.
// [data-copy-fragment]: the text is the address of this page, and its fragment belongs to it.

const SAY_MS = 3000;

function wireCopies(root) {
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

// Keys, declared on what they press: <button data-hotkey="a">, several by spaces: data-hotkey="k Space".
//   "a", "5", "?", ",", "Space"     single keys: silent while typing, and can be switched off as a whole
//   "Ctrl+Enter"                    also while typing (Cmd on a Mac)
//   Escape                          leaves a text box, so that single keys count again
//   data-hotkey-alt                 inside a text box the single key works with Alt, on a Mac with Ctrl+Option
//   data-hotkeys-only               a hidden box of buttons that exist for their keys alone
//   data-hotkey-label               what the keys dialog says; else the element's aria-label or text

const PREFERENCE = "singleKeys";
const LEFT_BY_ESCAPE = "textarea, input[type='text']";
// What a place types on a US keyboard, without and with Shift.
const PLACES = { Comma: ",<", Period: ".>", BracketLeft: "[{", BracketRight: "]}", Backslash: "\\|", Slash: "/?", Minus: "-_", Equal: "=+", Space: "  " };
// On a Mac, Option is a way to type: almost every key has a character with it.
const IS_MAC = /^(Mac|iP)/.test(navigator.platform);
// Place -> what it typed here without a modifier.
const typedHere = new Map();

/** Tells assistive technology the keys, and keeps their printed hints out of the names of what they press. */
function announceHotkeys(root) {
  for (const element of fresh(root, "[data-hotkey]", "Hotkey")) {
    element.setAttribute("aria-keyshortcuts", element.dataset.hotkey.replace("Ctrl", "Control"));
    for (const hint of (element.labels?.[0] ?? element).querySelectorAll("kbd")) hint.setAttribute("aria-hidden", "true");
  }
}

function startHotkeys(root) {
  root.addEventListener("keydown", (event) => onKey(root, event));
  const dialog = root.querySelector("[data-keys]");
  if (!dialog) return;
  for (const opener of root.querySelectorAll(`[data-dialog-open="${dialog.id}"]`)) opener.addEventListener("click", () => fill(root, dialog));
  const toggle = dialog.querySelector("[data-keys-toggle]");
  toggle.checked = singleKeysOn();
  toggle.addEventListener("change", () => remember(PREFERENCE, toggle.checked ? "on" : "off"));
}

function singleKeysOn() {
  return remembered(PREFERENCE, "on") === "on";
}

function onKey(root, event) {
  // Browsers that fill in a form send a keydown without a key.
  if (!event.key || event.defaultPrevented || isComposing(event) || (event.repeat && event.key === "Enter")) return;
  learn(event);
  const typing = isTyping(event.target);
  const dialog = event.target instanceof Element ? event.target.closest("dialog[open]") : null;
  if (event.key === "Escape" && !dialog && event.target.matches?.(LEFT_BY_ESCAPE)) return event.target.blur();
  const combination = name(event, typing);
  if (!combination || leaveToElement(event, combination)) return;
  for (const element of root.querySelectorAll("[data-hotkey]")) {
    if (!element.dataset.hotkey.split(" ").includes(combination.key)) continue;
    if (combination.alt && !("hotkeyAlt" in element.dataset)) continue;
    if (combination.single && !singleKeysOn() && combination.key !== "?") continue;
    if ((dialog && !dialog.contains(element)) || !usable(element)) continue;
    event.preventDefault();
    // A key that is held steps through a clip. It decides once: the cards that come meanwhile nobody has seen.
    if (!event.repeat || element.closest("[data-player]")) press(element);
    return;
  }
}

function learn(event) {
  const modified = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.getModifierState("AltGraph");
  if (event.key.length === 1 && !modified) typedHere.set(event.code, event.key.toLowerCase());
}

/** What was pressed, in the words of data-hotkey, or null where the page must not listen. */
function name(event, typing) {
  const key = asHotkey(event);
  // Windows reports AltGr as Ctrl and Alt, too.
  if (event.getModifierState("AltGraph")) return typing ? null : { key, single: true };
  if (event.altKey && event.ctrlKey) return IS_MAC ? { key: byPlace(event) ?? key, alt: true } : null;
  if (event.ctrlKey || event.metaKey) return event.altKey ? null : { key: `Ctrl+${key}` };
  if (event.altKey) return typing && typesWithAlt(event) ? null : { key, alt: true };
  return typing ? null : { key, single: true };
}

/** The key as data-hotkey names it: by its character, or by its place where that is none that a hotkey has. */
function asHotkey(event) {
  if (event.key === " ") return "Space";
  if (event.key.length !== 1) return event.key;
  const isAscii = event.key < "\x7f";
  // The row of digits of a French keyboard types &é"'( without Shift.
  const isPlain = !event.shiftKey && !event.altKey && !event.getModifierState("AltGraph");
  const isDigit = isPlain && /^Digit[0-9]$/.test(event.code) && !/[a-z]/i.test(event.key);
  const key = isAscii && !isDigit ? event.key : byPlace(event) ?? event.key;
  return event.shiftKey && !event.altKey ? key : key.toLowerCase();
}

/** What the place types on a US keyboard, or undefined. */
function byPlace({ code, shiftKey }) {
  if (code === "Space") return "Space";
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  if (letter) return shiftKey ? letter : letter.toLowerCase();
  const [, digit] = /^(?:Digit|Numpad)([0-9])$/.exec(code) ?? [];
  return digit ? (shiftKey ? undefined : digit) : PLACES[code]?.[Number(shiftKey)];
}

/** Whether a key with Alt types a character: another one than without Alt. */
function typesWithAlt(event) {
  if (IS_MAC || event.key === "Dead") return true;
  const plain = typedHere.get(event.code) ?? PLACES[event.code]?.[0] ?? byPlace({ code: event.code, shiftKey: false });
  const withShift = event.shiftKey && event.key === PLACES[event.code]?.[1];
  return event.key.length === 1 && event.key.toLowerCase() !== plain && !withShift;
}

/** Space and Enter belong to the button, link or option that has the focus. */
function leaveToElement(event, combination) {
  if (combination.alt || !["Space", "Enter"].includes(combination.key)) return false;
  return event.target instanceof Element && Boolean(event.target.closest("button, a[href], summary, input, label"));
}

function usable(element) {
  if (element.disabled || element.getAttribute("aria-disabled") === "true") return false;
  if (element.checkVisibility({ visibilityProperty: true })) return true;
  // Nothing behind a closed content warning is pressed.
  return Boolean(element.closest("[data-hotkeys-only]")) && !element.closest("details.player-gate:not([open])");
}

function press(element) {
  if (element.matches("textarea, input[type='text']")) element.focus();
  else {
    if (element.matches("input")) element.focus();
    element.click();
    // For those who must tell a key of the page from a click or an arrow.
    element.dispatchEvent(new Event("hotkey"));
  }
}

function fill(root, dialog) {
  const list = dialog.querySelector("[data-keys-list]");
  const template = dialog.querySelector("[data-keys-row]");
  list.replaceChildren();
  // A key presses the first element that has it: the others are not listed.
  const taken = new Set();
  const listed = [...root.querySelectorAll("[data-hotkey]")].filter((element) => {
    if (dialog.contains(element) || !usable(element) || taken.has(element.dataset.hotkey)) return false;
    taken.add(element.dataset.hotkey);
    return true;
  });
  // A player has many: the keys of the task stand before them.
  const last = (element) => Number(Boolean(element.closest("[data-player]")));
  for (const element of listed.sort((a, b) => last(a) - last(b))) {
    const row = template.content.cloneNode(true);
    row.querySelector("th").textContent = label(element);
    element.dataset.hotkey.split(" ").forEach((key, index) => {
      if (index) row.querySelector("td").append(" ");
      const kbd = document.createElement("kbd");
      kbd.textContent = key.replace("Ctrl", dialog.dataset.ctrl).replace("+", " + ");
      row.querySelector("td").append(kbd);
    });
    list.append(row);
  }
}

function label(element) {
  if (element.dataset.hotkeyLabel) return element.dataset.hotkeyLabel;
  if (element.getAttribute("aria-label")) return element.getAttribute("aria-label");
  const text = (element.labels?.[0] ?? element).cloneNode(true);
  text.querySelectorAll("kbd, .visually-hidden").forEach((part) => part.remove());
  return text.textContent.trim().replace(/\s+/g, " ");
}

// A part that asks for itself anew while a job is at work ([hx-trigger^="every"]) is not taken from under somebody's hand. What
// it brings waits for the next round while something in it is pressed, is on its way, or is marked to be copied; otherwise
// focus, folded parts and scrolling come over to the new part. Where a job has ended and the page is loaded anew, the same holds
// for all of the page, and for a form that somebody is filling in. A press that ends on another button than it began on is none:
// of presses that last a tenth of a second, a part that changes every two seconds would lose one in twenty.

const LIVE = "[id][hx-trigger^='every']";
const FOCUSABLE = "a[href], button, summary, input, select, textarea, [tabindex]";
const PRESSING = new Set([" ", "Enter"]);
// A touch's click comes a moment after its finger has left.
const CLICK_COMES_WITHIN_MS = 300;

let pressed = null;
let releasing;
let comesAnew = false;
const kept = new Map();

function startLive(page) {
  page.addEventListener("pointerdown", hold, true);
  page.addEventListener("keydown", (event) => PRESSING.has(event.key) && hold(event), true);
  for (const end of ["pointerup", "pointercancel", "keyup"]) page.addEventListener(end, release, true);
  addEventListener("blur", release);
  page.addEventListener("click", rememberFold, true);
  page.addEventListener("htmx:beforeOnLoad", (event) => {
    // At the end of a job all of the page comes anew, with whatever stands outside the part as well.
    if (!event.detail.xhr.getResponseHeader("HX-Refresh") || !event.target.matches(LIVE)) return;
    if (isHeld(page.body) || isFilledIn(page.activeElement)) event.preventDefault();
    else comesAnew = true;
  });
  page.addEventListener("htmx:beforeRequest", (event) => {
    // Each answer would load the page anew: one that takes longer than a round to come would never be there.
    if (comesAnew && event.target.matches(LIVE)) event.preventDefault();
  });
  page.addEventListener("htmx:beforeSwap", (event) => {
    const part = event.target;
    if (!part.matches(LIVE)) return;
    if (isHeld(part)) event.detail.shouldSwap = false;
    else kept.set(part.id, seen(part));
  });
  page.addEventListener("htmx:load", (event) => {
    const before = kept.get(event.target.id);
    if (before) putBack(event.target, before);
    kept.delete(event.target.id);
  });
}

function hold(event) {
  // A menu may take the end of the press that opened it.
  if (event.button === 2) return;
  clearTimeout(releasing);
  pressed = event.target;
}

function release() {
  clearTimeout(releasing);
  releasing = setTimeout(() => (pressed = null), CLICK_COMES_WITHIN_MS);
}

function rememberFold(event) {
  const fold = event.target.closest("summary")?.parentElement;
  if (fold instanceof HTMLDetailsElement) fold.dataset.chosen = "yes";
}

function isHeld(part) {
  const marked = getSelection();
  return part.contains(pressed) || part.querySelector("form[data-sent]") || (!marked.isCollapsed && part.contains(marked.anchorNode));
}

/** Whether somebody is in a form, or a field without one, that no longer holds what it came with. */
function isFilledIn(field) {
  return (field?.form ? [...field.form.elements] : [field]).some(isChanged);
}

function isChanged(field) {
  if (field instanceof HTMLSelectElement) {
    const chosen = [...field.options].some((option) => option.defaultSelected);
    return chosen ? [...field.options].some((option) => option.selected !== option.defaultSelected) : field.selectedIndex > 0;
  }
  return field?.matches("input, textarea") && (field.value !== field.defaultValue || field.checked !== field.defaultChecked);
}

/** What a person did to a part and its new version does not know: focus, folded parts (by order), scrolling (by order). */
function seen(part) {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  return {
    focus: focused && alike(part, focused).indexOf(focused),
    focused,
    folds: [...part.querySelectorAll("details")].map((fold) => (fold.dataset.chosen ? fold.open : null)),
    scrolled: [...part.querySelectorAll(".table-wrap")].map((wrap) => [wrap.scrollLeft, wrap.scrollTop]),
  };
}

function putBack(part, before) {
  part.querySelectorAll("details").forEach((fold, number) => {
    const open = before.folds[number] ?? null;
    if (open === null) return;
    fold.open = open;
    fold.dataset.chosen = "yes";
  });
  part.querySelectorAll(".table-wrap").forEach((wrap, number) => wrap.scrollTo(...(before.scrolled[number] ?? [0, 0])));
  if (before.focused) alike(part, before.focused)[before.focus]?.focus({ preventScroll: true });
}

/** Elements of a part that do the same as this one: kind, address, label and a button's words are equal. */
function alike(part, element) {
  const what = (each) => {
    const words = each instanceof HTMLButtonElement ? each.textContent.trim() : "";
    return [each.tagName, each.getAttribute("href"), each.getAttribute("aria-label"), words].join("\n");
  };
  const wanted = what(element);
  return [...part.querySelectorAll(FOCUSABLE)].filter((each) => what(each) === wanted);
}

function wire(root) {
  wireMoments(root);
  wireDialogs(root);
  wireForms(root);
  wireToasts(root);
  announceHotkeys(root);
  wireCopies(root);
  wireFills(root);
}

wire(document);
startHotkeys(document);
startLive(document);
// On a narrow screen bar, tabs and filters scroll sideways: neither the link of this page nor what a key gives the focus
// may be out of sight. Browsers leave it where it is if a part of it is in sight.
for (const row of document.querySelectorAll(".appbar-nav, .tabs, .list-filters")) {
  const here = row.querySelector("a[aria-current], button[aria-current]");
  if (here) row.scrollLeft += here.getBoundingClientRect().left - row.getBoundingClientRect().left - (row.clientWidth - here.offsetWidth) / 2;
  row.addEventListener("focusin", ({ target }) => {
    if (target.matches(":focus-visible")) (target.closest(".chip") ?? target).scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}
// After "load" htmx is there; the browser may also have put an earlier choice back into a form.
if (document.readyState === "complete") catchUpChoices(document);
else addEventListener("load", () => catchUpChoices(document));
for (const swapped of ["htmx:load", "foilworks:load"]) document.addEventListener(swapped, (event) => wire(event.target));
