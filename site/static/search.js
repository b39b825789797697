"use strict";

// search returns the entries of the index that contain all words of the query, best first. A word counts most in a title, then in a heading, then in the text,
// and in titles and headings more if it is a whole word.
function search(index, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return index.map((entry) => ({ entry, words, score: score(entry, words) }))
    .filter((result) => result.score > 0)
    .sort((a, b) => b.score - a.score || a.entry.url.localeCompare(b.entry.url));
}

function score(entry, words) {
  const title = entry.title.toLowerCase();
  const headings = entry.headings.map((heading) => heading.title.toLowerCase());
  const text = entry.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const points = 3 * occurrence(title, word) + Math.max(0, ...headings.map((heading) => occurrence(heading, word))) + Math.min(text.split(word).length - 1, 5);
    if (points === 0) return 0;
    sum += points;
  }
  return sum;
}

function occurrence(line, word) {
  if (!line.includes(word)) return 0;
  return line.split(/[^\p{L}\p{N}_-]+/u).includes(word) ? 15 : 10;
}

// excerpt returns the text around the first occurrence of the longest word of the query.
function excerpt(text, words) {
  const longest = words.reduce((a, b) => (b.length > a.length ? b : a));
  const start = Math.max(0, text.toLowerCase().indexOf(longest) - 80);
  return (start > 0 ? "…" : "") + text.slice(start, start + 240) + (start + 240 < text.length ? "…" : "");
}

// headingsWith returns up to three headings of an entry that contain a word of the query. The title of the page is not among them.
function headingsWith(entry, words) {
  return entry.headings.filter((heading) => heading.title !== entry.title && words.some((word) => heading.title.toLowerCase().includes(word))).slice(0, 3);
}

// element returns a new element with the given children. Texts become text nodes.
function element(name, attributes, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value);
  created.append(...children);
  return created;
}

// marked splits a text so that the words of the query are in elements of their own.
function marked(text, words) {
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  return text.split(new RegExp(`(${pattern})`, "i")).map((part, i) => (i % 2 ? element("mark", {}, part) : part));
}

function show({ entry, words }) {
  const url = "../" + entry.url;
  const item = element("li", {}, element("a", { href: url }, entry.title), entry.section ? ` (${entry.section})` : "");
  for (const heading of headingsWith(entry, words)) {
    item.append(element("div", {}, element("a", { href: `${url}#${heading.id}` }, heading.title)));
  }
  item.append(element("p", {}, ...marked(excerpt(entry.text, words), words)));
  return item;
}

// start connects the form of the search page, which is in a folder of its own, with the index in the root of the site.
async function start() {
  const form = document.getElementById("search");
  const status = document.getElementById("status");
  const results = document.getElementById("results");
  const response = await fetch("../index.json");
  if (!response.ok) throw new Error(`loading the index: ${response.status}`);
  const index = await response.json();
  const update = () => {
    const query = form.elements.q.value.trim();
    const found = search(index, query);
    results.replaceChildren(...found.map(show));
    status.textContent = query ? `${found.length} of ${index.length} pages` : "";
    history.replaceState(null, "", query ? `?q=${encodeURIComponent(query)}` : "?");
  };
  form.addEventListener("submit", (event) => { event.preventDefault(); update(); });
  form.addEventListener("input", update);
  form.elements.q.value = new URLSearchParams(location.search).get("q") || "";
  update();
}

if (typeof document !== "undefined") {
  start().catch((error) => { document.getElementById("status").textContent = `The search is not available: ${error.message}`; });
}
