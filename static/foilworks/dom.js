// Small helpers shared by the modules.

const TYPED = new Set(["text", "search", "email", "url", "tel", "password", "number", "date", "time", "datetime-local"]);

/** True while a key press would change a text: keys of the page must not fire then. */
export function isTyping(target) {
  if (!(target instanceof Element)) return false;
  if (target.closest("textarea, select, [contenteditable]:not([contenteditable='false'])")) return true;
  return target instanceof HTMLInputElement && TYPED.has(target.type);
}

/** True while an input method composes a text. Safari reports the key that commits it after the end, as key code 229. */
export function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}

/** Elements below (and including) root that match, each one once: a second call skips those already seen for `name`. */
export function fresh(root, selector, name) {
  const all = [...root.querySelectorAll(selector)];
  if (root instanceof Element && root.matches(selector)) all.unshift(root);
  const flag = `wired${name}`;
  return all.filter((element) => !element.dataset[flag] && (element.dataset[flag] = "yes"));
}

let answered = true;

/** POST a form's data (or an object) with the CSRF token; resolves to the Response, rejects only when nothing answered. */
export async function post(url, data, options = {}) {
  const body = data instanceof FormData ? data : new URLSearchParams(data);
  const headers = { "X-CSRFToken": csrfToken(), "X-Requested-With": "fetch", Accept: "application/json" };
  try {
    const answer = await fetch(url, { method: "POST", body, headers, credentials: "same-origin", redirect: "manual", ...options });
    answered = true;
    return answer;
  } catch (error) {
    // Who gave up waiting has not found out whether anybody answers.
    if (error.name !== "AbortError") answered = false;
    throw error;
  }
}

/** Whether a form met another session than it was made in. Who lacks the right to send it is refused with X-Foilworks-Denied. */
export function isSignedOut(answer) {
  return answer.status === 403 && !answer.headers.has("X-Foilworks-Denied");
}

/** For those who fetch by themselves: the server was reached, or was not. */
export function reached() {
  answered = true;
}

export function unreached() {
  answered = false;
}

/** Nothing answers: the browser knows that it has no network, or the last request of this page found nobody. */
export function offline() {
  return !navigator.onLine || !answered;
}

export function csrfToken() {
  return JSON.parse(document.body.getAttribute("hx-headers") || "{}")["X-CSRFToken"] || "";
}

/** A stored preference, or `fallback` where there is none or the browser keeps nothing. */
export function remembered(key, fallback) {
  try {
    return localStorage.getItem(`foilworks.${key}`) ?? fallback;
  } catch {
    return fallback;
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(`foilworks.${key}`, value);
  } catch {
    // Private windows may refuse storage; the preference then lasts as long as the page.
  }
}

export function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
