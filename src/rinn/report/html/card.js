// Tooltips of nodes and edges, and the card of a latent.
const card = byId("card");
let opener = null;
let quietUntil = 0; // no tooltip over a card that has just opened

function describeNode(n) {
  const node = nodes[n], edges = [...node.up, ...node.down].filter((e) => isShown(data.edges[e]));
  const about = data.latents[n];
  return [
    node.name,
    node.role === "latent" && !node.drawn ? "latent, found too rarely to be reported" : node.role,
    about && about.frequency !== null ? `found in ${percent(about.frequency)} of ${data.repeats}` : null,
    edges.length ? count(edges.length, "edge") : "no edge",
    about?.names?.[0] ?? null,
    about?.nodes ?? null,
  ];
}

function describeEdge(e) {
  const edge = data.edges[e], weight = edge[WEIGHT];
  const spread = edge[SPREAD] === null ? "" : ` ± ${short(edge[SPREAD])}`;
  const error = edge[ERROR] === null ? "" : ` ± ${short(edge[ERROR])}`;
  return [
    `${clip(nodes[edge[FROM]].name, 60)} → ${clip(nodes[edge[TO]].name, 60)}`,
    weight === null ? null : `${weight < 0 ? "lowers" : "raises"}: ${signed(weight)}${spread}`,
    edge[FREQUENCY] === null ? null : `found in ${percent(edge[FREQUENCY])} of ${data.repeats}`,
    SUPPORTS[edge[SUPPORT]] ?? null,
    edge[EXCHANGEABLE] ? `the data cannot distinguish it from ${clip(edge[EXCHANGEABLE], 120)}` : null,
    ...describeOrigin(edge),
    edge[Q] === null ? null : `q = ${short(edge[Q])} (expected fraction of such edges due to chance)`,
    edge[LOSS_CHANGE] === null ? null : `loss without it: ${signed(edge[LOSS_CHANGE])}${error}`,
    edge[IS_DRAWN] ? null : "not part of the graph: found too rarely",
  ];
}

const SUPPORTS = {
  effects: "supported by the effects of the inputs",
  covariance: "supported by the covariance of the outputs alone",
  both: "supported by effects and by the covariance of the outputs",
  neither: "supported only together with other edges",
};

const ORIGINS = {
  data: "found without the prior too",
  prior: "there because of the prior",
  forced: "there only because the prior says so",
};

function isFromPrior(edge) {
  return edge[ORIGIN] === "prior" || edge[ORIGIN] === "forced";
}

function describeOrigin(edge) {
  if (!ORIGINS[edge[ORIGIN]]) return [];
  const without = edge[FREQUENCY_WITHOUT] === null ? null
    : `found in ${percent(edge[FREQUENCY_WITHOUT])} of ${data.repeats} without the prior`;
  return [without, edge[IS_DRAWN] ? ORIGINS[edge[ORIGIN]] : null];
}

// Thin lines are hard to hit: what is within a few pixels of the pointer counts too.
function findAt(x, y) {
  for (const [dx, dy] of [[0, 0], [0, -3], [0, 3], [-3, 0], [3, 0]]) {
    const mark = document.elementFromPoint(x + dx, y + dy)?.closest("#graph .edge, #graph .node");
    if (mark) return mark;
  }
  return null;
}

function showDetails(mark, x, y) {
  const number = Number(mark.id.slice(1));
  showTip(mark.id.startsWith("e") ? describeEdge(number) : describeNode(number), x, y);
}

function startPointer() {
  let waiting = false, now = null;
  picture.addEventListener("pointermove", (event) => {
    const { clientX: x, clientY: y } = event;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      if (performance.now() < quietUntil) return;
      const mark = findAt(x, y);
      if (mark !== now) {
        now?.classList.remove("under");
        mark?.classList.add("under");
        now = mark;
      }
      if (mark) showDetails(mark, x, y);
      else hideTip();
    });
  });
  picture.addEventListener("pointerleave", () => {
    now?.classList.remove("under");
    now = null;
    hideTip();
  });
  picture.addEventListener("click", (event) => {
    const mark = event.target.closest(".node");
    if (!mark) return;
    pickNode(Number(mark.id.slice(1)), mark);
  });
}

