// The graph: the slider of frequencies, search and zoom.
const NAME = 0, ROLE = 1, DRAWN = 2;
const FROM = 0, TO = 1, FREQUENCY = 2, IS_DRAWN = 3, WEIGHT = 4, SPREAD = 5, LOSS_CHANGE = 6;
const ERROR = 7, Q = 8;
const SUPPORT = 9, EXCHANGEABLE = 10;
const FREQUENCY_WITHOUT = 11, ORIGIN = 12; // only with prior knowledge
const LABELS_FROM = 0.6; // pixels to the unit; below it labels of inputs and outputs are hidden
const DEEPEST = 12;

const picture = byId("graph");
const view = picture.querySelector(".view");
const box = { ...size(picture), depth: null };
const levels = [...picture.querySelectorAll(".level")].map((group) => ({
  group, frequency: group.dataset.f === undefined ? Infinity : Number(group.dataset.f),
  weak: group.classList.contains("weak"), edges: group.childElementCount,
}));
const nodes = data.nodes.map((about, n) => ({
  name: about[NAME], role: about[ROLE], drawn: about[DRAWN], mark: byId(`n${n}`),
  up: [], down: [], firmest: -1, firmestDrawn: -1,
}));
let threshold = null; // null: the reported graph; else the lowest frequency shown
let zoom = { x: 0, y: 0, k: 1 };
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

function size(svg) {
  const { width, height } = svg.viewBox.baseVal;
  return { width, height };
}

function isShown(edge) {
  if (threshold === null) return edge[IS_DRAWN];
  return edge[FREQUENCY] === null || edge[FREQUENCY] >= threshold;
}

// Only groups and nodes whose state changes are touched, so that thousands of edges cost nothing.
function setThreshold(lowest) {
  threshold = lowest;
  let shown = 0, all = 0, depth = box.height;
  for (const level of levels) {
    const is = lowest === null ? !level.weak : level.frequency >= lowest;
    if (is !== level.is) {
      if (is) level.group.removeAttribute("display");
      else level.group.setAttribute("display", "none");
      level.is = is;
    }
    shown += is ? level.edges : 0;
    all += level.edges;
  }
  for (const node of nodes) {
    if (!node.mark) continue;
    const isolated = (lowest === null ? node.firmestDrawn : node.firmest) < (lowest ?? 0);
    const below = node.mark.dataset.below;
    if (below && !isolated) depth = Math.max(depth, Number(below) + 30);
    if (isolated === node.isolated) continue;
    node.mark.classList.toggle("isolated", isolated);
    if (below) node.mark.setAttribute("display", isolated ? "none" : "inline");
    node.isolated = isolated;
  }
  if (depth !== box.depth) {
    box.depth = depth;
    picture.setAttribute("viewBox", `0 0 ${box.width} ${depth}`);
    requestAnimationFrame(fitLabels); // not now: it would lay out the page within the event
  }
  picture.dataset.shown = shown;
  describeShown(shown, all);
  if (picked.length) highlight(picked);
}

function describeShown(shown, all) {
  const status = byId("shown");
  if (!status) return;
  byId("line").textContent = `${byId("slider").value} %`;
  status.textContent = threshold === null
    ? `${count(shown, "edge")}, the reported graph`
    : `${shown} of ${count(all, "edge")} that were found`;
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
  for (const n of paths.nodes) nodes[n].mark?.classList.add("on");
  for (const n of starts) nodes[n].mark?.classList.add("picked");
  for (const e of paths.edges) byId(`e${e}`)?.classList.add("on");
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
  const node = nodes[n], name = clip(node.name, 60);
  if (!paths.edges.size) return `${name} has no edge that is shown.`;
  const of = (role) => [...paths.nodes].filter((m) => m !== n && nodes[m].role === role).sort((a, b) => a - b);
  const list = (role) => {
    const all = of(role), more = all.length > 6 ? ` and ${all.length - 6} more` : "";
    const names = all.slice(0, 6).map((m) => clip(nodes[m].name, 24)).join(", ");
    return `${count(all.length, role)} (${names}${more})`;
  };
  const through = of("latent").length ? `through ${list("latent")}` : "directly";
  if (node.role === "input") return `${name} acts ${through} on ${list("output")}.`;
  const more = of("output").length ? `, and its way goes through or on to ${list("output")}` : "";
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
    return undefined;
  }
  clearHighlight();
  status.textContent = like.length
    ? `${like.length} names contain this; Enter takes ${clip(nodes[like[0]].name, 40)}.`
    : "No input or output has this name.";
  return undefined;
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

