// The script of all pages. They work without it: it asks for newer states while the page is
// visible, and writes times as ages.
"use strict";

const page = () => document.getElementById("page");
const every = 5000;

// Times. A text is replaced, so that a screen reader reads one time, not two.
const zone = document.getElementById("zone");
let local = localStorage.getItem("zone") === "local";

function pad(n) { return String(n).padStart(2, "0"); }

function clock(date) {
  const [year, month, day, hour, minute, second] = local
    ? [date.getFullYear(), date.getMonth() + 1, date.getDate(), date.getHours(), date.getMinutes(), date.getSeconds()]
    : [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()];
  const time = `${pad(hour)}:${pad(minute)}:${pad(second)}${local ? "" : "Z"}`;
  return Math.abs(Date.now() - date) < 12 * 3600e3 ? time : `${year}-${pad(month)}-${pad(day)} ${time}`;
}

function span(seconds) {
  const steps = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
  const first = steps.findIndex(([, size]) => seconds >= size);
  if (first < 0) return "0s";
  const [unit, size] = steps[first];
  const rest = first + 1 < steps.length && unit !== "m" ? Math.floor(seconds % size / steps[first + 1][1]) : 0;
  return Math.floor(seconds / size) + unit + (rest ? rest + steps[first + 1][0] : "");
}

function writeTimes() {
  for (const element of document.querySelectorAll("time")) {
    const date = new Date(element.dateTime);
    const seconds = Math.round((Date.now() - date) / 1000);
    const age = seconds >= 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
    let text = `${clock(date)} (${age})`;
    if (element.closest(".next")) text = seconds >= 0 ? `now (${clock(date)})` : `in ${span(-seconds)} (${clock(date)})`;
    if (element.textContent !== text) element.textContent = text;
  }
  if (zone) {
    zone.hidden = false;
    zone.textContent = local ? "Local time" : "UTC";
    zone.title = local ? "Show times in UTC" : "Show times in local time";
  }
}

zone?.addEventListener("click", () => {
  local = !local;
  localStorage.setItem("zone", local ? "local" : "utc");
  writeTimes();
});

// Newer states. The server answers 304 if nothing changed.
const tags = new Map();

function ask() {
  if (document.hidden || !page()?.hasAttribute("hx-get")) return;
  htmx.trigger(page(), "refresh");
}

document.addEventListener("htmx:config:request", event => {
  const { request } = event.detail.ctx;
  const tag = tags.get(request.action);
  if (tag) request.headers["If-None-Match"] = tag;
  request.cache = "no-store";
});

document.addEventListener("htmx:after:request", event => {
  const { response, request } = event.detail.ctx;
  document.getElementById("lost").hidden = true;
  if (response.status === 401) location.reload(); // the session has ended
  const tag = response.headers.get("ETag");
  if (tag) tags.set(request.action, tag);
});

document.addEventListener("htmx:after:swap", () => {
  writeTimes();
  document.dispatchEvent(new CustomEvent("page:changed"));
  const events = document.getElementById("events");
  if (events && events.dataset.asked !== tags.get(page().getAttribute("hx-get"))) {
    events.dataset.asked = tags.get(page().getAttribute("hx-get"));
    htmx.trigger(events, "changed");
  }
});

document.addEventListener("htmx:error", () => { document.getElementById("lost").hidden = false; });
document.addEventListener("visibilitychange", ask);
setInterval(ask, every);
setInterval(writeTimes, 1000);
writeTimes();

// Keys.
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const go = { "/": () => document.getElementById("search")?.focus(), o: () => { location.href = "/"; }, g: () => { location.href = "/graph"; } }[event.key];
  if (go) {
    event.preventDefault();
    go();
  }
});
