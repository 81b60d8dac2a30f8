// The heatmap of net effects: tooltip, cursor, names that stay in sight, links with the graph.
const heat = byId("heat");
let cell = null; // [row, column] that the reader has selected

function startHeatmap() {
  if (!heat) return;
  const bytes = Uint8Array.from(atob(data.heat.cells), (letter) => letter.charCodeAt(0));
  data.heat.values = new Int16Array(bytes.buffer);
  const box = byId("heat-box");
  box.addEventListener("scroll", () => {
    const [x, y] = [box.scrollLeft, box.scrollTop];
    heat.querySelector(".row-names").setAttribute("transform", `translate(${x} 0)`);
    heat.querySelector(".column-names").setAttribute("transform", `translate(0 ${y})`);
    heat.querySelector(".corner").setAttribute("transform", `translate(${x} ${y})`);
  }, { passive: true });
  heat.addEventListener("pointermove", (event) => {
    const at = findCell(event);
    if (at) showTip(describeCell(at), event.clientX, event.clientY);
    else hideTip();
  });
  heat.addEventListener("pointerleave", hideTip);
  heat.addEventListener("click", (event) => selectCell(findCell(event)));
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!step) return;
    event.preventDefault();
    const [row, column] = cell ?? [0, 0], { inputs, outputs } = data.heat;
    const keep = (at, length) => Math.max(0, Math.min(length - 1, at));
    selectCell(cell ? [keep(row + step[0], inputs.length), keep(column + step[1], outputs.length)] : [0, 0]);
    scrollToCell(box);
  });
}

function findCell(event) {
  const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(heat.getScreenCTM().inverse());
  const { left, top, cell: side } = heat.dataset, box = byId("heat-box");
  if (point.x < Number(left) + box.scrollLeft || point.y < Number(top) + box.scrollTop) return null;
  const row = Math.floor((point.y - top) / side), column = Math.floor((point.x - left) / side);
  return row < data.heat.inputs.length && column < data.heat.outputs.length ? [row, column] : null;
}

function describeCell([row, column]) {
  const { inputs, outputs, values } = data.heat, from = inputs[row], to = outputs[column];
  const between = findBetween(from, to), latents = [...between.nodes].filter((n) => nodes[n].role === "latent");
  const names = latents.map((n) => clip(nodes[n].name, 20)).join(", ");
  const through = names ? `in the graph through ${clip(names, 120)}` : "a direct edge in the graph";
  return [
    `${clip(nodes[from].name, 60)} → ${clip(nodes[to].name, 60)}`,
    `${signed(values[row * outputs.length + column] / 100)} standard errors`,
    between.edges.size ? through : "no path in the graph",
  ];
}

function selectCell(at) {
  cell = at;
  const cursor = byId("cursor"), link = byId("to-graph");
  link.hidden = !at;
  cursor.setAttribute("display", at ? "inline" : "none");
  if (!at) return clearHighlight();
  const [row, column] = at, { left, top, cell: side } = heat.dataset;
  cursor.setAttribute("x", Number(left) + column * side);
  cursor.setAttribute("y", Number(top) + row * side);
  byId("cell").textContent = describeCell(at).join("; ");
  const [from, to] = [data.heat.inputs[row], data.heat.outputs[column]];
  return highlight([from, to], findBetween(from, to));
}

function scrollToCell(box) {
  const { left, top, cell: side } = heat.dataset, [row, column] = cell;
  const x = column * side, y = row * side, wide = box.clientWidth - left - 2 * side;
  const high = box.clientHeight - top - 2 * side;
  box.scrollLeft = Math.max(x - wide, Math.min(x, box.scrollLeft));
  box.scrollTop = Math.max(y - high, Math.min(y, box.scrollTop));
}

// The names of highlighted inputs and outputs stand out here too.
function markHeat(lit) {
  if (!heat) return;
  heat.classList.toggle("lit", lit !== null);
  for (const [group, numbers] of [[".row-names", data.heat.inputs], [".column-names", data.heat.outputs]]) {
    for (const text of heat.querySelectorAll(`${group} text`)) {
      text.classList.toggle("on", Boolean(lit?.has(numbers[text.dataset.n])));
    }
  }
}

function writeHeat() {
  const { inputs, outputs, values } = data.heat;
  const rows = inputs.map((n, row) => [nodes[n].name,
    ...outputs.map((_, column) => String(values[row * outputs.length + column] / 100))]);
  return writeTable([["input", ...outputs.map((n) => nodes[n].name)], ...rows], ",");
}