function pickNode(n, from) {
  if (nodes[n].role === "latent") openCard(n, from);
  else byId("found").textContent = describePaths(n, highlight([n]));
}

// From a node, the arrow keys go along its column, and to a node that it is joined with.
function findNext(n, key) {
  const at = plan.nodes[n];
  if (key === "ArrowUp" || key === "ArrowDown") {
    const column = Object.entries(plan.nodes).map(([m, place]) => [Number(m), place])
      .filter(([m, place]) => place[0] === at[0] && nodes[m].mark && !nodes[m].hidden);
    column.sort((a, b) => a[1][1] - b[1][1]);
    return column[column.findIndex(([m]) => m === n) + (key === "ArrowUp" ? -1 : 1)]?.[0];
  }
  const [along, end] = { ArrowLeft: ["up", FROM], ArrowRight: ["down", TO] }[key] ?? [];
  const edges = along ? nodes[n][along].map((e) => data.edges[e]).filter(isShown) : [];
  return edges.map((edge) => nodes[edge[end]].stands).find((m) => plan.nodes[m] && !nodes[m].hidden);
}

// What a screen reader says of a node: what is drawn, and what the tooltip says.
function labelNode(n) {
  const { mark, name, role } = nodes[n], drawn = mark.querySelector("text").textContent;
  const about = [name.includes(drawn) ? null : drawn, ...describeNode(n)].filter(Boolean).join(", ");
  mark.setAttribute("aria-label", `${about}; ${role === "latent" ? "open its card" : "highlight its paths"}`);
}

