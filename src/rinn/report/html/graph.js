// The graph: its layout in the frame, the slider of frequencies, search and zoom.
const NAME = 0, ROLE = 1, DRAWN = 2;
const FROM = 0, TO = 1, FREQUENCY = 2, IS_DRAWN = 3, WEIGHT = 4, SPREAD = 5, LOSS_CHANGE = 6;
const ERROR = 7, Q = 8;
const SUPPORT = 9, EXCHANGEABLE = 10;
const FREQUENCY_WITHOUT = 11, ORIGIN = 12; // only with prior knowledge
const LABELS_FROM = 0.6; // below this zoom, labels of inputs and outputs are hidden
const DEEPEST = 6;
const HALF = 27, DOT = 5, HEAD = 7; // of a latent's width, of a node, of an arrow
const MIN_GAP = 18, OUTER = 1.8, NARROW = 700, NARROW_LABEL = 96, NARROW_LETTERS = 11;

const picture = byId("graph"), stage = byId("stage");
const levels = [...picture.querySelectorAll(".level")].map((group) => ({
  group, frequency: group.dataset.f === undefined ? Infinity : Number(group.dataset.f),
  weak: group.classList.contains("weak"),
}));
const nodes = data.nodes.map((about, n) => ({
  name: about[NAME], role: about[ROLE], drawn: about[DRAWN], mark: byId(`n${n}`), stands: n,
  label: byId(`n${n}`)?.querySelector("text").textContent,
  up: [], down: [], firmest: -1, firmestDrawn: -1,
}));
const marks = data.edges.map((_, e) => byId(`e${e}`));
let folded = data.layout === "folded";
let plan = null; // the layout, and the x of its columns in pixels
let threshold = null; // null: the reported graph; else the lowest frequency shown
let zoom = 1;
let picked = []; // the nodes whose paths are highlighted

data.edges.forEach((edge, e) => {
  const frequency = edge[FREQUENCY] ?? Infinity;
  nodes[edge[FROM]].down.push(e);
  nodes[edge[TO]].up.push(e);
  for (const n of [edge[FROM], edge[TO]]) {
    nodes[n].firmest = Math.max(nodes[n].firmest, frequency);
    if (edge[IS_DRAWN]) nodes[n].firmestDrawn = Math.max(nodes[n].firmestDrawn, frequency);
  }
});

// Columns share the width of the frame: text has the same size on every screen. Where they have no
// room, the frame scrolls.
function makePlan() {
  const layout = data.layouts[folded ? "folded" : "open"], wide = stage.clientWidth - 2;
  const narrow = wide < NARROW, last = layout.columns - 1, boxes = 2 * HALF * (layout.columns - 2);
  const [left, right] = layout.labels.map((label) => (narrow ? Math.min(label, NARROW_LABEL) : label));
  // The outer gaps hold most of the edges.
  const gap = Math.max(MIN_GAP, (wide - left - right - boxes) / (last - 2 + 2 * OUTER));
  const xs = Array.from({ length: last + 1 }, (_, c) => left + (c
    ? gap * (c - 1 + OUTER + (c === last ? OUTER - 1 : 0)) + (c === last ? boxes : HALF * (2 * c - 1)) : 0));
  return { ...layout, narrow, xs, width: xs[last] + right };
}

function layOut() {
  plan = makePlan();
  const members = new Map(data.folds.map((fold) => [fold[0], fold.length - 1]));
  for (const fold of data.folds) for (const n of fold) nodes[n].stands = folded ? fold[0] : n;
  nodes.forEach((node, n) => {
    const at = plan.nodes[n];
    if (!node.mark || !at) return;
    node.mark.setAttribute("transform", `translate(${plan.xs[at[0]].toFixed(1)} ${at[1]})`);
    if (node.role === "latent") return;
    const more = folded && members.has(n) ? ` + ${members.get(n)}${plan.narrow ? "" : " more"}` : "";
    const name = plan.narrow || more ? clip(node.name, more ? 9 : NARROW_LETTERS) : null;
    node.mark.querySelector("text").textContent = name === null && !more ? clipLabel(node) : name + more;
    if (node.mark.hasAttribute("aria-label")) labelNode(n);
  });
  data.edges.forEach((edge, e) => {
    const ends = [edge[FROM], edge[TO]].map((n) => nodes[n].stands), twin = findEdge(...ends);
    const is = Boolean(plan.nodes[ends[0]] && plan.nodes[ends[1]]) && (twin === undefined || twin === e);
    if (!marks[e]) return;
    marks[e].toggleAttribute("display", false);
    if (is) marks[e].setAttribute("d", writePath(e, ...ends));
    else marks[e].setAttribute("display", "none");
  });
  const heads = picture.querySelectorAll(".head"), last = plan.xs.at(-1);
  [plan.xs[0], (plan.xs[0] + last) / 2, last].forEach((x, index) => heads[index].setAttribute("x", x.toFixed(0)));
}

