/* The staff's command field (templates/adminpanel/search/_search.html): the key "/" (staff.js), Ctrl-K or its button opens it. */
(() => {
  "use strict";
  const dialog = document.getElementById("command");
  if (!dialog) return;
  const form = dialog.querySelector(".search");
  const box = form.elements.q;
  const results = document.getElementById("command-results");
  const said = dialog.querySelector("[role=status]");
  const options = () => [...results.querySelectorAll("[role=option]")];
  const isMac = /mac/i.test(navigator.platform);
  let place = -1;
  /* The text of the last request, the text whose options are shown, and the Enter that waits for options of what was typed. */
  let asked = null, shown = null, entered = null;

  const choose = (next) => {
    place = next;
    options().forEach((option, i) => {
      option.setAttribute("aria-selected", String(i === place));
      if (i !== place) return;
      box.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    });
    if (place < 0) box.removeAttribute("aria-activedescendant");
  };
  const follow = ({ dataset: { href } }, event) => {
    if (event.ctrlKey || event.metaKey) window.open(href);
    else location.assign(href);
  };
  const enter = (event) => {
    if (options()[place]) follow(options()[place], event);
    else if (box.value.trim()) form.requestSubmit();
  };
  const show = (text) => {
    shown = asked;
    box.setAttribute("aria-expanded", String(options().length > 0));
    choose(options().length ? 0 : -1);
    said.textContent = text;
    if (!entered || shown !== box.value) return;
    enter(entered);
    entered = null;
  };
  const open = () => {
    if (document.querySelector("dialog[open]")) return;
    dialog.showModal();
    box.select();
    shown = null;
    form.dispatchEvent(new Event("refresh"));
  };

  document.addEventListener("click", (event) => event.target.closest("[data-command]") && open());
  document.addEventListener("keydown", (event) => {
    /* On a Mac, Ctrl-K deletes to the end of the line. */
    if (!event[isMac ? "metaKey" : "ctrlKey"] || event.altKey || event.shiftKey || event.key.toLowerCase() !== "k") return;
    event.preventDefault();
    open();
  });
  box.addEventListener("keydown", (event) => {
    const { length } = options();
    if (/^Arrow(Down|Up)$/.test(event.key) && length) choose((place + (event.key === "ArrowDown" ? 1 : -1) + length) % length);
    else if (event.key !== "Enter" || event.isComposing) return;
    else if (shown !== box.value) entered = event;
    else enter(event);
    event.preventDefault();
  });
  form.addEventListener("htmx:beforeRequest", () => { asked = box.value; });
  results.addEventListener("htmx:afterSettle", () => show(results.firstElementChild.dataset.said));
  ["htmx:responseError", "htmx:sendError", "htmx:timeout"].forEach((name) => form.addEventListener(name, () => {
    results.firstElementChild.replaceChildren();
    entered = null;
    show(dialog.dataset.failed);
  }));
  results.addEventListener("mousedown", (event) => event.preventDefault());
  results.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) follow(option, event);
  });
  /* A click beside the dialog closes it; a page that comes back does not show it. */
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => { entered = null; });
  addEventListener("pagehide", () => dialog.close());
})();