function startCard() {
  picture.setAttribute("role", "group");
  nodes.forEach((node, n) => {
    if (!node.mark) return;
    node.mark.querySelector("title").remove(); // the tooltip says more
    const tabindex = node.role === "latent" ? 0 : -1; // arrow keys reach the others
    fill(node.mark, { tabindex, role: "button" }, []);
    labelNode(n);
    node.mark.addEventListener("keydown", (event) => {
      const next = findNext(n, event.key);
      if (event.key === "Enter" || event.key === " ") pickNode(n, node.mark);
      else if (next !== undefined) nodes[next].mark.focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  });
  for (const name of document.querySelectorAll(".opens")) {
    const button = make("button", { type: "button", class: "link" }, name.textContent);
    button.addEventListener("click", () => {
      byId("graph-panel").scrollIntoView({ block: "start" });
      openCard(Number(name.dataset.n), button);
    });
    name.replaceChildren(button);
  }
  startPointer();
}

function openCard(n, from) {
  opener = from ?? opener;
  quietUntil = performance.now() + 300;
  hideTip();
  highlight([n]);
  const close = make("button", { type: "button", class: "close", "aria-label": "Close the card" }, "×");
  close.addEventListener("click", closeCard);
  const head = make("div", { class: "card-head" },
    make("h2", { id: "card-name" }, clip(nodes[n].name, 60)), close);
  card.replaceChildren(head, ...writeCard(n));
  card.hidden = false;
  card.dataset.n = n;
  card.scrollTop = 0;
  card.style.maxHeight = plan.narrow ? "" : `${Math.max(Math.min(plan.depth * zoom, window.innerHeight * 0.78), 420)}px`;
  close.focus({ preventScroll: true });
}

function closeCard() {
  if (card.hidden) return false;
  card.hidden = true;
  clearHighlight();
  opener?.focus({ preventScroll: true });
  return true;
}

function writeCard(n) {
  const about = data.latents[n];
  if (!about) {
    return [make("p", null, "Found too rarely to be reported."), ...listEnds(n)];
  }
  const parts = [];
  if (about.frequency !== null) {
    parts.push(make("p", { class: "card-line" }, `Found in ${percent(about.frequency)} of ${data.repeats}`),
      draw("svg", { class: "fraction", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
        draw("rect", { class: "all", width: 100, height: 4 }),
        draw("rect", { class: "part", width: 100 * about.frequency, height: 4 })));
  }
  if (about.names?.length) {
    parts.push(make("h3", null, "Gene sets"),
      make("ul", { class: "sets" }, ...about.names.map((name) => make("li", null, name))));
  }
  if (about.nodes) parts.push(make("h3", null, "Known nodes"), make("p", { class: "card-line" }, about.nodes));
  parts.push(...listEnds(n));
  if (about.effects) parts.push(...writeEffects(about));
  if (about.activity && about.activity.samples) parts.push(...writeActivity(about.activity));
  const [change, error] = about.loss_change;
  if (change !== null) {
    const spread = error === null ? "" : ` ± ${short(error)}`;
    parts.push(make("p", { class: "note" }, `Held at its mean, the loss of held-out samples changes by ${signed(change)}${spread}.`));
  }
  const verdict = about.identifiable ? "Identifiable: " : "Careful: ";
  parts.push(make("p", { class: about.identifiable ? "note" : "note careful" }, `${verdict}${about.reason}.`));
  return parts;
}

function listEnds(n) {
  return [["up", FROM, "Causes"], ["down", TO, "Acts on"]].map(([along, end, head]) => {
    const edges = nodes[n][along].map((e) => data.edges[e]).filter(isShown);
    edges.sort((a, b) => a[end] - b[end]); // nodes are numbered in the order of the tables
    const list = make("ul", { class: "chips" }, ...edges.map((edge) => writeChip(edge, edge[end])));
    return make("div", { class: `card-${along}` }, make("h3", null, `${head} (${edges.length})`), list);
  });
}

function writeChip(edge, n) {
  const node = nodes[n], weight = edge[WEIGHT];
  const sign = weight > 0 ? "plus" : weight < 0 ? "minus" : "unknown"; // as the edge is drawn
  const inner = [clip(node.name, 28), weight === null ? null : make("span", { class: "value" }, ` ${signed(weight)}`),
    edge[SUPPORT] === "covariance" ? make("span", { class: "value" }, " by covariance") : null,
    isFromPrior(edge) ? make("span", { class: "value" }, ` ${edge[ORIGIN]}`) : null];
  const chip = node.role === "latent"
    ? make("button", { type: "button", class: `chip ${sign}` }, ...inner)
    : make("span", { class: `chip ${sign}`, title: clip(node.name, 300) }, ...inner);
  if (node.role === "latent") chip.addEventListener("click", () => openCard(n));
  return make("li", null, chip);
}

function writeEffects(about) {
  const all = Object.values(data.latents).flatMap((latent) => latent.effects ?? []);
  const most = all.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) || 1;
  const note = `The darkest colour is an effect of ${most}${data.units}, the largest of all latents.`;
  return [make("h3", null, "Effects on the outputs"),
    drawHeat([about.effects], most, { across: 1, cell: about.effects.length > 36 ? 12 : 20 }),
    make("p", { class: "note" }, note)];
}

function writeActivity(activity) {
  const { bins, low, high, quantiles, samples } = activity;
  const most = Math.max(...bins), wide = 10, high_ = 64;
  const bars = bins.map((number, index) => draw("rect", { x: index * wide, width: wide - 1,
    y: high_ - (high_ * number) / most, height: (high_ * number) / most, class: "bar" }));
  const at = (value) => ((value - low) / (high - low || 1)) * bins.length * wide;
  const middle = draw("path", { class: "median", d: `M${at(quantiles[2]).toFixed(1)} 0V${high_}` });
  const label = `Histogram of ${samples} samples from ${low} to ${high}, median ${quantiles[2]}`;
  const svg = draw("svg", { viewBox: `0 0 ${bins.length * wide} ${high_}`, class: "histogram",
    role: "img", "aria-label": label, preserveAspectRatio: "none" }, ...bars, middle);
  const ends = make("div", { class: "ends" }, make("span", null, `${low}`),
    make("span", null, `median ${quantiles[2]}`), make("span", null, `${high}`));
  const note = `${samples} samples; nine in ten are between ${quantiles[0]} and ${quantiles[4]}. ` +
    "Mean 0 and standard deviation 1 over the samples used for fitting.";
  return [make("h3", null, "Activity over the samples"), svg, ends, make("p", { class: "note" }, note)];
}
