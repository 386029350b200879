// Seconds that the page was in sight, sent with the form that holds <input name="seconds">.
import { fresh } from "../foilworks/dom.js";

export function wireSpent(root) {
  for (const field of fresh(root, "input[name='seconds']", "Seconds")) {
    let [spent, since] = [0, visible() ? performance.now() : null];
    const gone = new AbortController();
    document.addEventListener("visibilitychange", () => {
      if (!field.isConnected) return gone.abort();
      if (since !== null) spent += performance.now() - since;
      since = visible() ? performance.now() : null;
    }, { signal: gone.signal });
    field.form.addEventListener("formdata", (event) => {
      const now = since === null ? 0 : performance.now() - since;
      event.formData.set("seconds", ((spent + now) / 1000).toFixed(1));
    });
  }
}

function visible() {
  return document.visibilityState === "visible";
}
