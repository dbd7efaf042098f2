// Two to five systems side by side. What is chosen is in the address, so that it can be sent to somebody.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  const held = document.getElementById("data");
  if (!held) return; // another page
  const data = JSON.parse(held.textContent);
  const byId = new Map(data.systems.map((system, place) => [system.id, place]));
  const find = (id) => document.getElementById(id);
  const SHOWN = 40;
  let chosen = [];
  let measure = data.measures[0];
  let all = false;

  const make = (tag, attributes = {}, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  };
  const fixed = (value, digits = 3) => (value === null ? "n/a" : value.toFixed(digits).replace("-", "−"));
  const signed = (value, digits = 3) => {
    if (value === null) return "n/a";
    const text = value.toFixed(digits);
    return Number(text) === 0 ? text.replace("-", "") : (value > 0 ? "+" : "") + text.replace("-", "−");
  };
  const pText = (value) => (value === null ? "n/a" : value < 0.001 ? "< 0.001" : value.toFixed(3));
  const spoken = (name) => name.replace("alpha_nDCG", "α-nDCG").replace("alpha=", "α=");
  const named = (place) => make("bdi", {}, data.systems[place].name);
  const linked = (place) => make("a", { href: data.systems[place].page }, named(place));
  const say = (text) => { find("said").textContent = text; };
  const number = (text, more = "") => make("td", { class: `num ${more}`.trim() }, text);

  // Names that several systems share are told apart by their ids.
  const times = new Map();
  for (const system of data.systems) times.set(system.name, (times.get(system.name) || 0) + 1);
  const label = (system) => (times.get(system.name) > 1 ? `${system.name} (${system.id})` : system.name);
  find("names").append(...data.systems.map((system) => make("option", { value: label(system) })));

  const pairs = new Map();
  for (const [name, rows] of Object.entries(data.pairs)) {
    for (const [first, second, ...rest] of rows) pairs.set(`${name} ${first} ${second}`, rest);
  }
  const pairOf = (first, second) => {
    const found = pairs.get(`${measure} ${first} ${second}`);
    if (found) return found;
    const turned = pairs.get(`${measure} ${second} ${first}`);
    if (!turned) return null;
    const [difference, low, high, p, maxT, effect, wins, ties, losses, detectable, warning] = turned;
    return [-difference, -high, -low, p, maxT, -effect, losses, ties, wins, detectable, warning];
  };

  const table = (caption, heads, rows) => {
    const head = make("tr");
    for (const [text, numeric, first] of heads) {
      head.append(make("th", { scope: "col", class: `${numeric ? "num" : ""} ${first ? "first" : ""}`.trim() }, text));
    }
    const whole = make("table", { class: "data" }, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...rows));
    return make("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": caption }, whole);
  };

  const scores = () => {
    const rows = chosen.map((place) => {
      const score = data.scores[measure][place];
      const standing = (data.standings[measure] || {})[place];
      const value = number(score ? fixed(score[0]) : "n/a");
      if (score && score[1] !== null) value.append(make("span", { class: "range" }, `${fixed(score[1])} to ${fixed(score[2])}`));
      const rank = standing ? (standing[1] === standing[2] ? String(standing[1]) : `${standing[1]} to ${standing[2]}`) : "n/a";
      return make("tr", {}, make("th", { scope: "row", class: "first" }, linked(place)), value, number(rank),
        number(standing ? String(standing[3]) : "n/a"), make("td", {}, data.systems[place].tier + (data.systems[place].oracle ? ", oracle" : "")));
    });
    return table(`${spoken(measure)} with 95 % intervals`, [["System", false, true], ["Value", true], ["Rank", true], ["Tier", true], ["Scores are"]], rows);
  };

  const verdictOf = (difference, adjusted, warning) => {
    const same = adjusted >= 0.05;
    const cell = make("td", {}, make("span", { class: `verdict ${same ? "same" : difference > 0 ? "up" : "down"}` },
      same ? "not told apart" : difference > 0 ? "▲ ahead" : "▼ behind"));
    if (warning) cell.append(" ", make("span", { class: "caution" }, "⚠ ", make("span", { class: "small" }, warning)));
    return cell;
  };

  const tests = () => {
    const rows = [];
    const untested = [];
    chosen.forEach((first, place) => chosen.slice(place + 1).forEach((second) => {
      const pair = pairOf(first, second);
      if (!pair) { untested.push([first, second]); return; }
      const [difference, low, high, p, maxT, effect, wins, ties, losses, detectable, warning] = pair;
      rows.push(make("tr", {}, make("th", { scope: "row", class: "first" }, named(first)), make("td", { class: "text" }, named(second)),
        number(signed(difference)), number(`${signed(low)} to ${signed(high)}`), number(pText(p)), number(pText(maxT)),
        verdictOf(difference, maxT, data.warnings[warning]), number(`${wins} / ${ties} / ${losses}`),
        number(signed(effect)), number(fixed(detectable))));
    }));
    const parts = [];
    if (rows.length) {
      parts.push(table("Paired tests; p adjusted by max-T for all pairs of the board", [["System", false, true], ["Against"], ["Difference", true],
        ["95 % interval", true], ["p", true], ["p, max-T", true], ["Verdict"], ["Wins / ties / losses", true], ["Effect", true], ["Detectable", true]], rows));
    }
    if (untested.length) {
      const note = make("p", { class: "note" }, "Not tested, since an oracle has no rank and a reported row no values per query: ");
      untested.forEach(([first, second], place) => note.append(place ? "; " : "", named(first), " against ", named(second)));
      parts.push(note, make("p"));
    }
    return parts;
  };

  const queries = () => {
    if (!data.queries.length) return [make("p", { class: "note" }, "Choose a topic above to see them query by query.")];
    const held = chosen.filter((place) => data.values[measure][place]);
    if (held.length < 2) return [];
    const value = (place, query) => data.values[measure][place][query];
    const spread = (query) => Math.max(...held.map((place) => value(place, query))) - Math.min(...held.map((place) => value(place, query)));
    const order = data.queries.map((_, query) => query).sort((a, b) => spread(b) - spread(a) || a - b);
    const shown = all ? order : order.slice(0, SHOWN);
    const rows = shown.map((query) => {
      const [id, page] = data.queries[query];
      const text = make("bdi", {}, id);
      const best = Math.max(...held.map((place) => value(place, query)));
      const cells = held.map((place) => {
        const here = value(place, query);
        const share = Math.max(0, Math.min(9, Math.floor(here * 10)));
        return number(here === best && spread(query) > 1e-9 ? make("b", {}, fixed(here)) : fixed(here), `shade s${share}`);
      });
      return make("tr", {}, make("th", { scope: "row", class: "first" }, page ? make("a", { href: page }, text) : text), ...cells, number(fixed(spread(query))));
    });
    const heads = [["Query", false, true], ...held.map((place) => [data.systems[place].name, true]), ["Spread", true]];
    const part = table(`Query by query, ${spoken(measure)}: those they differ on most come first; the best is bold`, heads, rows);
    part.firstChild.classList.add("matrix");
    if (all || order.length <= SHOWN) return [part];
    const more = make("button", { type: "button", id: "more" }, `Show all ${order.length} queries`);
    more.addEventListener("click", () => { all = true; show(); });
    return [part, make("p", {}, more)];
  };

  const show = () => {
    find("measure").value = measure;
    find("chosen").replaceChildren(...chosen.map((place) => {
      const away = make("button", { type: "button", "aria-label": `Remove ${data.systems[place].name}` }, "×");
      away.addEventListener("click", () => { choose(chosen.filter((other) => other !== place)); find("add").focus(); });
      return make("li", {}, named(place), away);
    }));
    find("result").replaceChildren(...(chosen.length > 1 ? [scores(), ...tests(), ...queries()] : []));
    say(chosen.length > 1 ? `${chosen.length} systems by ${spoken(measure)}.` : "Choose at least two systems.");
  };

  const hash = () => new URLSearchParams({ systems: chosen.map((place) => data.systems[place].id).join(","), measure }).toString().replaceAll("%2C", ",").replaceAll("%40", "@");
  const keep = () => {
    history.replaceState(null, "", `#${hash()}`);
    document.querySelectorAll("a[data-keep]").forEach((link) => { link.hash = hash(); });
  };
  const choose = (places) => { chosen = places; all = false; show(); keep(); };

  const read = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    const ids = (asked.get("systems") || "").split(",").filter(Boolean);
    const unknown = ids.filter((id) => !byId.has(id));
    measure = data.measures.includes(asked.get("measure")) ? asked.get("measure") : data.measures[0];
    const known = [...new Set(ids.filter((id) => byId.has(id)).map((id) => byId.get(id)))];
    const left = known.slice(data.most).map((place) => data.systems[place].name);
    const first = data.systems.map((_, place) => place).filter((place) => data.systems[place].tested).slice(0, 2);
    choose(ids.length ? known.slice(0, data.most) : first);
    if (left.length) say(`At most ${data.most} at once: ${left.join(", ")} left out.`);
    if (unknown.length) say(`Not on this page: ${unknown.join(", ")}.`);
  };

  find("chooser").addEventListener("submit", (event) => {
    event.preventDefault();
    const typed = find("add").value.trim();
    if (!typed) return;
    const lower = typed.toLowerCase();
    let found = data.systems.filter((system) => label(system) === typed || system.id === typed);
    if (!found.length) found = data.systems.filter((system) => label(system).toLowerCase().includes(lower));
    const place = found.length ? byId.get(found[0].id) : -1;
    if (!found.length) say(`No system is called ${typed}.`);
    else if (found.length > 1) say(`${found.length} systems have ${typed} in their name: type more of it.`);
    else if (chosen.includes(place)) say(`${data.systems[place].name} is chosen already.`);
    else if (chosen.length >= data.most) say(`At most ${data.most} at once: remove one first.`);
    else { find("add").value = ""; choose([...chosen, place]); }
  });
  find("measure").addEventListener("change", () => { measure = find("measure").value; show(); keep(); });
  find("clear").addEventListener("click", () => choose([]));
  addEventListener("hashchange", read);
  find("choose").hidden = false;
  read();
});
