/* docs/style-guide.md lists the attributes. */
(() => {
  "use strict";
  const find = (selector, root = document) => root.querySelector(selector);
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const on = (names, listener) => names.split(" ").forEach((name) => document.addEventListener(name, listener));
  const byId = (id) => (id ? document.getElementById(id) : null);
  const { dataset: texts } = byId("texts");
  const make = (tag, className, text = "") => Object.assign(document.createElement(tag), { className, textContent: text });

  const showError = (text, label, action) => {
    const notice = make("div", "notice notice--bad");
    const button = make("button", "button button--quiet", label);
    const close = make("button", "button button--link", texts.close);
    button.type = close.type = "button";
    button.addEventListener("click", () => { clear(); action(); });
    close.dataset.dismiss = "";
    notice.append(make("p", "notice__text", text), button, close);
    const frame = make("div", "notices notices--float");
    frame.append(notice);
    find("#status").replaceChildren(frame);
  };
  const announce = (text) => {
    find("#status > .vh")?.remove();
    find("#status").append(make("p", "vh", text));
  };
  const clear = () => find("#status").replaceChildren();
  let leaving;
  const leaveLater = () => {
    clearTimeout(leaving);
    leaving = setTimeout(() => {
      const floating = find("#status .notices--float");
      if (!floating || find(".notice--bad, .notice--warn", floating)) return;
      if (floating.matches(":hover, :focus-within")) leaveLater();
      else floating.remove();
    }, 10000);
  };

  /* Focus, in the same moment */
  if (window.htmx) htmx.config.defaultSettleDelay = 0;
  const focus = (element, options) => {
    if (!element || element.disabled) return false;
    if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) element.tabIndex = -1;
    element.focus(options);
    return document.activeElement === element;
  };
  const lost = () => !document.activeElement || document.activeElement === document.body;
  const restore = ({ id, rows = [], had }, root) => {
    /* A resting button gets it back. */
    if (!had || !lost() || byId(id)?.disabled) return;
    [id, ...rows].some((each) => focus(byId(each))) || (root && focus(find("h1, h2, h3, h4", root))) || focus(find("main h1"));
  };
  const retitle = () => {
    const wrong = find("[data-error-summary]:not([hidden]), [aria-invalid=true]");
    document.title = (wrong ? `${texts.error} ` : "") + document.title.replace(`${texts.error} `, "");
  };
  const paused = new Set();
  const showPaused = () => all("[data-pause]").forEach((button) => {
    const label = find("[data-text]", button) || button;
    button.dataset.running ||= label.textContent;
    label.textContent = paused.has(button.dataset.pause) ? button.dataset.resume : button.dataset.running;
  });

  /* News waits for typing. */
  const typing = (root) => find("[aria-invalid=true]", root) || all("input:focus", root).some((field) => field.value !== field.defaultValue);
  const abort = (element) => element && window.htmx?.trigger(element, "htmx:abort");
  const hush = (element) => abort(element.closest("[hx-trigger^=every]"));
  on("htmx:beforeRequest", (event) => {
    const { elt, target, xhr, requestConfig } = event.detail;
    const cause = requestConfig.triggeringEvent;
    if (elt.form?.dataset.sent) return event.preventDefault();
    if (!cause && (paused.has(elt.id) || document.hidden || elt.ariaBusy || typing(elt))) return event.preventDefault();
    if (cause) hush(elt);
    const active = document.activeElement;
    const row = active.closest("[data-row]");
    xhr.stoa = {
      by: elt,
      old: find("#status .notices--float"),
      id: active.id,
      had: !lost() || (cause && /submit|click|change/.test(cause.type)),
      user: Boolean(cause),
      rows: row ? [row.id, row.nextElementSibling?.id, row.previousElementSibling?.id] : [],
    };
    target?.setAttribute("aria-busy", "true");
  });
  on("htmx:afterRequest", ({ detail: { target, xhr } }) => {
    target?.removeAttribute("aria-busy");
    if (xhr.stoa) restore(xhr.stoa);
  });
  on("htmx:afterSettle", ({ detail: { target, xhr } }) => {
    const state = xhr?.stoa;
    if (!state || state.settled) return;
    state.settled = true;
    showPaused();
    leaveLater();
    if (target?.id === "suggestions") return suggest();
    const root = target?.isConnected ? target : byId(target?.id) || find("main");
    retitle();
    if (!state.user) return restore(state, root);
    state.old?.remove();
    const panel = find("[data-focus]", root);
    const wrong = xhr.status > 399 && (find("[data-error-summary]", root) || find("main [aria-invalid=true]"));
    if (focus(wrong)) return;
    if (!focus(panel)) return restore(state, root);
    /* The panel is seen, the message heard. */
    const floating = find("#status .notices--float");
    if (floating) floating.className = "vh";
    all("#status .vh button").forEach((button) => button.remove());
  });
  /* Back: the whole page, at its place */
  on("htmx:historyCacheMiss", (event) => { event.preventDefault(); location.reload(); });

  /* Requests that fail; the bell asks again. */
  const failed = (event, text, label = texts.retry) => {
    const { elt, target, requestConfig: { triggeringEvent: cause, verb, path } } = event.detail;
    if (elt.id === "bell" || (cause && /refresh|input/.test(cause.type))) return;
    showError(text, label, () => {
      if (label !== texts.retry || !elt.isConnected) location.reload();
      else if (elt.matches("form")) elt.requestSubmit(cause?.submitter?.isConnected ? cause.submitter : null);
      else htmx.ajax(verb, path, { source: elt, target, swap: elt.getAttribute("hx-swap") || "innerHTML" });
    });
  };
  on("htmx:timeout", (event) => failed(event, texts.timeout));
  on("htmx:sendError", (event) => failed(event, navigator.onLine ? texts.unreachable : texts.offline));
  on("htmx:responseError", (event) => {
    const { status } = event.detail.xhr;
    if (status === 403) failed(event, texts.expired, texts.reload);
    else if (status === 404 || status === 410) failed(event, texts.gone, texts.reload);
    else failed(event, status === 503 ? texts.away : texts.failed);
  });

  /* A second submit counts once. */
  on("submit", (event) => {
    const { target: form, submitter } = event;
    if (event.defaultPrevented || form.method !== "post") return;
    if (form.dataset.sent) return event.preventDefault();
    form.dataset.sent = "yes";
    all(".htmx-request", form).forEach(abort);
    submitter?.setAttribute("aria-busy", "true");
    setTimeout(() => rest(form), 10000);
  });
  const rest = (form) => {
    delete form.dataset.sent;
    all("[aria-busy]", form).forEach((button) => button.removeAttribute("aria-busy"));
  };

  /* A right field needs no message. */
  on("input change", ({ target: field }) => {
    hush(field);
    const group = field.closest(".field--bad, .field");
    const right = /radio|checkbox/.test(field.type) ? field.checked : field.value.trim() && field.validity.valid;
    if (!group || !right || !find("[aria-invalid=true]", group)) return;
    group.classList.remove("field--bad");
    all("[aria-invalid]", group).forEach((each) => each.removeAttribute("aria-invalid"));
    [...all(".field__error", group), byId(`${field.id}_error`)].forEach((each) => each && (each.hidden = true));
    const summary = find("[data-error-summary]");
    all("a", summary || group).forEach((link) => {
      if (group.contains(byId(link.hash?.slice(1)))) link.closest("li")?.remove();
    });
    if (summary && !find("li", summary)) summary.hidden = true;
    retitle();
  });

  const timers = new WeakMap();
  on("change", ({ target }) => {
    const form = target.form;
    if (!form?.matches("[data-auto]")) return;
    clearTimeout(timers.get(form));
    timers.set(form, setTimeout(() => form.isConnected && form.requestSubmit(), target.type === "radio" ? 0 : 350));
  });

  on("click", (event) => {
    const step = event.target.closest("[data-step]");
    if (step) {
      const field = find("input", step.parentElement);
      field.value = Math.min(999, Math.max(1, (parseInt(field.value, 10) || 0) + Number(step.dataset.step)));
      ["input", "change"].forEach((name) => field.dispatchEvent(new Event(name, { bubbles: true })));
    }
    const slide = event.target.closest("[data-slide]");
    if (slide) {
      event.preventDefault();
      focus(byId(slide.dataset.slide));
    }
    if (event.target.closest("[data-print]")) print();
    if (event.target.closest("[data-dismiss]")) { clear(); find("main").focus({ preventScroll: true }); }
    const pause = event.target.closest("[data-pause]");
    if (pause) {
      const { pause: id } = pause.dataset;
      paused.delete(id) || paused.add(id);
      showPaused();
    }
    all("details[data-popover][open]").forEach((menu) => { menu.open = menu.contains(event.target); });
    if (!event.target.closest(".search")) open(false);
  });
  on("keydown", (event) => {
    if (event.key !== "Escape") return;
    all("details[data-popover][open]").forEach((menu) => {
      menu.open = false;
      if (menu.contains(document.activeElement)) focus(find("summary", menu));
    });
  });

  /* Suggestions: a combobox */
  const box = byId("q"), list = byId("suggestions");
  const options = () => (list ? all("[role=option]", list) : []);
  let place = -1;
  const choose = (next) => {
    place = next;
    options().forEach((option, i) => {
      option.setAttribute("aria-selected", String(i === place));
      if (i === place) { box.setAttribute("aria-activedescendant", option.id); option.scrollIntoView({ block: "nearest" }); }
    });
    if (place < 0) box.removeAttribute("aria-activedescendant");
  };
  const open = (yes) => {
    if (!list) return;
    list.hidden = !yes;
    box.setAttribute("aria-expanded", String(yes));
    choose(-1);
  };
  const suggest = () => {
    const { length } = options();
    open(length > 0 && document.activeElement === box && box.value.trim() !== "");
    if (!list.hidden) announce(`${length} ${length === 1 ? texts.suggestion : texts.suggestions}`);
  };
  box?.addEventListener("keydown", (event) => {
    const { length } = options();
    if (/^Arrow(Down|Up)$/.test(event.key) && length) {
      event.preventDefault();
      const next = list.hidden ? -1 : place;
      if (list.hidden) open(true);
      const step = event.key === "ArrowDown" ? 1 : -1;
      choose(((next + 1 + step + length + 1) % (length + 1)) - 1);
    } else if (event.key === "Escape" && !list.hidden) {
      event.preventDefault();
      open(false);
    } else if (event.key === "Enter" && place >= 0 && !list.hidden) {
      event.preventDefault();
      location.assign(options()[place].dataset.href);
    }
  });
  box?.addEventListener("blur", () => open(false));
  list?.addEventListener("mousedown", (event) => event.preventDefault());
  list?.addEventListener("click", (event) => {
    const { href } = event.target.closest("[role=option]")?.dataset || {};
    if (href) location.assign(href);
  });

  /* Another tab may have changed the cart. */
  const refresh = () => window.htmx && byId("cart-link") && htmx.trigger("#cart-link", "refresh");
  on("visibilitychange", () => document.hidden || refresh());
  addEventListener("pageshow", (event) => {
    all("form[data-sent]").forEach(rest);
    if (event.persisted || performance.getEntriesByType("navigation")[0]?.type === "back_forward") refresh();
  });

  /* A password can be shown until it is sent. */
  all("[data-reveal]").forEach((field) => {
    const button = make("button", "button button--link");
    const show = (shown) => {
      field.type = shown ? "text" : "password";
      button.textContent = shown ? texts.hidePassword : texts.showPassword;
    };
    button.type = "button";
    button.addEventListener("click", () => show(field.type === "password"));
    field.form.addEventListener("submit", () => show(false));
    field.after(button);
    show(false);
  });

  focus(find("[data-error-summary]")) || (lost() && focus(find("#changes-title, [aria-current=step] h2"), { preventScroll: true }));
  showPaused();
})();