// The name as Python wrote it, which a fold or a phone replaced.
function clipLabel(node) {
  return data.layout === "folded" && node.label.endsWith(" more") ? clip(node.name, 20) : node.label;
}

const edgeNumbers = new Map(data.edges.map((edge, e) => [`${edge[FROM]} ${edge[TO]}`, e]));

function findEdge(from, to) {
  return edgeNumbers.get(`${from} ${to}`);
}

function writeBend([x0, y0], [x1, y1]) {
  const bend = x1 > x0 ? (x1 - x0) / 2 : Math.max((x0 - x1) / 2, 24); // backwards: a loop
  return `C${(x0 + bend).toFixed(0)} ${y0} ${(x1 - bend).toFixed(0)} ${y1} ${x1.toFixed(1)} ${y1}`;
}

function writePath(e, from, to) {
  const [first, y0] = plan.nodes[from], [last, y1] = plan.nodes[to];
  const x0 = plan.xs[first] + (nodes[from].role === "latent" ? HALF : DOT);
  const x1 = plan.xs[last] - (nodes[to].role === "latent" ? HALF : DOT) - 1;
  const head = `M${(x1 - HEAD).toFixed(1)} ${y1 - HEAD / 2}L${x1.toFixed(1)} ${y1}l${-HEAD} ${HEAD / 2}`;
  if (nodes[from].role === "output") {
    const out = Math.min(110, 30 + Math.abs(y1 - y0) / 4), start = plan.xs[first] - DOT;
    return `M${start} ${y0}C${start - out} ${y0} ${x1 - out} ${y1} ${x1} ${y1}${head}`;
  }
  let path = `M${x0.toFixed(1)} ${y0}`, at = [x0, y0];
  for (const [column, y] of plan.routes[e] ?? []) { // level past the nodes of the column
    const x = plan.xs[column];
    path += `${writeBend(at, [x - HALF, y])}H${(x + HALF).toFixed(1)}`;
    at = [x + HALF, y];
  }
  return path + writeBend(at, [x1, y1]) + head;
}

function isShown(edge) {
  if (threshold === null) return edge[IS_DRAWN];
  return edge[FREQUENCY] === null || edge[FREQUENCY] >= threshold;
}

// Only groups and nodes whose state changes are touched, so that thousands of edges cost nothing.
function setThreshold(lowest) {
  threshold = lowest;
  for (const level of levels) {
    const is = lowest === null ? !level.weak : level.frequency >= lowest;
    if (is === level.is) continue;
    if (is) level.group.removeAttribute("display");
    else level.group.setAttribute("display", "none");
    level.is = is;
  }
  let depth = plan.height;
  nodes.forEach((node, n) => {
    if (!node.mark) return;
    const isolated = (lowest === null ? node.firmestDrawn : node.firmest) < (lowest ?? 0);
    const at = plan.nodes[n], hidden = !at || (isolated && at[1] > plan.height);
    if (!hidden) depth = Math.max(depth, at[1] + 24);
    if (isolated !== node.isolated) node.mark.classList.toggle("isolated", isolated);
    if (hidden !== node.hidden) {
      if (hidden) node.mark.setAttribute("display", "none");
      else node.mark.removeAttribute("display");
    }
    Object.assign(node, { isolated, hidden });
  });
  plan.depth = depth;
  setZoom(zoom);
  describeShown();
  if (picked.length) highlight(picked);
}

function describeShown() {
  const status = byId("shown");
  if (!status) return;
  const shown = data.edges.filter(isShown), all = data.edges.length;
  const undrawn = shown.filter((edge) => [edge[FROM], edge[TO]].some((n) => !plan.nodes[nodes[n].stands])).length;
  const rest = undrawn ? `; ${undrawn} of them are not drawn, edges.csv lists them` : "";
  picture.dataset.shown = shown.length;
  byId("line").textContent = `${byId("slider").value}%`;
  status.textContent = threshold === null
    ? `${count(shown.length, "edge")}, the reported graph${rest}`
    : `${shown.length} of ${count(all, "edge")} that were found${rest}`;
  byId("reset").disabled = threshold === null;
}

