(() => {
  "use strict";
  const all = (query, from = document) => [...from.querySelectorAll(query)];
  const steps = all(".step"), scopes = all(".scope"), field = document.querySelector("#search"), found = document.querySelector("#found");
  const off = new Set(), texts = new Map();
  let timer = 0, before = null;
  const textOf = step => {
    if (!texts.has(step)) texts.set(step, step.textContent.toLowerCase());
    return texts.get(step);
  };
  // What was open is remembered while a search opens and closes, and comes back with the empty search.
  const remember = () => before ??= new Map(all("details").map(d => [d, d.open]));
  const restore = () => { before?.forEach((open, d) => { d.open = open; }); before = null; };
  const mark = (needle, list) => {
    if (!window.Highlight || !CSS.highlights) return;
    CSS.highlights.delete("found");
    const ranges = [];
    for (const step of needle ? list.slice(0, 200) : []) {
      const walker = document.createTreeWalker(step, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode());) {
        const text = node.data.toLowerCase();
        for (let at = text.indexOf(needle); at >= 0 && ranges.length < 2000; at = text.indexOf(needle, at + needle.length)) {
          const range = new Range();
          range.setStart(node, at);
          range.setEnd(node, at + needle.length);
          ranges.push(range);
        }
      }
    }
    if (ranges.length) CSS.highlights.set("found", new Highlight(...ranges));
  };
  const apply = () => {
    const needle = field.value.trim().toLowerCase(), list = [];
    if (needle) remember(); else restore();
    for (const step of steps) {
      const hit = !off.has(step.dataset.state) && (!needle || textOf(step).includes(needle));
      step.classList.toggle("gone", !hit);
      if (hit) list.push(step);
      // A match in the head of a step is seen without opening it.
      if (needle) step.open = hit && list.length <= 200 && !step.firstElementChild.textContent.toLowerCase().includes(needle);
    }
    for (const scope of scopes) {
      const any = scope.querySelector(".step:not(.gone)");
      scope.classList.toggle("gone", !any && (needle !== "" || off.size > 0));
      if (needle && any) scope.open = true;
    }
    found.textContent = needle || off.size ? `${list.length} of ${steps.length} steps` : "";
    mark(needle, list);
  };
  field.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(apply, 120); });
  document.addEventListener("keydown", e => {
    if (e.key === "/" && document.activeElement !== field) { e.preventDefault(); field.focus(); field.select(); }
    if (e.key === "Escape" && document.activeElement === field) { field.value = ""; apply(); field.blur(); }
  });
  for (const item of all(".counts li")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...item.childNodes);
    button.setAttribute("aria-pressed", "true");
    button.title = "show or hide these steps";
    item.append(button);
    button.addEventListener("click", () => {
      const hide = !off.delete(item.dataset.state);
      if (hide) off.add(item.dataset.state);
      item.classList.toggle("off", hide);
      button.setAttribute("aria-pressed", String(!hide));
      apply();
    });
  }
  document.querySelector("#expand").addEventListener("click", () => all("#steps details").forEach(d => { d.open = true; }));
  document.querySelector("#collapse").addEventListener("click", () => all("#steps details:not(.root)").forEach(d => { d.open = false; }));
  // A link to a step opens what it is in, and one to #search=TEXT searches.
  const go = () => {
    if (location.hash.startsWith("#search=")) {
      field.value = decodeURIComponent(location.hash.slice(8));
      return apply();
    }
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    target.classList.remove("gone");
    target.scrollIntoView({ block: "center" });
  };
  window.addEventListener("hashchange", go);
  document.querySelector(".tools").hidden = false;
  go();
})();
