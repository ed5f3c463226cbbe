// The sections that Chart.js draws.
function timeAxis(extra) {
  return { beginAtZero: true, ticks: { callback: (value) => secondsText(value), maxTicksLimit: narrow() ? 4 : 8 }, ...extra };
}

// A label in two lines where the page is narrow.
function short(label) {
  if (!narrow() || label.length <= 16) return label;
  const cut = label.indexOf(": ") > 0 ? label.indexOf(": ") + 1 : label.indexOf(", ") > 0 ? label.indexOf(", ") + 1 : label.lastIndexOf(" ", 16);
  return cut > 0 ? [label.slice(0, cut), label.slice(cut + 1)] : label;
}

function raceColour(racer) {
  if (!racer.fits) return style("--bad");
  if (racer.kind === "chosen") return style("--accent");
  return racer.tie ? style("--accent") + "90" : style("--soft") + "b0";
}

// Below a name that a faster one has, too, stands what differs.
function racerLabel(racer) {
  const most = narrow() ? 20 : 48;
  const differs = racer.differs.length > most ? racer.differs.slice(0, most - 1) + "…" : racer.differs;
  return [short(racer.name), differs].flat().filter((line) => line !== "");
}

function raceConfig() {
  const race = data.race;
  const seconds = race.map((racer) => racer.seconds);
  const chosen = race.find((racer) => racer.kind === "chosen");
  const logarithmic = Math.max(...seconds) > 40 * Math.min(...seconds) && Math.min(...seconds) > 0;
  const words = (racer) => predictedText(racer.seconds) + (racer.kind === "chosen" ? (narrow() ? "" : ", chosen") : racer.fits ? "" : ", over memory");
  const tie = { axis: "x", at: chosen.seconds * (1 + data.answer.model_error), text: "ties end here", colour: style("--soft") };
  return {
    type: "bar",
    data: {
      labels: race.map(racerLabel),
      datasets: [{ data: seconds, backgroundColor: race.map(raceColour), texts: race.map(words), maxBarThickness: 20 }],
    },
    options: {
      indexAxis: "y",
      layout: { padding: { right: narrow() ? 70 : 110, top: 18 } },
      scales: { x: timeAxis(logarithmic ? { type: "logarithmic", beginAtZero: false } : {}), y: { ticks: { autoSkip: false }, grid: { display: false } } },
      plugins: {
        legend: { display: false },
        lines: { all: [tie] },
        tooltip: { callbacks: {
          title: (items) => race[items[0].dataIndex].name,
          label: (item) => `${predictedText(item.raw)}, ${race[item.dataIndex].ratio.toPrecision(3)} times the chosen plan's`,
          afterLabel: (item) => [race[item.dataIndex].configuration, memoryText(race[item.dataIndex].peak_bytes_per_rank) + " per rank"],
        } },
      },
    },
    plugins: [textsPlugin, linesPlugin],
  };
}

function showRace() {
  section("race", lead("The plan's candidates, the best of each other scheme and the defaults of frameworks, by " +
                       data.answer.time_name + ". Pale blue ones are ties with the chosen plan."),
    chart("Predicted times of alternatives as bars", 60 + (narrow() ? 38 : 32) * data.race.length, raceConfig));
}

// Seconds by part of the epoch and kind of work; measured ones are null where no step of a part was.
function epochParts() {
  const parts = new Map();
  for (const step of allSteps.filter((one) => one.phase === "epoch")) {
    if (!parts.has(step.section)) parts.set(step.section, { predicted: {}, measured: {} });
    const part = parts.get(step.section);
    part.predicted[step.work] = (part.predicted[step.work] || 0) + step.predicted_seconds;
    if (step.measured_seconds !== null) part.measured[step.work] = (part.measured[step.work] || 0) + step.measured_seconds;
  }
  return parts;
}

function epochConfig(parts) {
  const used = works.filter((work) => [...parts.values()].some((part) => part.predicted[work] || part.measured[work]));
  const datasets = [];
  for (const stack of data.run ? ["predicted", "measured"] : ["predicted"]) {
    for (const work of used) {
      const colour = stack === "measured" ? pale(colourOfWork(work)) : colourOfWork(work);
      datasets.push({ label: stack + ": " + work, stack, backgroundColor: colour, maxBarThickness: 16,
        borderColor: colourOfWork(work), borderWidth: stack === "measured" ? 1 : 0, data: [...parts.values()].map((part) => part[stack][work] || 0) });
    }
  }
  return {
    type: "bar",
    data: { labels: [...parts.keys()].map(short), datasets },
    options: {
      indexAxis: "y",
      onClick: (_, items) => { if (items.length) { steps.find([...parts.keys()][items[0].index]); document.getElementById("steps").scrollIntoView(); } },
      scales: { x: timeAxis({ stacked: true, position: parts.size > 20 ? "top" : "bottom" }), y: { stacked: true, ticks: { autoSkip: false }, grid: { display: false } } },
      plugins: { legend: { display: false }, tooltip: { filter: (item) => item.raw > 0, callbacks: {
        title: (items) => (items.length ? [...parts.keys()][items[0].dataIndex] : ""),
        label: (item) => item.dataset.label + ", " + secondsText(item.raw) } } },
    },
  };
}

