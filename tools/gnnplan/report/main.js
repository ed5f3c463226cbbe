// Bytes by rank, the course of a run, and the page as a whole.
function bytesConfig() {
  const { sent, counted } = data.bytes_by_rank;
  const datasets = [{ label: "predicted", data: sent, backgroundColor: style("--accent"), maxBarThickness: 40 }];
  if (counted) datasets.push({ label: "counted", data: counted, backgroundColor: style("--accent") + "70", maxBarThickness: 40 });
  return {
    type: "bar",
    data: { labels: sent.map((_, rank) => String(rank)), datasets },
    options: {
      scales: { x: { title: { display: true, text: "rank" }, grid: { display: false } },
                y: { beginAtZero: true, ticks: { callback: (value) => bytesText(value), maxTicksLimit: 6 } } },
      plugins: { legend: { display: datasets.length > 1 }, tooltip: { callbacks: {
        title: (items) => "rank " + items[0].label, label: (item) => item.dataset.label + ": " + bytesText(item.raw) } } },
    },
  };
}

function showBytes() {
  const { sent, spread_evenly } = data.bytes_by_rank;
  const total = sent.reduce((sum, bytes) => sum + bytes, 0);
  if (total === 0) {
    section("bytes", lead("Nothing moves between ranks."));
    return;
  }
  const ratio = Math.max(...sent) * sent.length / total;
  section("bytes", lead(`Each rank sends so much in ${data.answer.task === "infer" ? "the pass" : "an epoch"}; the busiest one sends ${ratio.toPrecision(3)} times the mean.`),
    chart("Bytes that each rank sends", 240, bytesConfig),
    spread_evenly ? note("These are of edges that are spread evenly, as a plan does not hold the graph. Exactly, " + data.answer.bytes_text + ".") : null);
}

function courseConfig(names, axis, zero) {
  const { course } = data.run;
  const colours = { loss: "#d55e00", seconds: "#2f7fc1" };
  const ofSet = (name) => (name.startsWith("valid") ? "#12a37a" : name.startsWith("test") ? "#c678a8" : "#2f7fc1");
  return {
    type: "line",
    data: { datasets: names.map((name) => ({
      label: name.replace("_", " "),
      data: course.epoch.map((epoch, i) => ({ x: epoch, y: course[name][i] })).filter((point) => point.y !== null),
      borderColor: colours[name] || ofSet(name), backgroundColor: colours[name] || ofSet(name), borderWidth: 1.5,
      pointRadius: course.epoch.length > 60 ? 0 : 2, pointHitRadius: 6 })) },
    options: {
      scales: { x: { type: "linear", min: course.epoch[0], max: course.epoch.at(-1), title: { display: true, text: "epoch" }, ticks: { precision: 0 } },
                y: { beginAtZero: zero, title: { display: true, text: axis }, ticks: axis === "seconds" ? { callback: (value) => secondsText(value) } : {} } },
      plugins: { legend: { display: names.length > 1, labels: { usePointStyle: false } },
        tooltip: { mode: "nearest", callbacks: { title: (items) => "epoch " + items[0].raw.x,
          label: (item) => item.dataset.label + ": " + (axis === "seconds" ? secondsText(item.raw.y) : Number(item.raw.y.toPrecision(4))) } } },
    },
  };
}

function showCourse() {
  const course = data.run ? data.run.course : null;
  if (course === null || course.epoch.length === 0) {
    leaveOut("course");
    return;
  }
  const has = (names) => names.filter((name) => course[name]);
  const panels = [[has(["loss", "valid_loss"]), "loss", false]];
  for (const metric of ["accuracy", "f1", "rocauc"])
    panels.push([has(["train_", "valid_", "test_"].map((set) => set + metric)), metric, false]);
  panels.push([has(["seconds"]), "seconds", true]);
  for (const [names, axis, zero] of panels) {
    if (names.length) section("course", chart(axis + " over epochs", 230, () => courseConfig(names, axis, zero)));
  }
}

showAnswer();
showRace();
showWorth();
showEpoch();
showMemory();
showBytes();
showSteps();
showCourse();
showProvenance();
drawCharts();
dark.addEventListener("change", drawCharts);
