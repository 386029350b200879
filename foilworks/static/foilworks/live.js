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
let leaving;
let comesAnew = false;
const kept = new Map();

export function startLive(page) {
  page.addEventListener("pointerdown", press, true);
  page.addEventListener("keydown", (event) => PRESSING.has(event.key) && press(event), true);
  for (const end of ["pointerup", "pointercancel", "keyup"]) page.addEventListener(end, release, true);
  addEventListener("blur", release);
  page.addEventListener("click", rememberFold, true);
  page.addEventListener("htmx:beforeOnLoad", (event) => {
    // At the end of a job all of the page comes anew, with whatever stands outside the part as well.
    if (!event.detail.xhr.getResponseHeader("HX-Refresh") || !event.target.matches(LIVE)) return;
    if (isHeld(page.body) || isTyping(page.activeElement)) event.preventDefault();
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

function press(event) {
  // A menu may take the end of the press that opened it.
  if (event.button === 2) return;
  clearTimeout(leaving);
  pressed = event.target;
}

function release() {
  clearTimeout(leaving);
  leaving = setTimeout(() => (pressed = null), CLICK_COMES_WITHIN_MS);
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
function isTyping(field) {
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
