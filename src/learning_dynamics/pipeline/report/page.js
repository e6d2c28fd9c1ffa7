"use strict";
// The table of claims: sorted by its headings, filtered by paper, verdict and text. Pages are whole without it.
const table = document.querySelector("table.claims");
const unfold = () => {
  const place = decodeURIComponent(location.hash.slice(1));
  const named = document.getElementById(place.split("?")[0]);
  const folded = named?.querySelector("details.judged:not([open]), details.whole:not([open])");
  if (folded) {
    folded.open = true;
    named.scrollIntoView();  // where there was no room to scroll to it before
  }
  // what has its place on a paper's page is also found from the first
  if (place.includes(".") && !document.getElementById(place)) table?.querySelector(`a[href$="#${CSS.escape(place)}"]`)?.click();
};
addEventListener("hashchange", unfold);
unfold();

if (table) {
  const rows = [...table.tBodies[0].rows];
  const form = document.getElementById("filter");

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  const filter = () => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const text = `${row.textContent} ${row.dataset.claim}`.toLowerCase();
      row.hidden = (form.elements.paper.value && row.dataset.paper !== form.elements.paper.value)
        || (form.elements.verdict.value && row.dataset.verdict !== form.elements.verdict.value)
        || !words.every((word) => text.includes(word));
    }
    form.querySelector("output").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
  };
  // the filter is in the address, behind the section's name: a file has no other place for it
  form.addEventListener("input", () => {
    filter();
    const given = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    location.replace(given.size ? `#claims?${given}` : "#claims?");
  });
  const follow = () => {
    const [place, given] = location.hash.slice(1).split("?");
    if (place === "claims" && given) {
      const typing = form.contains(document.activeElement);
      if (!typing) form.reset();
      for (const [name, value] of new URLSearchParams(given)) if (form.elements[name]) form.elements[name].value = value;
      filter();
      if (!typing) form.scrollIntoView();
    }
  };
  addEventListener("hashchange", follow);
  follow();

  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    heading.replaceChildren(button);
    const key = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();
    button.addEventListener("click", () => {
      const down = heading.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const sorted = rows.toSorted((a, b) => key(a).localeCompare(key(b), "en", { numeric: true }));
      if (heading.textContent === "Predicted" || heading.textContent === "Measured") {
        sorted.sort((a, b) => (key(a) === "" ? Infinity : +key(a)) - (key(b) === "" ? Infinity : +key(b)) || 0);
      }
      table.tBodies[0].append(...(down ? sorted.reverse() : sorted));
    });
  });
}

// what moves can be stopped: its still is then the source for everybody, and on demand for nobody but paper
for (const film of document.querySelectorAll(".film")) {
  const source = film.querySelector("source");
  const button = document.createElement("button");
  button.type = "button";
  const set = (moves) => {
    source.media = moves ? "print" : "all";
    button.textContent = moves ? "Stop" : "Play";
    button.setAttribute("aria-label", `${button.textContent}: ${film.closest("figure").querySelector("h3").textContent}`);
  };
  set(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  button.addEventListener("click", () => set(source.media === "all"));
  film.querySelector("picture").after(button);
}

// the contents mark what is being read
const here = [...document.querySelectorAll('nav a[href^="#"]')];
const links = new Map(here.map((link) => [link.hash.slice(1), link]));
// not by scrollIntoView: the keyboard would go on from here, and not from what is read
const show = (link) => {
  const nav = link.closest("nav");
  const [box, room] = [link.getBoundingClientRect(), nav.getBoundingClientRect()];
  nav.scrollTop += Math.min(box.top - room.top, 0) + Math.max(box.bottom - room.bottom, 0);
};
const read = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    for (const link of links.values()) link.removeAttribute("aria-current");
    links.get(entry.target.id).setAttribute("aria-current", "true");
    if (matchMedia("(min-width: 74.01rem)").matches) show(links.get(entry.target.id));
  }
}, { rootMargin: "-10% 0px -85% 0px" });
for (const id of links.keys()) read.observe(document.getElementById(id));

// contents are folded on a small window; paper shows how claims were judged
const contents = document.querySelector("nav details");
if (matchMedia("(max-width: 74rem)").matches) contents.open = false;
contents.addEventListener("click", (event) => {
  if (event.target.closest("a") && matchMedia("(max-width: 74rem)").matches) contents.open = false;
});
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:is(.judged, .whole, .scales):not([open])")];
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => folded.forEach((one) => { one.open = false; }));