function setZoom(next) {
  const k = Math.min(DEEPEST, Math.max(1, next.k));
  const room = box.depth ?? box.height;
  // The drawing may not be lost beyond the frame.
  const keep = (at, length) => Math.min(length / 3, Math.max(length * (2 / 3 - k), at));
  zoom = k === 1 ? { x: 0, y: 0, k } : { x: keep(next.x, box.width), y: keep(next.y, room), k };
  view.setAttribute("transform", `translate(${zoom.x} ${zoom.y}) scale(${zoom.k})`);
  picture.classList.toggle("zoomed", k > 1);
  fitLabels();
}

function zoomAt(point, factor) {
  const k = Math.min(DEEPEST, Math.max(1, zoom.k * factor)), by = k / zoom.k;
  setZoom({ k, x: point.x - (point.x - zoom.x) * by, y: point.y - (point.y - zoom.y) * by });
}

function toPicture(x, y) {
  return new DOMPoint(x, y).matrixTransform(picture.getScreenCTM().inverse());
}

function fitLabels() {
  const matrix = picture.getScreenCTM();
  if (matrix) picture.classList.toggle("far", matrix.a * zoom.k < LABELS_FROM);
}

function fitHeight() {
  const wide = picture.clientWidth, most = Math.max(420, 0.66 * window.innerHeight);
  const high = Math.min(most, Math.max(300, (box.height * wide) / box.width));
  picture.style.height = `${Math.round(high)}px`;
  fitLabels();
}

function startZoom() {
  const middle = () => ({ x: box.width / 2, y: (box.depth ?? box.height) / 2 });
  const act = { in: () => zoomAt(middle(), 1.5), out: () => zoomAt(middle(), 1 / 1.5),
    fit: () => setZoom({ x: 0, y: 0, k: 1 }) };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => act[button.dataset.zoom]());
  }
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the wheel alone scrolls the page
    event.preventDefault();
    zoomAt(toPicture(event.clientX, event.clientY), Math.exp(-event.deltaY / 300));
  }, { passive: false });
  byId("stage").addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    const keys = { "+": act.in, "=": act.in, "-": act.out, "0": act.fit };
    const [dx, dy] = (zoom.k > 1 && step[event.key]) || [0, 0];
    if (dx || dy) setZoom({ ...zoom, x: zoom.x + dx, y: zoom.y + dy });
    else if (keys[event.key] && !event.ctrlKey && !event.metaKey) keys[event.key]();
    else return;
    event.preventDefault();
  });
  startDrag();
  window.addEventListener("resize", fitHeight);
  fitHeight();
}

function startDrag() {
  let from = null;
  picture.addEventListener("pointerdown", (event) => {
    if (zoom.k === 1 || event.button) return;
    from = { point: toPicture(event.clientX, event.clientY), x: zoom.x, y: zoom.y };
  });
  window.addEventListener("pointermove", (event) => {
    if (!from) return;
    const point = toPicture(event.clientX, event.clientY);
    setZoom({ k: zoom.k, x: from.x + point.x - from.point.x, y: from.y + point.y - from.point.y });
  });
  for (const end of ["pointerup", "pointercancel"]) {
    window.addEventListener(end, () => { from = null; });
  }
}

function startGraph() {
  startSlider();
  startSearch();
  startZoom();
}