function startSlider() {
  const slider = byId("slider");
  setThreshold(null);
  if (!slider) return;
  const first = slider.value;
  slider.addEventListener("input", () => setThreshold(slider.value / 100));
  byId("reset").addEventListener("click", () => {
    slider.value = first;
    setThreshold(null);
  });
}

function startFold() {
  const button = byId("fold");
  if (!button) return;
  const show = () => {
    button.setAttribute("aria-pressed", String(folded));
    button.textContent = folded ? "Unfold" : "Fold";
  };
  show();
  button.addEventListener("click", () => {
    folded = !folded;
    show();
    layOut();
    setThreshold(threshold);
  });
}

// All ancestors and descendants of nodes along the edges that are shown.
function findPaths(starts, ways = ["up", "down"]) {
  const paths = { nodes: new Set(starts), edges: new Set() };
  for (const along of ways) {
    const end = along === "up" ? FROM : TO;
    const queue = [...starts], seen = new Set(starts);
    while (queue.length) {
      for (const e of nodes[queue.pop()][along]) {
        const edge = data.edges[e];
        if (!isShown(edge)) continue;
        paths.edges.add(e);
        paths.nodes.add(edge[end]);
        if (!seen.has(edge[end])) {
          seen.add(edge[end]);
          queue.push(edge[end]);
        }
      }
    }
  }
  return paths;
}

// The paths from one node to another.
function findBetween(from, to) {
  const below = findPaths([from], ["down"]), above = findPaths([to], ["up"]);
  const both = (one, other) => new Set([...one].filter((member) => other.has(member)));
  return { nodes: both(below.nodes, above.nodes), edges: both(below.edges, above.edges) };
}

function highlight(starts, paths = findPaths(starts)) {
  clearHighlight();
  picked = starts;
  markHeat(paths.nodes);
  for (const n of paths.nodes) nodes[nodes[n].stands].mark?.classList.add("on");
  for (const n of starts) nodes[nodes[n].stands].mark?.classList.add("picked");
  for (const e of paths.edges) {
    const [from, to] = data.edges[e].slice(0, 2).map((n) => nodes[n].stands);
    marks[findEdge(from, to) ?? e]?.classList.add("on");
  }
  picture.classList.add("lit");
  return paths;
}

function clearHighlight() {
  for (const mark of picture.querySelectorAll(".on")) mark.classList.remove("on", "picked");
  picture.classList.remove("lit");
  picked = [];
  markHeat(null);
}

function describePaths(n, paths) {
  const name = clip(nodes[n].name, 60), fold = folded && data.folds.find((one) => one.includes(n));
  const others = fold ? fold.filter((m) => m !== n).map((m) => clip(nodes[m].name, 24)) : [];
  const more = others.length > 12 ? ` and ${others.length - 12} more` : "";
  const verb = others.length === 1 ? "has" : "have";
  const same = others.length ? ` ${others.slice(0, 12).join(", ")}${more} ${verb} the same edges.` : "";
  return describeWays(n, name, paths) + same;
}

function describeWays(n, name, paths) {
  const node = nodes[n];
  if (!paths.edges.size) return `${name} has no edge that is shown.`;
  const of = (role) => [...paths.nodes].filter((m) => m !== n && nodes[m].role === role).sort((a, b) => a - b);
  const list = (role) => {
    const all = of(role), more = all.length > 6 ? ` and ${all.length - 6} more` : "";
    const names = all.slice(0, 6).map((m) => clip(nodes[m].name, 24)).join(", ");
    return `${count(all.length, role)} (${names}${more})`;
  };
  const through = of("latent").length ? `through ${list("latent")}` : "directly";
  if (node.role === "input") return `${name} acts ${through} on ${list("output")}.`;
  const more = of("output").length ? `; its paths also contain ${list("output")}` : "";
  return `${name} is acted on by ${list("input")} ${through}${more}.`;
}

