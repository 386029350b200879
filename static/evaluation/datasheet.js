// The datasheet: htmx saves an answer when its field changes. This says when that failed, and loses no text on the way out.

const form = document.querySelector("[data-sheet]");
const fieldOf = (event) => event.target.closest(".field");
const textOf = (field) => field.querySelector("textarea");
const isUnsaved = () => [...form.querySelectorAll("textarea")].some((text) => text.value !== text.defaultValue);
let open = 0;
let next = "";
let submitted = false;

form.addEventListener("htmx:beforeRequest", (event) => {
  open += 1;
  fieldOf(event).sent = textOf(fieldOf(event)).value;
});
form.addEventListener("answersaved", (event) => {
  const field = fieldOf(event);
  textOf(field).defaultValue = field.sent;
});
form.addEventListener("htmx:afterRequest", (event) => {
  open -= 1;
  if (!event.detail.successful) {
    const said = fieldOf(event)?.querySelector("[data-saved]");
    const line = document.createElement("strong");
    line.textContent = form.dataset.failed;
    said?.replaceChildren(...said.querySelectorAll("input"), line);
    next = "";
  } else if (next && !open) {
    // Unsaved after its answer came: somebody else changed it, or it is too long. The page says so.
    if (!isUnsaved()) location.assign(next);
    next = "";
  }
});
// A link is followed once the answers that are on their way have come.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href]");
  const plain = !event.defaultPrevented && event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (!link || !plain || !open || link.target) return;
  event.preventDefault();
  next = link.href;
});
form.addEventListener("submit", () => (submitted = true));
addEventListener("beforeunload", (event) => {
  if (!submitted && isUnsaved()) event.preventDefault();
});
