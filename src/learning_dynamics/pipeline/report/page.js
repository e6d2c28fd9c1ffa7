"use strict";
// The table of claims: sorted by its headings, filtered by paper, verdict and text. The page is whole without it.
const table = document.querySelector("table.claims");
const rows = [...table.tBodies[0].rows];
const form = document.getElementById("filter");

form.hidden = false;
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", () => {
  const words = form.elements.text.value.toLowerCase().split(/\s+/);
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = (form.elements.paper.value && row.dataset.paper !== form.elements.paper.value)
      || (form.elements.verdict.value && row.dataset.verdict !== form.elements.verdict.value)
      || !words.every((word) => text.includes(word));
  }
  form.querySelector("output").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} claims`;
});

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

// what moves can be stopped: its still is then the source for everybody, and on demand for nobody but paper
for (const film of document.querySelectorAll(".film")) {
  const source = film.querySelector("source");
  const button = document.createElement("button");
  button.type = "button";
  const set = (moves) => {
    source.media = moves ? "print" : "all";
    button.textContent = moves ? "Stop" : "Play";
  };
  set(!matchMedia("(prefers-reduced-motion: reduce)").matches);
  button.addEventListener("click", () => set(source.media === "all"));
  film.querySelector("picture").after(button);
}

// contents are folded on a small window; paper shows everything
const contents = document.querySelector("nav details");
if (matchMedia("(max-width: 74rem)").matches) contents.open = false;
contents.addEventListener("click", (event) => {
  if (event.target.closest("a") && matchMedia("(max-width: 74rem)").matches) contents.open = false;
});
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  for (const one of folded) one.open = true;
});
addEventListener("afterprint", () => folded.forEach((one) => { one.open = false; }));