function search(text, sure) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return clearSearch(false);
  const ends = nodes.map((node, n) => n).filter((n) => nodes[n].role !== "latent" && nodes[n].drawn);
  const same = ends.filter((n) => nodes[n].name.trim().toLowerCase() === wanted);
  const like = ends.filter((n) => nodes[n].name.toLowerCase().includes(wanted));
  const best = same.length ? same : like.length === 1 || sure ? like.slice(0, 1) : [];
  const status = byId("found");
  if (best.length) {
    status.textContent = describePaths(best[0], highlight(best));
    scrollToNode(best[0]);
    return undefined;
  }
  clearHighlight();
  status.textContent = like.length
    ? `${like.length} names contain this; Enter takes ${clip(nodes[like[0]].name, 40)}.`
    : "No input or output has this name.";
  return undefined;
}

// Move a node that is out of sight to the middle of the frame.
function scrollToNode(n) {
  const at = plan.nodes[nodes[n].stands];
  if (!at) return;
  const [x, y] = [plan.xs[at[0]] * zoom - stage.scrollLeft, at[1] * zoom - stage.scrollTop];
  if (x < 0 || x > stage.clientWidth) stage.scrollLeft += x - stage.clientWidth / 2;
  if (y < 0 || y > stage.clientHeight) stage.scrollTop += y - stage.clientHeight / 2;
}

function clearSearch(field = true) {
  if (field) byId("search").value = "";
  byId("found").textContent = "";
  clearHighlight();
}

function startSearch() {
  const field = byId("search");
  field.addEventListener("input", () => search(field.value, false));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") search(field.value, true);
  });
}

// Zoom changes the size of the drawing; the frame around it scrolls.
function setZoom(next) {
  zoom = Math.min(DEEPEST, Math.max(findFit(), next));
  picture.setAttribute("viewBox", `0 0 ${plan.width.toFixed(0)} ${plan.depth.toFixed(0)}`);
  picture.style.width = `${(plan.width * zoom).toFixed(0)}px`;
  picture.style.height = `${(plan.depth * zoom).toFixed(0)}px`;
  picture.dataset.scale = zoom.toFixed(2);
  picture.classList.toggle("far", zoom < LABELS_FROM);
}

// The zoom at which all of the drawing is in the frame.
function findFit() {
  const high = Number.parseFloat(getComputedStyle(stage).maxHeight) || plan.depth;
  return Math.min(1, (high - 4) / plan.depth, (stage.clientWidth - 2) / plan.width);
}

function zoomAt(x, y, factor) {
  const before = zoom, frame = stage.getBoundingClientRect();
  const [across, down] = [x - frame.left + stage.scrollLeft, y - frame.top + stage.scrollTop];
  setZoom(zoom * factor);
  stage.scrollLeft += across * (zoom / before - 1);
  stage.scrollTop += down * (zoom / before - 1);
}

function startZoom() {
  const zoomMiddle = (factor) => {
    const { left, top } = stage.getBoundingClientRect();
    zoomAt(left + stage.clientWidth / 2, top + stage.clientHeight / 2, factor);
  };
  const act = { in: () => zoomMiddle(1.5), out: () => zoomMiddle(1 / 1.5), fit: () => setZoom(0), one: () => setZoom(1) };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => act[button.dataset.zoom]());
  }
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls
    event.preventDefault();
    zoomAt(event.clientX, event.clientY, Math.exp(-event.deltaY / 300));
  }, { passive: false });
  stage.addEventListener("keydown", (event) => {
    const keys = { "+": act.in, "=": act.in, "-": act.out, "0": act.fit, "1": act.one };
    if (!keys[event.key] || event.ctrlKey || event.metaKey) return;
    keys[event.key]();
    event.preventDefault();
  });
  startDrag();
  let wide = stage.clientWidth;
  new ResizeObserver(() => {
    if (stage.clientWidth === wide) return;
    wide = stage.clientWidth;
    layOut();
    setThreshold(threshold);
  }).observe(stage);
}

function startDrag() {
  let from = null;
  picture.addEventListener("pointerdown", (event) => { // a finger scrolls by itself
    if (event.button || event.pointerType !== "mouse") return;
    from = { x: event.clientX + stage.scrollLeft, y: event.clientY + stage.scrollTop };
  });
  window.addEventListener("pointermove", (event) => {
    if (from) stage.scrollTo(from.x - event.clientX, from.y - event.clientY);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, () => { from = null; });
  }
}

function startGraph() {
  layOut();
  startSlider();
  startFold();
  startSearch();
  startZoom();
}
