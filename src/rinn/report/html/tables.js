// Tables that sort, filter, copy and download; nothing but what the page shows goes out.
const FORMULA = /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]./s;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const MIN_FILTERED = 9; // rows; fewer are seen at a glance

// A spreadsheet must take no text for a formula: as rinn's own CSV files, with a quote before it.
function guard(text) {
  const bare = text.replace(/^'+/, "");
  return FORMULA.test(bare) && !NUMBER.test(bare) ? `'${text}` : text;
}

function writeTable(rows, between) {
  const cell = (text) => {
    const safe = guard(text);
    return /["\n\r\t,]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return rows.map((row) => row.map(cell).join(between)).join("\n") + "\n";
}

function readCell(cell) {
  const names = [...cell.querySelectorAll(".name")];
  if (names.length) return names.map((name) => name.title || name.textContent).join("; ");
  return cell.querySelector("svg")?.getAttribute("aria-label") ?? cell.textContent.trim();
}

function readRows(table) {
  const shown = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  return [...table.tHead.rows, ...shown].map((row) => [...row.cells].map(readCell));
}

function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function copyText(text, button) {
  const before = button.dataset.label ?? button.textContent;
  button.dataset.label = before;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no clipboard for pages without an origin
    const area = make("textarea", { class: "offscreen", "aria-hidden": "true" }, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = before; }, 2000);
}

function compareCells(a, b) {
  const [x, y] = [a, b].map((text) => Number.parseFloat(text.replace(",", "")));
  if (Number.isFinite(x) && Number.isFinite(y) && x !== y) return x - y;
  return a.localeCompare(b, undefined, { numeric: true, sensitivity: "base" });
}

function startSorting(table) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0], first = [...body.rows];
  heads.forEach((head, column) => {
    const button = make("button", { type: "button", class: "sort" }, ...head.childNodes);
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const next = { null: "ascending", ascending: "descending" }[head.getAttribute("aria-sort")];
      for (const other of heads) other.removeAttribute("aria-sort");
      if (next) head.setAttribute("aria-sort", next);
      const keyed = first.map((row) => [row, readCell(row.cells[column])]);
      if (next) keyed.sort(([, a], [, b]) => (next === "ascending" ? 1 : -1) * compareCells(a, b));
      body.append(...keyed.map(([row]) => row));
    });
  });
}

function makeFilter(table, label) {
  const rows = [...table.tBodies[0].rows], texts = rows.map((row) => [...row.cells].map(readCell).join(" ").toLowerCase());
  const status = make("span", { class: "status", role: "status" });
  const field = make("input", { type: "search", placeholder: "filter", "aria-label": `Filter: ${label}`, autocomplete: "off" });
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, r) => {
      row.hidden = !words.every((word) => texts[r].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    status.textContent = words.length ? `${shown} of ${rows.length}` : "";
  });
  return [field, status];
}

function startTables() {
  for (const table of document.querySelectorAll("main .scroll > table")) {
    const box = table.parentElement, label = box.getAttribute("aria-label");
    if (!table.tHead || !table.tBodies[0].rows.length) continue;
    startSorting(table);
    const copy = make("button", { type: "button", class: "small", "aria-label": `Copy: ${label}` }, "Copy");
    copy.addEventListener("click", () => copyText(writeTable(readRows(table), "\t"), copy));
    const save = make("button", { type: "button", class: "small", "aria-label": `Save as CSV: ${label}` }, "CSV");
    const name = label.toLowerCase().replace(/[^a-z]+/g, "-").replace(/^(list-of-)?-?|-$/g, "") || "table";
    save.addEventListener("click", () =>
      saveBlob(new Blob([writeTable(readRows(table), ",")], { type: "text/csv" }), `${name}.csv`));
    const filter = table.tBodies[0].rows.length >= MIN_FILTERED ? makeFilter(table, label) : [];
    box.before(make("div", { class: "table-tools" }, ...filter, copy, save));
  }
}
