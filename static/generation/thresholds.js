// A slider and a number that say the same: whichever is moved takes the other along. The number alone is sent.
import { fresh } from "../foilworks/dom.js";

for (const range of fresh(document, "input[type=range][data-mirrors]", "Mirror")) {
  const number = document.getElementById(range.dataset.mirrors);
  range.addEventListener("input", () => {
    number.value = range.value;
  });
  number.addEventListener("input", () => {
    if (number.value !== "") range.value = number.value.replace(",", ".");
  });
}
