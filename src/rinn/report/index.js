// Filters and sorts the runs; reads nothing but the attributes that the page gave them.
"use strict";
(() => {
  const list = document.getElementById("runs");
  const tools = document.getElementById("tools");
  if (!tools) return;
  const [filter, strategy, sort, count] = ["filter", "strategy", "sort", "count"].map((id) =>
    document.getElementById(id),
  );
  const runs = [...list.children];
  const texts = runs.map((run) => {
    const { name, dataset, strategy } = run.dataset;
    return `${name} ${dataset} ${strategy}`.toLowerCase();
  });
  const order = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

  const valueOf = (run, key) => run.getAttribute(`data-${key}`) ?? "";

  const show = () => {
    const wanted = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    runs.forEach((run, index) => {
      const fits =
        (!strategy.value || run.dataset.strategy === strategy.value) &&
        wanted.every((word) => texts[index].includes(word));
      run.hidden = !fits;
      if (fits) shown += 1;
    });
    const noun = runs.length === 1 ? "run" : "runs";
    count.textContent =
      shown === runs.length ? `${shown} ${noun}` : `${shown} of ${runs.length} ${noun}`;
  };

  const arrange = () => {
    const key = sort.value;
    const down = sort.selectedOptions[0].dataset.order === "descending";
    const sorted = [...runs].sort((one, other) => {
      const [a, b] = [valueOf(one, key), valueOf(other, key)];
      if (!a || !b) return (a ? 0 : 1) - (b ? 0 : 1); // missing values go last
      return (down ? -1 : 1) * order.compare(a, b);
    });
    list.append(...sorted);
  };

  // Numbers sort as numbers also where they have a fraction.
  for (const run of runs) {
    for (const key of ["latents-f1", "edges-f1"]) {
      const value = valueOf(run, key);
      if (value) run.setAttribute(`data-${key}`, Number(value).toFixed(6));
    }
  }
  // Two runs that are picked can be compared.
  const picks = [...list.querySelectorAll(".pick")];
  const compare = document.getElementById("compare");
  const offer = () => {
    const chosen = picks.filter((pick) => pick.checked);
    compare.hidden = chosen.length !== 2;
    for (const pick of picks) pick.disabled = chosen.length === 2 && !pick.checked;
  };
  for (const pick of picks) {
    pick.closest("label").hidden = picks.length < 2;
    pick.addEventListener("change", offer);
  }
  compare.addEventListener("click", () => {
    const chosen = picks.filter((pick) => pick.checked);
    location.assign(`/compare?${new URLSearchParams(chosen.map((pick) => ["run", pick.value]))}`);
  });
  offer();
  tools.hidden = false;
  tools.addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("input", show);
  strategy.addEventListener("change", show);
  sort.addEventListener("change", arrange);
  // A browser that returns to the page keeps what was chosen.
  arrange();
  show();
})();
