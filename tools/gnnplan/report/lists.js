// The sections that are text and tables.
function card(name, value, more, extra) {
  return make("div", { class: "card" }, make("div", { class: "name" }, name), make("div", { class: "value" }, value),
    more ? make("div", { class: "more" }, more) : null, extra || null);
}

function pairs(rows) {
  const list = make("dl");
  for (const [name, value, code] of rows) {
    if (value) list.append(make("dt", {}, name), make("dd", {}, code ? make("code", {}, value) : value));
  }
  return list;
}

function memoryMeter(answer) {
  const meter = make("meter", { min: 0, max: answer.limit_bytes_per_rank, value: answer.peak_bytes_per_rank });
  meter.textContent = answer.memory_text;
  return meter;
}

function showAnswer() {
  const answer = data.answer;
  const range = answer.range_seconds;
  const error = (range ? "" : `± ${Math.round(100 * answer.model_error)} %. `) + answer.range_text;
  const cards = make("div", { class: "cards" },
    card("scheme", answer.scheme, "grid " + answer.grid),
    card(answer.time_name + ", predicted", answer.seconds_text, error),
    answer.measured_text ? card((answer.task === "infer" ? "pass" : "epoch") + ", measured", answer.measured_text,
      `${Number(data.run.epoch.ratio.toPrecision(2))} times the ${predictedText(data.run.epoch.predicted_seconds)} predicted`) : null,
    card("memory per rank", memoryText(answer.peak_bytes_per_rank), answer.memory_text, memoryMeter(answer)),
    card("ranks", String(answer.ranks), answer.ranks_text));
  section("answer", answer.inexact ? make("p", { class: "warning" }, "Inexact: " + answer.inexact) : null, cards,
    pairs([["chosen", answer.configuration], ["how sure", answer.sure], ["compared", answer.evidence],
           ["moved", answer.bytes_text], ["graph", answer.graph], ["model", answer.model], ["machine", answer.machine],
           ["dropout", answer.dropout], ["made by", answer.command_line, true]]));
}

function showWorth() {
  if (data.worth.length === 0) {
    section("worth", note("This plan does not say how much each choice is worth."));
    return;
  }
  const most = Math.max(...data.worth.map((row) => Math.abs(row.more_seconds)));
  const body = make("tbody");
  for (const row of data.worth) {
    const bar = make("span", { class: "bar", style: `width: ${most > 0 ? 100 * Math.abs(row.more_seconds) / most : 0}%` });
    const sign = row.more_seconds < 0 ? "−" : "+";
    body.append(make("tr", { class: row.fits ? (row.tie ? "tie" : "") : "over" },
      make("td", {}, row.chosen),
      make("td", {}, row.instead, row.details ? make("span", { class: "details" }, row.details) : null),
      make("td", { class: "number" }, predictedText(row.seconds)),
      make("td", { class: "number" }, sign + predictedText(Math.abs(row.more_seconds)), bar),
      make("td", {}, row.verdict)));
  }
  const head = make("tr", {}, make("th", {}, "chosen"), make("th", {}, "instead"),
    make("th", { class: "number" }, data.answer.time_name), make("th", { class: "number" }, "more"), make("th", {}, ""));
  section("worth", lead("The plan with one choice made otherwise. Grey ones are ties: the model cannot tell them apart."),
    make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), body)));
}

// A column of the table of steps: its title, its value to sort by, its text.
function stepColumns() {
  const number = (title, key, text) => ({ title, number: true, value: (step) => step[key], text });
  const measured = data.run !== null;
  const columns = [
    { title: "step", value: (step) => step.name, text: (step) => step.name },
    { title: "part", value: (step) => step.index, text: (step) => step.part },
    { title: "work", value: (step) => step.work, text: (step) => step.work },
    number("predicted", "predicted_seconds", (step) => predictedText(step.predicted_seconds)),
  ];
  if (measured) {
    const seconds = (step) => (step.measured_seconds === null ? "" : secondsText(step.measured_seconds));
    columns.push(number("measured", "measured_seconds", seconds),
      number("ratio", "ratio", (step) => (step.ratio === null ? "" : step.ratio.toPrecision(2))));
  }
  columns.push(number("bytes", "total_bytes", (step) => (step.total_bytes ? bytesText(step.total_bytes) : "")),
    number("busiest rank", "max_rank_bytes", (step) => (step.max_rank_bytes ? bytesText(step.max_rank_bytes) : "")),
    number("shape", "rows", (step) => `${countText(step.rows)} × ${countText(step.columns)}`),
    { title: "layout", value: (step) => step.layout, text: (step) => step.layout });
  return columns;
}

function stepRows() {
  return allSteps.map((step, index) => {
    const known = step.measured_seconds !== null && step.predicted_seconds > 0;
    const part = step.phase === "epoch" ? step.section : step.phase + (step.section ? ", " + step.section : "");
    return { ...step, index, part, ratio: known ? step.measured_seconds / step.predicted_seconds : null };
  });
}

const compare = (a, b) => (a === null ? -1 : b === null ? 1 : typeof a === "number" ? a - b : a.localeCompare(b));

function stepTable(columns, rows) {
  const body = make("tbody");
  const heads = columns.map((column) => {
    const button = make("button", { type: "button" }, column.title);
    return make("th", { class: column.number ? "number" : "", scope: "col" }, button);
  });
  const search = make("input", { type: "search", placeholder: "Search steps, e.g. spmm or layer 2", "aria-label": "Search steps" });
  let sorted = null;
  let descending = false;
  const fill = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    const shown = rows.filter((row) => words.every((word) => row.found.includes(word)));
    if (sorted !== null) shown.sort((a, b) => (descending ? -1 : 1) * compare(columns[sorted].value(a), columns[sorted].value(b)));
    body.replaceChildren(...shown.map((row) => row.element));
    heads.forEach((head, i) => head.setAttribute("aria-sort", i !== sorted ? "none" : descending ? "descending" : "ascending"));
  };
  for (const row of rows) {
    const cells = columns.map((column) => make("td", { class: column.number ? "number" : "" }, column.text(row)));
    row.element = make("tr", { class: row.worst > 0 ? "worst" : "" }, ...cells);
    row.found = columns.map((column) => column.text(row)).join(" ").toLowerCase();
  }
  heads.forEach((head, i) => head.firstChild.addEventListener("click", () => {
    descending = sorted === i ? !descending : Boolean(columns[i].number);
    sorted = i;
    fill();
  }));
  search.addEventListener("input", fill);
  fill();
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body);
  return { search, box: make("div", { class: "scroll steps" }, table), find: (text) => { search.value = text; fill(); } };
}

let steps = null;
function showSteps() {
  steps = stepTable(stepColumns(), stepRows());
  const marked = allSteps.some((step) => step.worst > 0) ? " Marked ones err most." : "";
  section("steps", lead("A click on a title sorts, a click on a bar above searches." + marked), steps.search, steps.box);
}

function showProvenance() {
  section("provenance", pairs(data.provenance.map((row) => [row.name, row.value, /made by|fingerprint|^of the/.test(row.name)])),
    note("The data of this page is in it, as JSON in the script element named data; its key plan is the plan's file" +
         (data.plan.schedule ? "" : ", without the schedule, which is large") +
         ". Schedules of further candidates are left out."));
}
