// Entry of pages that show a video and nothing else of the work pages.
import { wirePlayers } from "./player.js";

wirePlayers(document);
document.addEventListener("htmx:load", (event) => wirePlayers(event.target));
