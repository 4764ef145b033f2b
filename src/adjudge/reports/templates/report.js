"use strict";
// The page is complete without this script. It adds: what a mark says when pointed at, one system followed through all
// charts and tables, sorting and filtering of tables, and tables that open when the page is printed.
(() => {
  const each = (selector, act, root = document) => root.querySelectorAll(selector).forEach(act);
  const make = (tag, name, text = "") => {
    const made = document.createElement(tag);
    made.className = name;
    made.textContent = text;
    return made;
  };

  const tip = document.body.appendChild(make("div", "tip"));
  tip.hidden = true;
  const place = (event) => {
    const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18;
    const y = below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 12 : below;
    tip.style.transform = `translate(${Math.max(x, 4)}px, ${Math.max(y, 4)}px)`;
  };
  // The browser's own tooltips come late and would stand beside ours.
  each(".chart g > title", (title) => {
    title.parentNode.dataset.says = title.textContent;
    title.remove();
  });
  document.addEventListener("pointermove", (event) => {
    const mark = event.target.closest?.("[data-says]");
    tip.hidden = !mark;
    if (mark) {
      if (tip.textContent !== mark.dataset.says) tip.textContent = mark.dataset.says;
      place(event);
    }
  });
  document.addEventListener("pointerleave", () => { tip.hidden = true; });

  let followed = "";
  const names = new Set();
  each(".chart [data-name]", (one) => names.add(one.dataset.name));
  const chosen = document.querySelector("#follow");
  const follow = (name) => {
    followed = name;
    each(".chart [data-name]", (one) => one.classList.toggle("dim", name !== "" && one.dataset.name !== name));
    each("tr.lit", (row) => row.classList.remove("lit"));
    if (name) each("td", (cell) => { if (cell.textContent === name) cell.parentNode.classList.add("lit"); });
    if (chosen) chosen.value = name;
  };
  if (chosen && names.size > 1) {
    for (const name of [...names].sort()) chosen.add(new Option(name, name));
    chosen.addEventListener("change", () => follow(chosen.value));
    chosen.closest(".follow").hidden = false;
  }
  document.addEventListener("click", (event) => {
    const one = event.target.closest?.(".chart [data-name]");
    if (one) follow(one.dataset.name === followed ? "" : one.dataset.name);
  });

  const numberOf = (text) => {
    const plain = text.replace(/[,%<>≈\s]/g, "").replace(/−/g, "-").replace(/[–…].*$/, "");
    return plain === "" ? NaN : Number(plain.replace(/[^\d.eE+-].*$/, "") || NaN);
  };
  const compare = (a, b) => {
    const [x, y] = [numberOf(a), numberOf(b)];
    if (isNaN(x) && isNaN(y)) return a.localeCompare(b, undefined, { numeric: true });
    return isNaN(x) ? 1 : isNaN(y) ? -1 : x - y;
  };
  each("table", (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    if (rows.length < 3) return;
    each("thead th", (head) => {
      const button = make("button", "sort", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const state = { ascending: "descending", descending: "" }[head.ariaSort] ?? "ascending";
        each("thead th", (other) => other.removeAttribute("aria-sort"), table);
        if (state) head.setAttribute("aria-sort", state);
        const at = head.cellIndex;
        const turn = state === "descending" ? -1 : 1;
        const by = (a, b) => turn * compare(a.cells[at].textContent, b.cells[at].textContent);
        body.append(...(state ? [...rows].sort(by) : rows));
        table.classList.toggle("sorted", state !== "");
      });
    }, table);
    if (rows.length < 25) return;
    const field = make("input", "filter");
    field.type = "search";
    field.placeholder = `Filter ${rows.length} rows`;
    field.setAttribute("aria-label", `Filter the rows of: ${table.caption.textContent}`);
    table.closest(".scroll").before(field);
    field.addEventListener("input", () => {
      const wanted = field.value.toLowerCase();
      for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
    });
  });

  const show = () => {
    let part = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (part) each(":scope > details", (one) => { one.open = true; }, part);
    for (; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  };
  addEventListener("hashchange", show);
  show();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
  document.documentElement.dataset.ready = "yes";
})();
