/* Orders: carriers by the form of a tracking number, numbers pasted into several fields, the sum of a refund. It all works without. */
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  const numbers = (form) => [...form.elements].filter(({ dataset }) => "tracking" in dataset);

  /* The number's form proposes the carrier (orders/carriers.py), unless somebody has typed one. */
  const typed = new WeakSet();
  const propose = ({ form, value }) => {
    const { carrier } = form.elements;
    if (numbers(form).length > 1) return;
    const number = value.replace(/[ .-]/g, "").toUpperCase();
    const found = all("#carriers [data-form]").find((option) => new RegExp(option.dataset.form).test(number));
    if (carrier && found && !typed.has(carrier)) carrier.value = found.value;
  };

  /* Several pasted lines fill the fields from this row on, a line for each order. A blank line leaves its order's field.
     A number for a row without a field may belong to another order, so nothing is filled then. */
  document.addEventListener("paste", (event) => {
    const { target } = event;
    if (!target.matches?.("[data-tracking]")) return;
    const lines = event.clipboardData.getData("text").replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
    if (lines.length < 2) return;
    event.preventDefault();
    const row = target.closest("tr");
    const rows = row ? [...row.parentElement.rows].slice(row.sectionRowIndex) : [target.parentElement];
    const fields = rows.map((each) => each.querySelector("[data-tracking]"));
    const pasted = lines.map((line, place) => [line.trim(), fields[place]]).filter(([number]) => number);
    target.setCustomValidity(pasted.every(([, field]) => field) ? "" : target.dataset.tracking);
    if (target.reportValidity()) pasted.forEach(([number, field]) => { field.value = number; });
  });

  /* A scanner ends a number with Enter: the next field, or the form's own button rather than the first one. */
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (key !== "Enter" || !target.matches?.("[data-tracking]")) return;
    event.preventDefault();
    const fields = numbers(target.form);
    const next = fields[fields.indexOf(target) + 1];
    if (next) next.focus();
    else target.form.requestSubmit(all("button:not([formaction])", target.form)[0]);
  });

  /* The sum as RefundForm computes it, to the cent (pricing/proration.py). */
  const cents = (form) => {
    const { amount, delivery } = form.elements;
    const other = /^€? ?(\d{1,7})(?:[.,](\d{1,2}))? ?€?$/.exec(amount.value.trim());
    if (other) return other[1] * 100 + Number((other[2] ?? "").padEnd(2, "0"));
    return all("[data-total]", form).reduce((sum, { value, dataset: { total, quantity, before } }) => {
      const share = (units) => Math.floor((total * units) / quantity);
      return sum + share(Number(before) + (Number(value) || 0)) - share(Number(before));
    }, delivery?.checked ? Number(delivery.dataset.cents) : 0);
  };
  const say = (form) => {
    const sum = cents(form);
    const text = new Intl.NumberFormat("en-IE", { style: "currency", currency: form.dataset.currency }).format(sum / 100);
    const { refund, close } = form.dataset;
    form.elements.shown.value = sum;
    form.querySelector("[data-sum]").textContent = text;
    form.querySelector("[data-sum-button]").textContent = sum || !close ? refund.replace("{amount}", text) : close;
  };

  document.addEventListener("input", ({ target }) => {
    if (target.name === "carrier") typed.add(target);
    if (target.matches("[data-tracking]")) {
      target.setCustomValidity("");
      propose(target);
    }
    if (target.form?.matches("[data-refund]")) say(target.form);
  });
})();