function keys(names, colourOf) {
  return make("ul", { class: "keys" }, ...names.map((name) =>
    make("li", {}, make("i", { style: "background: " + colourOf(name) }), name)));
}

function showEpoch() {
  const parts = epochParts();
  const run = data.run;
  const heading = document.querySelector("#epoch h2");
  if (data.answer.task === "infer") heading.textContent = "The pass";
  const used = works.filter((work) => allSteps.some((step) => step.phase === "epoch" && step.work === work));
  const rows = parts.size * (run ? 40 : 28);
  section("epoch", lead(run ? "The upper bar of each part is predicted, and the lower, paler one is measured: each step on its slowest rank."
                            : "The prediction for each part, by kind of work."),
    run && run.chosen > 0 ? note(`The run trained candidate ${run.chosen + 1} of the plan, and these are its steps.`) : null,
    keys(used, colourOfWork),
    make("div", { class: "tall" }, chart("Seconds of an epoch by part and kind of work", 50 + rows, () => epochConfig(parts))),
    run && run.waiting_seconds > 0 ? note("Measured steps add up to " + secondsText(run.waiting_seconds) +
      " more than the measured time, as ranks wait at one step for what others spent in another.") : null,
    run ? note(run.hint.text.charAt(0).toUpperCase() + run.hint.text.slice(1)) : null);
}

// Bytes at each position: [name, colour, values].
function memoryLayers(memory) {
  const loading = memory.loading_bytes > 0 ? 1 : 0;
  const count = memory.steps.length + loading;
  const shifted = (values) => (loading ? [0, ...values] : values);
  const layers = [["blocks and requests", "#5b6472", shifted(memory.steps.map(() => memory.fixed_bytes))]];
  memory.tensors.forEach((tensor, i) => {
    const values = new Array(count).fill(0);
    for (let at = tensor.first; at <= tensor.last; ++at) values[at + loading] = tensor.bytes;
    layers.push([tensor.name, tensorColours[i % tensorColours.length], values]);
  });
  layers.push(["other tensors", "#a9b0ba", shifted(memory.other_bytes)], ["buffers of the step", "#e36f8a", shifted(memory.staging_bytes)]);
  if (loading) layers.push(["loading the graph", "#c9b458", [memory.loading_bytes, ...memory.steps.map(() => 0)]]);
  return layers.filter((layer) => layer[2].some((value) => value > 0));
}

function memoryConfig(layers, scaleToLimit) {
  const memory = data.memory_over_steps;
  const labels = memory.loading_bytes > 0 ? ["loading", ...memory.steps] : memory.steps;
  const peak = data.answer.peak_bytes_per_rank;
  const lines = [{ axis: "y", at: peak, text: "peak of the fullest rank " + memoryText(peak), colour: style("--soft") },
                 { axis: "y", at: memory.limit_bytes, text: "limit " + memoryText(memory.limit_bytes), colour: style("--bad") }];
  const highest = Math.max(peak, scaleToLimit ? memory.limit_bytes : 0, ...labels.map((_, at) => layers.reduce((sum, layer) => sum + layer[2][at], 0)));
  const stepSize = 2 ** Math.ceil(Math.log2(highest / 6));
  return {
    type: "bar",
    data: { labels, datasets: layers.map(([label, colour, values]) =>
      ({ label, data: values, backgroundColor: colour, barPercentage: 1, categoryPercentage: 1 })) },
    options: {
      scales: {
        x: { stacked: true, grid: { display: false }, ticks: { maxRotation: 90, minRotation: narrow() ? 90 : 45, maxTicksLimit: narrow() ? 10 : 28, font: { size: 10 } } },
        y: { stacked: true, max: stepSize * Math.ceil(1.06 * highest / stepSize), ticks: { stepSize, callback: (value) => memoryText(value) } },
      },
      interaction: { mode: "index", intersect: false },
      plugins: { legend: { display: false }, lines: { all: lines }, tooltip: { filter: (item) => item.raw > 0, itemSort: (a, b) => b.raw - a.raw,
        callbacks: { label: (item) => item.dataset.label + ": " + memoryText(item.raw) } } },
    },
    plugins: [linesPlugin],
  };
}

function showMemory() {
  const memory = data.memory_over_steps;
  const layers = memoryLayers(memory);
  const colours = new Map(layers.map(([name, colour]) => [name, colour]));
  const box = make("input", { type: "checkbox" });
  box.checked = memory.limit_bytes < 3 * data.answer.peak_bytes_per_rank;
  const drawn = chart("Memory of a rank at each step, by tensor", narrow() ? 340 : 400, () => memoryConfig(layers, box.checked));
  box.addEventListener("change", drawCharts);
  section("memory", lead("Rank 0, which holds the largest dense blocks, keeps so much while it does each step. The limit is " +
                         memoryText(memory.limit_bytes) + "."),
    make("label", { class: "switch" }, box, " show it up to the limit"), keys([...colours.keys()], (name) => colours.get(name)), drawn,
    note("Of the graph's sizes, as a plan does not hold the graph. The room for tensors and buffers is " +
         memoryText(memory.arena_bytes) + ", gaps included."));
}
