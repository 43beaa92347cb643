/* The page of one product: its variants as a grid, its options as chips, pictures before they are saved. Without it all is typed into the same fields. */
(() => {
  "use strict";
  const form = document.getElementById("product-form");
  const { dataset: texts } = document.getElementById("product-texts");
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, properties, ...content) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...content);
    return element;
  };
  const fill = (text, values) => text.replace(/{(\w+)}/g, (whole, name) => values[name]);
  const changed = (field) => ["input", "change"].forEach((name) => field.dispatchEvent(new Event(name, { bubbles: true })));

  /* Pictures: dropped or chosen, each chosen one beside those before; drawn by the browser, so that no other address is needed. */
  all("[data-drop-zone]").forEach((zone) => {
    const field = zone.querySelector("input[type=file]");
    const list = zone.appendChild(make("ul", { className: "drop__list" }));
    let files = [];
    const thumbnail = async (file) => {
      const canvas = make("canvas", { width: 96, height: 96 });
      canvas.setAttribute("aria-hidden", "true");
      const image = await createImageBitmap(file, { resizeHeight: 192 }).catch(() => null);
      if (!image) return canvas;
      const side = Math.min(image.width, image.height);
      canvas.getContext("2d").drawImage(image, (image.width - side) / 2, (image.height - side) / 2, side, side, 0, 0, 96, 96);
      return canvas;
    };
    const choose = async (wanted) => {
      files = wanted.filter((file, place) => wanted.findIndex((other) => other.name === file.name && other.size === file.size && other.lastModified === file.lastModified) === place);
      const carrier = new DataTransfer();
      files.forEach((file) => carrier.items.add(file));
      field.files = carrier.files;
      const chosen = files;
      const items = await Promise.all(chosen.map(async (file) => {
        const button = make("button", { type: "button", className: "button button--link" }, fill(texts.remove, { value: "" }), make("span", { className: "vh" }, file.name));
        button.addEventListener("click", () => { choose(files.filter((other) => other !== file)); changed(field); field.focus(); });
        return make("li", { className: "drop__item" }, await thumbnail(file), make("span", { className: "small" }, file.name), button);
      }));
      if (chosen === files) list.replaceChildren(...items);
    };
    field.addEventListener("change", () => choose([...files, ...field.files]));
    zone.addEventListener("dragover", (event) => { event.preventDefault(); zone.classList.add("is-drop"); });
    ["dragleave", "drop"].forEach((name) => zone.addEventListener(name, () => zone.classList.remove("is-drop")));
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      choose([...files, ...event.dataTransfer.files]);
      changed(field);
    });
  });

  const grid = form?.querySelector("[data-grid]");
  if (!grid) return;
  const body = grid.tBodies[0];
  const said = make("p", { className: "small", role: "status" });
  grid.before(said);

  /* Unsaved changes */
  const bar = form.querySelector("[data-save-bar]");
  const unsaved = [make("strong", {}, texts.unsaved), bar.querySelector("[data-discard]")];
  const tell = (isChanged) => unsaved.forEach((part) => { part.hidden = !isChanged; });
  bar.append(unsaved[0]);
  tell(Boolean(document.querySelector("[data-error-summary], #changes-title")));
  ["input", "change"].forEach((name) => form.addEventListener(name, () => tell(true)));

  /* The grid: arrows move unless the caret is within a text, Enter moves down. */
  const rows = () => [...body.rows].filter((row) => !row.hidden);
  const fields = (row) => all("td :is(input:not([type=hidden]), select)", row);
  const column = (field) => field.closest("[data-column]").dataset.column;
  const isText = (field) => field.matches("input:not([type=checkbox])");
  const isWhole = (field) => !isText(field) || field.selectionEnd - field.selectionStart === field.value.length;
  const go = (field, down, right) => {
    const lines = rows();
    const row = field.closest("tr");
    const place = fields(row).indexOf(field) + right;
    const next = lines[lines.indexOf(row) + down];
    const target = next && fields(next)[place];
    if (!target) return false;
    target.focus();
    if (isText(target)) target.select();
    return true;
  };
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  body.addEventListener("keydown", (event) => {
    const { target: field, key } = event;
    if (!fields(field.closest("tr")).includes(field) || event.ctrlKey || event.altKey || event.metaKey) return;
    if (key === "Enter") {
      event.preventDefault();
      go(field, event.shiftKey ? -1 : 1, 0);
    } else if (key === "Escape" && isText(field)) {
      field.select();
    } else if (steps[key] && !event.shiftKey && !(field.matches("select") && steps[key][0]) && (steps[key][0] || isWhole(field))) {
      event.preventDefault();
      go(field, ...steps[key]);
    }
  });

  /* A value is put into a cell; one that does not fit is marked there, and keeps the form from being sent. */
  const fits = (field, text) => {
    if (field.matches("select")) return [...field.options].find((option) => [option.value, option.label.trim()].includes(text))?.value;
    if (!isText(field)) return { "": false, 0: false, no: false, false: false, 1: true, on: true, yes: true, true: true }[text.toLowerCase()];
    return !field.inputMode || /^$|^\P{L}*\d\P{L}*$/u.test(text) ? text : undefined;
  };
  const put = (field, text) => {
    const value = fits(field, text);
    if (isText(field)) field.value = text;
    else if (value !== undefined) field[field.matches("select") ? "value" : "checked"] = value;
    changed(field);
    const cell = field.closest(".field, td");
    if (value !== undefined) return true;
    const error = cell.querySelector(".field__error") ?? cell.appendChild(make("p", { className: "field__error", id: `${field.name}-error` }));
    error.hidden = false;
    error.textContent = fill(texts.misfit, { text });
    cell.classList.add("field--bad");
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", error.id);
    field.dataset.misfit = "";
    return false;
  };
  body.addEventListener("input", ({ target }) => { delete target.dataset.misfit; });
  form.addEventListener("submit", (event) => {
    const wrong = body.querySelector("[data-misfit]");
    if (!wrong) return;
    event.preventDefault();
    wrong.focus();
  }, true);

  /* A block of a spreadsheet: rows in lines, cells between tabs; quotes hold what has either. */
  const cells = (text) => {
    const table = [[]];
    for (const [, quoted, plain, end] of text.replace(/\r\n?/g, "\n").replace(/\n$/, "").matchAll(/(?:"((?:[^"]|"")*)"(?=[\t\n]|$)|([^\t\n]*))(\t|\n|$)/g)) {
      table.at(-1).push((quoted?.replaceAll('""', '"') ?? plain).trim());
      if (!end) break;
      if (end === "\n") table.push([]);
    }
    return table;
  };
  body.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (!/[\t\n]/.test(text.trimEnd()) || !isText(event.target)) return;
    event.preventDefault();
    const lines = rows();
    const line = lines.indexOf(event.target.closest("tr"));
    const place = fields(lines[line]).indexOf(event.target);
    const result = { bad: 0, outside: 0, put: 0 };
    cells(text).forEach((values, down) => values.forEach((value, right) => {
      const field = lines[line + down] && fields(lines[line + down])[place + right];
      result[!field ? "outside" : put(field, value) ? "put" : "bad"] += 1;
    }));
    said.textContent = fill(texts.pasted, result);
  });

  /* Set all: a line above the others, whose fields have no name. */
  const top = grid.createTBody();
  top.dataset.all = "";
  const setAll = () => {
    const lines = rows();
    top.hidden = lines.length < 2;
    if (top.rows.length || !lines.length) return;
    const line = top.appendChild(lines[0].cloneNode(true));
    line.removeAttribute("id");
    line.removeAttribute("data-variant");
    line.cells[0].replaceChildren(texts.setAll);
    [...line.cells].slice(1).forEach((cell, place) => {
      const field = cell.querySelector("select, input:not([type=hidden])");
      const from = lines[0].cells[place + 1].querySelector("select, input:not([type=hidden])");
      cell.replaceChildren();
      if (!field || ["sku", "barcode"].includes(cell.dataset.column)) return;
      const wanted = column(from);
      ["id", "name", "form", "required", "aria-invalid", "aria-describedby", "data-misfit"].forEach((name) => field.removeAttribute(name));
      field.setAttribute("aria-label", `${texts.setAll}: ${cell.dataset.label}`);
      if (field.matches("select")) field.selectedIndex = -1;
      else if (isText(field)) field.value = "";
      else field.checked = true;
      field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        field.dispatchEvent(new Event("change"));
      });
      field.addEventListener("change", () => rows().forEach((row) => {
        const same = fields(row).find((other) => column(other) === wanted);
        if (isText(field) || field.matches("select")) put(same, field.value);
        else { same.checked = field.checked; changed(same); }
      }));
      cell.append(make("div", { className: isText(field) || field.matches("select") ? "field" : "check" }, field));
    });
  };
  body.before(top);
  setAll();

  /* Options: their values are chips; the field that is sent has them as text. */
  const quoted = (value) => (/[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const split = (text) => [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))(?:,|$)/g)].map(([, held, plain]) => (held?.replaceAll('""', '"') ?? plain).trim()).filter(Boolean);
  const unique = (values) => [...new Set(values)];
  const options = all("[data-option]", form).map((part) => {
    const [name, field] = ["name", "values"].map((ending) => part.querySelector(`input[name$="-${ending}"]`));
    const entry = make("input", { id: field.id, autocomplete: "off", className: "tokens__entry" });
    const box = make("span", { className: "tokens input" }, entry);
    const values = () => unique(split(field.value));
    const show = () => {
      all(".token", box).forEach((token) => token.remove());
      entry.before(...values().map((value) => {
        const token = make("button", { type: "button", className: "token" }, value, make("span", { ariaHidden: "true" }, " ×"));
        token.setAttribute("aria-label", fill(texts.remove, { value }));
        token.addEventListener("click", () => { keep(values().filter((other) => other !== value)); entry.focus(); });
        return token;
      }));
    };
    const keep = (wanted) => {
      field.value = unique(wanted).map(quoted).join(", ");
      changed(field);
      show();
      follow();
    };
    const take = () => {
      const typed = split(entry.value);
      entry.value = "";
      if (typed.length) keep([...values(), ...typed]);
    };
    entry.addEventListener("keydown", (event) => {
      if (event.key === "Backspace" && !entry.value) keep(values().slice(0, -1));
      if (event.key !== "Enter" && event.key !== ",") return;
      event.preventDefault();
      take();
    });
    entry.addEventListener("input", () => { if (entry.value.includes(",")) take(); });
    entry.addEventListener("change", take);
    ["aria-describedby", "aria-invalid"].forEach((each) => field.hasAttribute(each) && entry.setAttribute(each, field.getAttribute(each)));
    field.type = "hidden";
    field.removeAttribute("id"); // the label and the list of errors lead to the entry
    field.after(box);
    show();
    name.addEventListener("change", () => follow());
    return { name: () => name.value.trim() || name.name, values };
  });

  /* The variants follow the options. What was typed for one stays with it, also for one that goes and comes back. Saved ones go on as on the server (catalogue.variants.generate_variants). */
  const spare = new Map();
  const template = document.getElementById("variant-row");
  const own = (row, ending) => row.querySelector(`input[name$="-${ending}"]`);
  const valuesOf = (row) => JSON.parse(own(row, "values").value || "[]");
  const startsAlike = (one, other) => one.every((value, place) => place >= other.length || value === other[place]);
  const saved = new Map([...body.rows].filter((row) => own(row, "id").value).map((row) => [row, { values: valuesOf(row), isSold: own(row, "sold").checked }]));
  const filled = () => options.map(({ name, values }) => [name(), values()]).filter(([, values]) => values.length);
  const former = filled();
  const goesOn = (was, values, lists) => {
    if (!was.length || was.length === values.length) return startsAlike(was, values);
    const [before, after] = [[former, was], [lists, values]].map(([parts, chosen]) => new Map(parts.map(([name], place) => [name, chosen[place]])));
    const single = new Set([...former, ...lists].filter(([, values]) => values.length === 1).map(([name]) => name));
    return [...before.keys(), ...after.keys()].every((name) => (before.has(name) && after.has(name) ? before.get(name) === after.get(name) : single.has(name)));
  };
  let count = Math.max(-1, ...all("input[name$='-values']", body).map((field) => Number(field.name.match(/-(\d+)-/)[1]))) + 1;
  const grow = (values) => {
    const row = make("template", { innerHTML: template.innerHTML.replaceAll("__n__", count) }).content.querySelector("tr");
    count += 1;
    const shared = (other) => valuesOf(other).filter((value, place) => value === values[place]).length;
    const [like] = [...body.rows].sort((one, other) => shared(other) - shared(one));
    if (like) ["price", "cost_price", "weight_grams", "content"].forEach((ending) => { own(row, ending).value = own(like, ending).value; });
    return row;
  };
  const show = (row, isShown) => {
    const sold = own(row, "sold");
    if (row.hidden === !isShown) return;
    row.hidden = !isShown;
    if (!isShown) {
      sold.dataset.was = sold.checked;
      all("[data-misfit]", row).forEach((field) => put(field, field.defaultValue));
    }
    sold.checked = isShown && sold.dataset.was === "true";
  };
  const follow = () => {
    const lists = filled();
    const number = lists.reduce((product, [, values]) => product * values.length, 1);
    said.textContent = number > Number(texts.most) ? fill(texts.tooMany, { most: texts.most, number }) : "";
    if (said.textContent) return;
    const wanted = lists.reduce((found, [, values]) => found.flatMap((start) => values.map((value) => [...start, value])), [[]]);
    const left = new Set(body.rows);
    const found = new Map();
    const match = (find) => wanted.forEach((values) => {
      const key = JSON.stringify(values);
      const row = found.get(key) ?? find(key, values);
      if (!row) return;
      left.delete(row);
      found.set(key, row);
    });
    const pick = (test) => [...left].find((row) => test(row, saved.get(row)));
    match((key) => pick((row, before) => before && JSON.stringify(before.values) === key));
    match((key) => pick((row, before) => before && JSON.stringify(valuesOf(row)) === key));
    match((key, values) => pick((row, before) => before?.isSold && goesOn(before.values, values, lists)));
    match((key) => pick((row, before) => !before && JSON.stringify(valuesOf(row)) === key) ?? spare.get(key));
    match((key, values) => pick((row) => !row.hidden && startsAlike(valuesOf(row), values)));
    match((key, values) => grow(values));
    left.forEach((row) => {
      if (saved.has(row)) return show(row, false);
      spare.set(JSON.stringify(valuesOf(row)), row);
      row.remove();
    });
    wanted.forEach((values) => {
      const row = found.get(JSON.stringify(values));
      own(row, "values").value = JSON.stringify(values);
      row.querySelector("[data-variant-label]").textContent = values.join(", ");
      all("td label.vh", row).forEach((label) => { label.textContent = [label.closest("td").dataset.label, ...values].join(", "); });
      spare.delete(JSON.stringify(values));
      show(row, true);
    });
    body.prepend(...wanted.map((values) => found.get(JSON.stringify(values))));
    setAll();
  };
})();
