// The theme of every page, and on a board's table search, filters, sorting, columns and choice.
// All of it only rearranges what the page already holds; without it the page is complete.
"use strict";

(() => {
  const root = document.documentElement;
  const stored = { get() { try { return localStorage.getItem("theme"); } catch { return null; } },
    set(theme) { try { localStorage.setItem("theme", theme); } catch { /* a browser that keeps nothing */ } } };
  if (["light", "dark"].includes(stored.get())) root.dataset.theme = stored.get();

  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

  function theme() {
    const button = document.getElementById("theme");
    if (!button) return;
    const show = () => button.setAttribute("aria-pressed", String(isDark()));
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      stored.set(root.dataset.theme);
      show();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
    show();
  }

  // What a permalink says stands behind its "#", as in a query string, so that nothing is sent to a server.
  const read = () => new URLSearchParams(location.hash.slice(1));
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });

  function board(table) {
    const MOST = 5;
    const tools = document.getElementById("tools");
    const search = document.getElementById("search");
    const status = document.getElementById("status");
    const picks = document.getElementById("picks");
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row, place) => ({
      row, place, id: row.dataset.id, values: [...row.cells].map((cell) => cell.dataset.v ?? ""),
      text: row.cells[0].textContent.toLowerCase(),
    }));
    const menus = [...tools.querySelectorAll(".menu[data-facet]")];
    const columns = [...document.querySelectorAll("#columns input")];
    const keys = heads.map((head) => head.dataset.key);
    let sort = { key: "rank", falling: false };
    let picked = [];

    const numeric = (column) => rows.every(({ values }) => values[column] === "" || Number.isFinite(Number(values[column])));
    const isNumber = keys.map((_, column) => numeric(column));
    const label = (key) => heads[keys.indexOf(key)].querySelector(".label").textContent;

    function order() {
      const column = keys.indexOf(sort.key);
      const sign = sort.falling ? -1 : 1;
      if (sort.key === "rank") return [...rows].sort((a, b) => sign * (a.place - b.place));
      return [...rows].sort((a, b) => {
        const [x, y] = [a.values[column], b.values[column]];
        if (x === "" || y === "") return (x === "") - (y === "") || a.place - b.place; // what is not known comes last
        const found = isNumber[column] ? Number(x) - Number(y) : collator.compare(x, y);
        return sign * found || a.place - b.place;
      });
    }

    function matches({ row, text }) {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      if (!words.every((word) => text.includes(word))) return false;
      return menus.every((menu) => {
        const wanted = [...menu.querySelectorAll("input:checked")].map((box) => box.value);
        return wanted.length === 0 || wanted.includes(row.dataset[menu.dataset.facet]);
      });
    }

    function show() {
      let shown = 0;
      for (const item of rows) {
        item.row.hidden = !matches(item);
        shown += !item.row.hidden;
      }
      body.append(...order().map(({ row }) => row));
      table.classList.toggle("ranked", sort.key === "rank" && !sort.falling);
      for (const [column, head] of heads.entries()) {
        if (keys[column] === sort.key) head.setAttribute("aria-sort", sort.falling ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      }
      for (const menu of menus) menu.classList.toggle("active", menu.querySelector("input:checked") !== null);
      const by = `sorted by ${label(sort.key)}, ${sort.key === "rank" ? (sort.falling ? "best last" : "best first") : sort.falling ? "falling" : "rising"}`;
      status.textContent = `${shown} of ${rows.length} systems shown, ${by}.`;
    }

    function showColumns() {
      for (const box of columns) {
        const column = keys.indexOf(box.value);
        if (heads[column].hidden === !box.checked) continue;
        for (const row of table.rows) row.cells[column].hidden = !box.checked;
      }
    }

    function pick() {
      for (const { row, id } of rows) {
        const box = row.querySelector(".pick");
        if (!box) continue;
        box.checked = picked.includes(id);
        box.disabled = !box.checked && picked.length >= MOST;
        row.classList.toggle("picked", box.checked);
      }
      picks.hidden = picked.length === 0;
      const names = picked.map((id) => rows.find((item) => item.id === id).row.querySelector("a").textContent);
      picks.querySelector("p").textContent = `${names.join(", ")}${picked.length === 1 ? ": choose another one to compare" : ""}`;
      const link = picks.querySelector("a");
      link.hidden = picked.length < 2;
      link.setAttribute("href", `${table.dataset.compare}#systems=${picked.join(",")}`);
    }

    function write() {
      const said = new URLSearchParams();
      if (search.value.trim()) said.set("q", search.value.trim());
      for (const menu of menus) for (const box of menu.querySelectorAll("input:checked")) said.append(menu.dataset.facet, box.value);
      if (sort.key !== "rank" || sort.falling) said.set("sort", (sort.falling ? "-" : "") + sort.key);
      if (columns.some((box) => box.checked !== box.defaultChecked)) said.set("cols", columns.filter((box) => box.checked).map((box) => box.value).join(" "));
      if (picked.length) said.set("systems", picked.join(" "));
      const hash = said.toString() ? `#${said}` : "";
      history.replaceState(null, "", location.pathname + location.search + hash);
      for (const link of document.querySelectorAll("a[data-keep]")) link.setAttribute("href", link.getAttribute("href").split("#")[0] + hash);
    }

    function load() {
      const said = read();
      search.value = said.get("q") ?? "";
      for (const menu of menus) {
        const wanted = said.getAll(menu.dataset.facet);
        for (const box of menu.querySelectorAll("input")) box.checked = wanted.includes(box.value);
      }
      const wanted = said.has("cols") ? said.get("cols").split(/[ ,]+/) : null;
      for (const box of columns) box.checked = wanted ? wanted.includes(box.value) : box.defaultChecked;
      const by = said.get("sort") ?? "rank";
      const key = by.replace(/^-/, "");
      sort = keys.includes(key) ? { key, falling: by.startsWith("-") } : { key: "rank", falling: false };
      const known = new Set(rows.filter(({ row }) => "tested" in row.dataset).map(({ id }) => id));
      picked = [...new Set((said.get("systems") ?? "").split(/[ ,]+/))].filter((id) => known.has(id)).slice(0, MOST);
      update();
    }

    function update() {
      show();
      showColumns();
      pick();
      write();
    }

    for (const head of heads) {
      const text = head.querySelector(".label");
      const button = document.createElement("button");
      button.type = "button";
      text.replaceWith(button);
      button.append(text);
      button.addEventListener("click", () => {
        const key = head.dataset.key;
        const first = "falling" in head.dataset;
        sort = { key, falling: sort.key === key ? !sort.falling : first };
        update();
      });
    }
    if (table.dataset.compare) {
      for (const { row, id } of rows) {
        if (!("tested" in row.dataset)) continue;
        const box = document.createElement("input");
        box.type = "checkbox";
        box.className = "pick";
        box.setAttribute("aria-label", `Compare ${row.querySelector("a").textContent}`);
        box.addEventListener("change", () => {
          picked = box.checked ? [...picked, id] : picked.filter((other) => other !== id);
          update();
        });
        row.querySelector(".who").prepend(box);
      }
    }
    picks.querySelector("button").addEventListener("click", () => { picked = []; update(); });
    search.addEventListener("input", update);
    for (const box of tools.querySelectorAll("input[type=checkbox]")) box.addEventListener("change", update);
    document.getElementById("clear").addEventListener("click", () => {
      history.replaceState(null, "", location.pathname + location.search);
      load();
      search.focus();
    });
    const more = document.getElementById("more"); // shows the filters on a phone
    more.addEventListener("click", () => more.setAttribute("aria-expanded", String(tools.classList.toggle("open"))));
    const copy = document.getElementById("copy");
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(location.href);
        status.textContent = "The link to this view was copied.";
      } catch {
        status.textContent = "This browser does not let pages copy: the link is in its address bar.";
      }
    });
    const all = [...tools.querySelectorAll(".menu")];
    document.addEventListener("click", (event) => { for (const menu of all) if (!menu.contains(event.target)) menu.open = false; });
    tools.addEventListener("keydown", (event) => {
      const menu = event.target.closest(".menu[open]");
      if (event.key !== "Escape" || !menu) return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    addEventListener("hashchange", load);
    tools.hidden = false;
    load();
  }

  document.addEventListener("DOMContentLoaded", () => {
    theme();
    const table = document.getElementById("board");
    if (table) board(table);
  });
})();
