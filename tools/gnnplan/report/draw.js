"use strict";
// Every section of the page uses these: the data, elements, numbers in words, colours, lines across charts.
const data = JSON.parse(document.getElementById("data").textContent);
// Steps come as columns: arrays, or the distinct values and where each of them stands.
const listed = (column) => (column === null || Array.isArray(column) ? column : column.at.map((i) => column.values[i]));
for (const key of Object.keys(data.steps)) data.steps[key] = listed(data.steps[key]);
for (const key of ["steps", "other_bytes", "staging_bytes"]) data.memory_over_steps[key] = listed(data.memory_over_steps[key]);
data.memory_over_steps.steps ??= data.steps.name;
const allSteps = data.steps.name.map((_, i) =>
  Object.fromEntries(["measured_seconds", "worst", ...Object.keys(data.steps)].map((key) => [key, (data.steps[key] || [])[i] ?? null])));
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const narrow = () => window.innerWidth <= 560;

// Children are elements or texts, and texts are never read as HTML.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== null && child !== ""));
  return element;
}

function section(id, ...children) {
  document.getElementById(id).append(...children.filter((child) => child !== null && child !== ""));
}

const note = (text) => (text ? make("p", { class: "note" }, text) : null);
const lead = (text) => make("p", {}, text);
const leaveOut = (id) => document.getElementById(id).remove();

// Three digits with the unit that keeps them short.
function scaled(value, units, base) {
  let unit = 0;
  while (Math.abs(value) >= base && unit + 1 < units.length) {
    value /= base;
    unit += 1;
  }
  return Number(value.toPrecision(3)).toString() + " " + units[unit];
}
const bytesText = (bytes) => scaled(bytes, ["B", "kB", "MB", "GB", "TB", "PB"], 1000);
const memoryText = (bytes) => scaled(bytes, ["B", "KiB", "MiB", "GiB", "TiB"], 1024);
function secondsText(seconds) {
  if (seconds === 0) return "0";
  if (Math.abs(seconds) >= 1) return Number(seconds.toPrecision(3)) + " s";
  return scaled(seconds * 1e9, ["ns", "µs", "ms"], 1000);
}
// Predicted times have as many digits as the machine's figures deserve.
const predictedText = (seconds) => secondsText(Number(seconds.toPrecision(data.answer.digits)));
const countText = (count) => count.toLocaleString("en-US");

const works = ["communication", "SpMM + exchange", "SpMM", "GEMM", "elementwise", "optimiser"];
const workColours = ["#d55e00", "#e6a817", "#2f7fc1", "#12a37a", "#9a9a9a", "#c678a8"];
const tensorColours = ["#2f7fc1", "#e6a817", "#12a37a", "#d55e00", "#c678a8", "#7a6fd0", "#5fb7d4", "#8c6d31"];
const colourOfWork = (work) => workColours[Math.max(0, works.indexOf(work))];
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The same colour, paler: what was measured.
const pale = (colour) => colour + "80";

// Straight lines across a chart with a text each: options.plugins.lines = [{axis, at, text, colour}].
const linesPlugin = {
  id: "lines",
  beforeDatasetsDraw(chart, _, options) { drawLines(chart, (options.all || []).filter((line) => line.axis === "x")); },
  afterDatasetsDraw(chart, _, options) { drawLines(chart, (options.all || []).filter((line) => line.axis === "y")); },
};
function drawLines(chart, lines) {
  const { ctx, chartArea: area } = chart;
  for (const line of lines) {
    const at = chart.scales[line.axis].getPixelForValue(line.at);
    const inside = line.axis === "y" ? at >= area.top - 1 && at <= area.bottom : at >= area.left && at <= area.right + 1;
    if (!inside) continue;
    ctx.save();
    ctx.strokeStyle = line.colour;
    ctx.fillStyle = line.colour;
    ctx.lineWidth = 1.5;
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    if (line.axis === "y") {
      ctx.moveTo(area.left, at);
      ctx.lineTo(area.right, at);
    } else {
      ctx.moveTo(at, area.top);
      ctx.lineTo(at, area.bottom);
    }
    ctx.stroke();
    ctx.font = "12px system-ui, sans-serif";
    ctx.textAlign = line.axis === "y" ? "right" : "center";
    if (line.axis === "y") ctx.fillText(line.text, area.right - 4, at - 5);
    else ctx.fillText(line.text, at, area.top - 4);
    ctx.restore();
  }
}

// The texts of dataset.texts behind its bars.
const textsPlugin = {
  id: "texts",
  afterDatasetsDraw(chart) {
    const { ctx, chartArea: area } = chart;
    chart.data.datasets.forEach((dataset, index) => {
      if (!dataset.texts) return;
      chart.getDatasetMeta(index).data.forEach((bar, at) => {
        ctx.save();
        ctx.font = "12px system-ui, sans-serif";
        ctx.textBaseline = "middle";
        const width = ctx.measureText(dataset.texts[at]).width;
        const outside = bar.x + 6 + width <= area.right + chart.options.layout.padding.right;
        if (outside) {
          ctx.fillStyle = style("--card");
          ctx.fillRect(bar.x + 3, bar.y - 8, width + 6, 16);
        }
        ctx.fillStyle = outside ? style("--ink") : "#ffffff";
        ctx.textAlign = outside ? "left" : "right";
        ctx.fillText(dataset.texts[at], bar.x + (outside ? 6 : -6), bar.y);
        ctx.restore();
      });
    });
  },
};

const charts = [];
// A chart of this height in its own box; `make_config` is asked again when colours change.
function chart(label, height, makeConfig) {
  const canvas = make("canvas", { role: "img", "aria-label": label });
  const box = make("div", { class: "chart", style: `height: ${height}px` }, canvas);
  charts.push({ canvas, makeConfig, drawn: null });
  return box;
}

function drawCharts() {
  Chart.defaults.color = style("--soft");
  Chart.defaults.borderColor = style("--line");
  Chart.defaults.font.family = "system-ui, sans-serif";
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.animation = false;
  Chart.defaults.plugins.legend.labels.boxWidth = 12;
  for (const entry of charts) {
    if (entry.drawn) entry.drawn.destroy();
    entry.drawn = new Chart(entry.canvas, entry.makeConfig());
  }
}
