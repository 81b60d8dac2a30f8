// Heatmaps, and the network that the reader has selected.
const SHADES = 10;

// Squares side by side, one for each row of values, one cell for each output; one path for each
// shade. `names` of the squares appear in the tooltip.
function drawHeat(rows, most, { across = 12, cell = 10, names = null, label = null } = {}) {
  const outputs = data.outputs.length, columns = Math.ceil(Math.sqrt(outputs));
  const down = Math.ceil(outputs / columns), gap = rows.length > 1 ? 14 : 0;
  const stepX = columns * cell + gap, stepY = down * cell + gap;
  const wide = Math.min(across, rows.length) * stepX + 1, high = Math.ceil(rows.length / across) * stepY + 1;
  const svg = draw("svg", { class: "small", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high,
    role: "img", "aria-label": label ?? describe(rows[0]) });
  rows.forEach((values, row) => {
    const x = (row % across) * stepX, y = Math.floor(row / across) * stepY, paths = {};
    values.forEach((value, o) => {
      const shade = Math.round(SHADES * Math.min(Math.abs(value) / most, 1));
      if (!shade) return;
      const side = cell - 1, at = `M${x + (o % columns) * cell + 1} ${y + Math.floor(o / columns) * cell + 1}`;
      const kind = `${value > 0 ? "plus" : "minus"} ${shade}`;
      paths[kind] = `${paths[kind] ?? ""}${at}h${side}v${side}h-${side}z`;
    });
    svg.append(draw("rect", { class: "frame", x: x + 0.5, y: y + 0.5, width: columns * cell, height: down * cell }),
      draw("g", { class: "cells" }, ...Object.entries(paths).map(([kind, d]) => {
        const [sign, shade] = kind.split(" ");
        return draw("path", { class: sign, "fill-opacity": shade / SHADES, d });
      })));
  });
  svg.addEventListener("pointermove", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const row = Math.floor(point.y / stepY) * across + Math.min(across - 1, Math.floor(point.x / stepX));
    const cx = Math.floor((point.x % stepX) / cell), cy = Math.floor((point.y % stepY) / cell);
    const o = cy * columns + cx;
    if (!rows[row] || cx >= columns || o >= outputs || o < 0) return hideTip();
    const shown = rows[row][o];
    return showTip([data.outputs[o], names ? names[row] : null, shown ? signed(shown) : "0"],
      event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", hideTip);
  return svg;
}

function describe(values) {
  const floor = 0.05 * Math.max(...values.map(Math.abs));
  const parts = [["raises", 1], ["lowers", -1]].map(([verb, sign]) => {
    const order = values.map((value, o) => [sign * value, o]).filter(([value]) => value > floor);
    order.sort((a, b) => b[0] - a[0]);
    const more = order.length > 6 ? ` and ${order.length - 6} more` : "";
    const list = order.slice(0, 6).map(([, o]) => clip(data.outputs[o], 20)).join(", ");
    return order.length ? `${verb} ${list}${more}` : null;
  });
  return parts.filter(Boolean).join("; ") || "no effect";
}

function unpack(text, rows) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const cells = new Int8Array(bytes.buffer), outputs = data.outputs.length;
  return Array.from({ length: rows }, (_, row) => Array.from(cells.subarray(row * outputs, (row + 1) * outputs)));
}

function writeLayers(net) {
  return net.layers.flatMap(([total, active, packed], layer) => {
    if (!active.length) return [];
    const label = `Hidden layer ${layer + 1}: ${active.length} of ${count(total, "node")}`;
    const rows = unpack(packed, active.length).map((row) => row.map((v) => Number(((v * net.most) / 127).toPrecision(3))));
    const heat = drawHeat(rows, net.most, { label, names: active.map((node) => `node ${node + 1}`),
      cell: data.outputs.length > 64 ? 5 : 10 });
    const scroll = make("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": label }, heat);
    return [make("div", { class: "layer" }, make("h4", null, label), scroll)];
  });
}

function writeRow(trial) {
  const { columns, rows } = data.trials;
  const row = rows.find((one) => one[columns.indexOf("trial")] === trial);
  if (!row) return [];
  const cells = columns.flatMap((name, index) => (row[index] === null ? [] :
    [make("div", null, make("dt", null, name), make("dd", null, String(row[index])))]));
  return [make("dl", { class: "settings" }, ...cells)];
}

function showNet(trial) {
  const net = data.nets[trial], body = byId("net-body");
  const head = make("h3", null, `Network ${trial}`);
  if (net) {
    const note = `${net.about}. The darkest colour is an effect of ${net.most}.`;
    const row = make("details", null, make("summary", null, "Its row of trials.csv"), ...writeRow(trial));
    body.replaceChildren(head, make("p", { class: "note" }, note), ...writeLayers(net), row);
  } else {
    const note = "The weights of this network were not kept. Its row of trials.csv:";
    body.replaceChildren(head, make("p", { class: "note" }, note), ...writeRow(trial));
  }
  markNet(trial);
}

function markNet(trial) {
  for (const id of ["scatter", "curves"]) {
    for (const mark of byId(id)?.querySelectorAll("[data-t]") ?? []) {
      mark.classList.toggle("picked", Number(mark.dataset.t) === trial);
    }
  }
  for (const id of ["scatter", "curves"]) {
    const picked = byId(id)?.querySelector(".picked");
    picked?.parentElement.append(picked); // on top of the others
  }
}

function startNetworks() {
  const list = byId("net"), scatter = byId("scatter");
  if (!list || !scatter) return;
  list.addEventListener("change", () => showNet(Number(list.value)));
  const pick = (event) => {
    const mark = event.target.closest("[data-t]");
    if (!mark) return;
    list.value = mark.dataset.t;
    showNet(Number(mark.dataset.t));
  };
  const describeMark = (event) => {
    const mark = event.target.closest("[data-t]");
    if (!mark) return hideTip();
    const kept = data.nets[mark.dataset.t] ? "select it for its heatmaps" : "select it for its settings";
    return showTip([`network ${mark.dataset.t}`, kept], event.clientX, event.clientY);
  };
  for (const chart of [scatter, byId("curves")].filter(Boolean)) {
    chart.addEventListener("click", pick);
    chart.addEventListener("pointermove", describeMark);
    chart.addEventListener("pointerleave", hideTip);
  }
  markNet(Number(list.value));
}
