"use strict";
// Keeps what is answered in the browser, shows one question at a time, and saves the answers to a file and loads them.
(() => {
  const { format, sheet } = document.body.dataset;
  const place = `${format}: ${sheet}`;
  const by = (id) => document.getElementById(id);
  const sections = [...document.querySelectorAll("main section")];
  const own = new Map(sections.map((section) => [section, [...section.querySelectorAll("[name]")]]));
  const fields = [...own.values()].flat();
  let at = 0;
  let kept = true; // whether this browser keeps answers

  const isAsked = (field) => field.type === "radio" || field.type === "number";
  const isWhole = (text) => /^[0-9]{1,3}$/.test(text);

  /** The answers by the names of their cells. */
  function answers() {
    const found = {};
    for (const field of fields) {
      if (field.type === "radio" ? field.checked : field.value.trim()) {
        found[field.name] = field.value.trim();
      }
    }
    return found;
  }

  /** Puts answers into the fields; whatever no field knows is passed over. */
  function fill(found) {
    const given = new Map(Object.entries(found).filter(([, value]) => typeof value === "string"));
    for (const field of fields) {
      const value = given.get(field.name) ?? "";
      if (field.type === "radio") {
        field.checked = field.value === value;
      } else {
        field.value = field.type === "number" && !isWhole(value) ? "" : value;
      }
    }
  }

  /** How many cells of a question have no answer that counts. */
  function open(section, found) {
    const names = new Map(own.get(section).filter(isAsked).map((field) => [field.name, field.type]));
    return [...names].filter(([name, type]) => !(name in found) || (type === "number" && !isWhole(found[name]))).length;
  }

  function keep() {
    try {
      const state = { annotator: by("annotator").value, answers: answers(), at };
      localStorage.setItem(place, JSON.stringify(state));
      kept = true;
    } catch {
      kept = false;
    }
    tell();
  }

  /** Puts what this browser keeps into the fields, and returns which question was shown. */
  function restore() {
    try {
      const state = JSON.parse(localStorage.getItem(place)) ?? {};
      by("annotator").value = typeof state.annotator === "string" ? state.annotator : "";
      fill(state.answers ?? {});
      return Number.isInteger(state.at) && sections[state.at] ? state.at : 0;
    } catch {
      kept = false;
      return 0;
    }
  }

  /** Says how far one is, after what has just happened. */
  function tell(news = "") {
    const found = answers();
    let left = 0;
    sections.forEach((section, number) => {
      const here = open(section, found);
      left += here;
      by("which").options[number].textContent = `${number + 1}: ${here ? `${here} open` : "done"}`;
    });
    const far = left ? `${left} ${left === 1 ? "answer" : "answers"} to go.` : "All is answered: save it, and hand the file in.";
    const lost = kept ? "" : " This browser does not keep answers: save them before you leave.";
    by("state").textContent = `${news} ${far}${lost}`.trim();
  }

  function show(number, focus = true) {
    at = Math.max(0, Math.min(number, sections.length - 1));
    sections.forEach((section, other) => { section.hidden = other !== at; });
    by("which").selectedIndex = at;
    by("before").disabled = at === 0;
    by("after").disabled = at === sections.length - 1;
    if (focus) {
      sections[at].querySelector("h2").focus();
      sections[at].scrollIntoView();
    }
    keep();
  }

  function save() {
    const annotator = by("annotator").value.trim();
    if (!annotator) {
      by("annotator").focus();
      tell("Write your name first.");
      return;
    }
    const told = { format, sheet, annotator, saved: new Date().toISOString(), answers: answers() };
    const url = URL.createObjectURL(new Blob([JSON.stringify(told, null, 1) + "\n"], { type: "application/json" }));
    const link = document.createElement("a");
    link.href = url;
    link.download = `audit-${annotator.replace(/[^\p{L}\p{N}]+/gu, "-")}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    tell("Saved.");
  }

  async function load(event) {
    const [file] = event.target.files;
    event.target.value = ""; // so that the same file can be chosen again
    if (!file) {
      return;
    }
    let told;
    try {
      told = JSON.parse(await file.text());
    } catch {
      tell("That file is none that this page saved.");
      return;
    }
    if (told?.format !== format || typeof told.answers !== "object" || told.answers === null) {
      tell("That file is none that this page saved.");
    } else if (told.sheet !== sheet) {
      tell("That file is of another sheet.");
    } else if (Object.keys(answers()).length && !confirm("Replace the answers that are here?")) {
      tell("Nothing was loaded.");
    } else {
      fill(told.answers);
      by("annotator").value = typeof told.annotator === "string" ? told.annotator : "";
      keep();
      tell("Loaded.");
    }
  }

  by("which").append(...sections.map(() => document.createElement("option")));
  by("before").addEventListener("click", () => show(at - 1));
  by("after").addEventListener("click", () => show(at + 1));
  by("which").addEventListener("change", (event) => show(event.target.selectedIndex));
  by("save").addEventListener("click", save);
  by("load").addEventListener("change", load);
  document.addEventListener("input", (event) => {
    if (event.target.name || event.target.id === "annotator") {
      keep();
    }
  });
  window.addEventListener("storage", (event) => { // the same sheet in another tab
    if (event.key === place && event.newValue) {
      restore();
      tell();
    }
  });
  show(restore(), false);
})();
