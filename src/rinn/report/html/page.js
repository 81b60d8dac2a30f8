// The numbers of the page, small helpers, the tooltip, and what several sections share.
const data = JSON.parse(document.getElementById("payload").textContent);
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// Names from the tables go in as text nodes and attribute values, never as markup.
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function make(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function draw(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function percent(fraction) {
  return `${Math.round(100 * fraction)}%`;
}

function signed(value) {
  return `${value < 0 ? "−" : "+"}${Number(Math.abs(value).toPrecision(3))}`;
}

function short(value) {
  return String(Number(value.toPrecision(2)));
}

function clip(name, length) {
  const letters = Array.from(name.split(/\s+/).join(" ").trim() || "(no name)");
  return letters.length <= length ? letters.join("") : `${letters.slice(0, length - 1).join("")}…`;
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

const tip = byId("tip");

function showTip(lines, x, y) {
  tip.replaceChildren(...lines.filter(Boolean).map((line, index) =>
    make("div", index ? null : { class: "first" }, clip(line, 300))));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const left = Math.max(8, Math.min(x + 14, document.documentElement.clientWidth - box.width - 8));
  const below = y + 18 + box.height < window.innerHeight;
  tip.style.left = `${left}px`;
  tip.style.top = `${below ? y + 18 : Math.max(8, y - box.height - 10)}px`;
}

function hideTip() {
  tip.hidden = true;
}

// The reader's choice of colours is kept by the browser, where it lets a page store anything.
function recall() {
  try { return localStorage.getItem("rinn-theme"); } catch { return null; }
}

function remember(theme) {
  try { localStorage.setItem("rinn-theme", theme); } catch { /* a choice for this visit */ }
}

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byId("theme").textContent = `Theme: ${theme}`;
}

function startTheme() {
  const themes = ["auto", "light", "dark"];
  let now = themes.includes(recall()) ? recall() : "auto";
  setTheme(now);
  byId("theme").addEventListener("click", () => {
    now = themes[(themes.indexOf(now) + 1) % themes.length];
    setTheme(now);
    remember(now);
  });
}

// Browsers limit the length of data: links; a blob has no such limit.
function startDownloads() {
  for (const link of document.querySelectorAll("a[download]")) {
    link.addEventListener("click", (event) => {
      event.preventDefault();
      const text = atob(link.getAttribute("href").split(",", 2)[1]);
      const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
      saveBlob(new Blob([bytes], { type: "application/octet-stream" }), link.getAttribute("download"));
    });
  }
}

function startCopy() {
  for (const button of document.querySelectorAll(".copy")) {
    const text = button.parentElement.querySelector("code");
    button.addEventListener("click", () => copyText(text.textContent, button));
  }
}

function start() {
  for (const node of document.querySelectorAll(".with-script, #controls")) node.hidden = false;
  startTheme();
  startGraph();
  startCard();
  startHeatmap();
  startNetworks();
  startTables();
  startPictures();
  startDownloads();
  startCopy();
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    hideTip();
    if (!closeCard()) clearSearch();
  });
  document.documentElement.classList.add("live");
}
