/* The staff's keys, as templates/adminpanel/_keys.html lists them. All that they do can be done without them. */
(() => {
  "use strict";
  const find = (selector, root = document) => root.querySelector(selector);
  const dialog = find("#keys");
  const box = find("input", dialog);
  const NAME = "staff-keys";

  /* A browser may forbid a page to store anything: the keys count, then. */
  const store = (work) => { try { return work(localStorage); } catch { return null; } };
  box.checked = store((storage) => storage.getItem(NAME)) !== "off";
  box.addEventListener("change", () => store((storage) => (box.checked ? storage.removeItem(NAME) : storage.setItem(NAME, "off"))));

  /* What is typed in one form and not saved is lost when another one is sent: the browser asks first. */
  const unsaved = new Set();
  let sent = null;
  document.addEventListener("input", (event) => event.target.form?.matches("form[data-guard]") && unsaved.add(event.target.form));
  document.addEventListener("submit", (event) => { sent = event.target; });
  addEventListener("beforeunload", (event) => { if ([...unsaved].some((form) => form !== sent)) event.preventDefault(); });

  /* What the buttons of a row do step by step it does by being dropped on another of its list (templates/adminpanel/_grip.html). */
  let grip = null;
  const gripAt = (target) => {
    const found = grip && target.closest && find(`[data-list="${grip.dataset.list}"]`, target.closest("tr, li") ?? grip);
    return found === grip ? null : found;
  };
  const mark = (found) => {
    find(".is-drop")?.classList.remove("is-drop");
    found?.closest("tr, li").classList.add("is-drop");
  };
  document.addEventListener("dragstart", ({ target, dataTransfer }) => {
    grip = target.closest?.("[data-list]");
    if (!grip) return;
    dataTransfer.effectAllowed = "move";
    dataTransfer.setData("text/plain", "");
    dataTransfer.setDragImage(grip.closest("tr, li"), 0, 0);
  });
  document.addEventListener("dragover", (event) => {
    const found = gripAt(event.target);
    if (found) event.preventDefault();
    mark(found);
  });
  document.addEventListener("dragend", () => { mark(null); grip = null; });
  document.addEventListener("drop", (event) => {
    const found = gripAt(event.target);
    if (!found) return;
    event.preventDefault();
    const grips = [...document.querySelectorAll(`[data-list="${grip.dataset.list}"]`)];
    const { field, name, value } = grip.dataset;
    const form = grip.closest("form");
    const input = field ? document.getElementById(field) : form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name }));
    input.value = value.replace("{place}", grips.indexOf(found) + 1).replace("{step}", grips.indexOf(found) - grips.indexOf(grip));
    form.requestSubmit();
    /* A button that is used next, after an answer that did not come, is not about this. */
    if (!field) input.remove();
  });

  /* A colour is typed, or chosen beside its field. */
  document.querySelectorAll("[data-colour-of]").forEach((picker) => {
    const field = document.getElementById(picker.dataset.colourOf);
    const show = () => {
      const [digits] = /[0-9a-f]{6}/i.exec(field.value || field.placeholder) ?? [];
      if (digits) picker.value = `#${digits}`;
    };
    field.addEventListener("input", show);
    picker.addEventListener("input", () => { field.value = picker.value; });
    picker.hidden = false;
    show();
  });

  /* Who leaves an order's page says so; of whoever cannot, the others hear some seconds later. */
  addEventListener("pagehide", () => {
    const { left } = find("#viewers")?.dataset ?? {};
    if (left) fetch(left, { keepalive: true, headers: { "X-Refreshes-Itself": "1" } });
  });

  /* A scanner types a SKU and Enter: that counts a unit of its line; the first one empties all (adminpanel.orders.parcel_forms.PackForm). */
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    if (event.key !== "Enter" || !target.matches?.("[data-scan]") || !target.value.trim()) return;
    event.preventDefault();
    const { form } = target;
    const sku = target.value.trim().toUpperCase();
    const began = form.elements.scanning;
    const rows = [...form.querySelectorAll("[data-sku]")];
    const unitsIn = (row) => (began.value && Number(find("input", row).value)) || 0;
    const found = rows.filter((row) => row.dataset.sku === sku);
    const wanting = found.find((row) => unitsIn(row) < row.dataset.most);
    if (wanting) {
      const count = unitsIn(wanting) + 1;
      if (!began.value) rows.forEach((row) => { find("input", row).value = ""; });
      began.value = "1";
      find("input", wanting).value = count;
      wanting.classList.toggle("is-full", count === Number(wanting.dataset.most));
    }
    const row = wanting ?? found[0];
    const words = { sku, most: row?.dataset.most, count: row && unitsIn(row) };
    const text = target.dataset[wanting ? "said" : row ? "full" : "unknown"];
    const said = document.getElementById(`${target.id}_said`);
    said.textContent = text.replace(/{(\w+)}/g, (whole, name) => words[name]);
    said.classList.toggle("field__error", !wanting);
    target.value = "";
  });

  /* Rows are selected by their boxes: one, from one to another with Shift, all of the page, or all of the list. */
  let lastBox = null;
  const boxes = () => [...document.querySelectorAll("main .tick input")];
  const showSelection = () => {
    const said = find("[data-selected]");
    if (!said) return;
    const all = find("#select-all"), page = find("#select-page");
    const count = boxes().filter((each) => each.checked).length;
    const text = all.checked ? said.dataset.all : count ? said.dataset.selected.replace("{count}", count) : "";
    if (said.textContent !== text) find("#selected").textContent = said.textContent = text;
    page.checked = count > 0 && count === boxes().length;
    page.indeterminate = count > 0 && !page.checked;
  };
  document.addEventListener("click", ({ target, shiftKey }) => {
    if (!target.matches?.(".tick input")) return;
    const found = boxes();
    if (shiftKey && found.includes(lastBox)) {
      const [from, to] = [found.indexOf(lastBox), found.indexOf(target)].sort((one, other) => one - other);
      found.slice(from, to + 1).forEach((each) => { each.checked = target.checked; });
      showSelection();
    }
    lastBox = target;
  });
  document.addEventListener("change", ({ target }) => {
    if (target.matches("#select-page, #select-all")) boxes().forEach((each) => { each.checked = target.checked; });
    const all = find("#select-all");
    if (all && target.matches("#select-page, .tick input")) all.checked &&= target.checked;
    showSelection();
  });
  document.addEventListener("reset", () => setTimeout(showSelection));
  addEventListener("pageshow", showSelection);

  /* Tabs that a window is too narrow for: the current one is in sight, and a refresh leaves them where they are. */
  let scrolled = null;
  find(".tally[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
  document.addEventListener("htmx:beforeSwap", () => { scrolled = find(".tallies")?.scrollLeft; });
  document.addEventListener("htmx:afterSettle", () => {
    if (scrolled) find(".tallies")?.scrollTo({ left: scrolled });
    showSelection();
  });

  const rowNow = () => document.activeElement.closest("main tbody tr");
  const move = (step) => {
    const rows = [...document.querySelectorAll("main tbody tr")].filter((row) => row.checkVisibility());
    const row = rows[rowNow() ? rows.indexOf(rowNow()) + step : 0];
    if (!row) return;
    row.tabIndex = -1;
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  };
  const click = (...selectors) => {
    const row = rowNow();
    const element = row && selectors.map((selector) => find(selector, row)).find(Boolean);
    element?.click();
  };
  const show = () => dialog.open || dialog.showModal();
  const keys = new Map([
    ["j", () => move(1)],
    ["k", () => move(-1)],
    ["x", () => click("input[type=checkbox]")],
    ["e", () => click("th a", "a")],
    ["/", () => find("[data-command]")?.click()],
    ["?", show],
  ]);
  /* A field that was just hidden keeps the focus until the next frame. */
  const isTyping = (element) => element.checkVisibility() && (element.isContentEditable || element.closest("select, textarea, input:not([type=checkbox], [type=radio])"));
  document.addEventListener("keydown", (event) => {
    const act = keys.get(event.key);
    if (!act || !box.checked || find("dialog[open]") || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    event.preventDefault();
    act();
  });
  document.addEventListener("click", (event) => event.target.closest("[data-keys]") && show());
})();
