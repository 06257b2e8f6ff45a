// Makes pages live: fetches the fragments that the stream of events names, keeps times current, and listens to keys.
// Everything works without it.

const policy = window.trustedTypes?.createPolicy("baton", { createHTML: (html) => html });
const parse = (html) => new DOMParser().parseFromString(policy ? policy.createHTML(html) : html, "text/html");

// Times: relative ones stay current, all of them are in the reader's zone.

const zoned = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long", hourCycle: "h23" });
const short = new Intl.DateTimeFormat(undefined, {
  day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23", timeZoneName: "short",
});
const units = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];

function briefly(seconds) {
  const first = units.findIndex(([size]) => seconds >= size);
  if (first < 0) return "";
  const parts = [];
  for (const [size, unit] of units.slice(first, first + 2)) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0) parts.push(count + unit);
  }
  return parts.join("");
}

function told(time, at) {
  if (!time.classList.contains("ago")) return short.format(at);
  const seconds = (Date.now() - at) / 1000;
  // Seconds count for a minute: what changes all the time distracts.
  const passed = briefly(seconds < 60 ? seconds : seconds - (seconds % 60));
  return passed ? passed + " ago" : "now";
}

function tell(time, at) {
  const words = told(time, at);
  if (time.textContent !== words) time.textContent = words;
}

function tellTimes(root) {
  for (const time of root.querySelectorAll("time")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = zoned.format(at);
    tell(time, at);
  }
}

let ticks = 0;

function keepTimes() {
  if (document.hidden) return;
  ticks += 1;
  for (const time of document.querySelectorAll("time.ago")) {
    const at = new Date(time.dateTime);
    if (ticks % 30 === 0 || Date.now() - at < 61_000) tell(time, at);
  }
}

// Fragments: only what is different is changed, so that nothing else is drawn again. Folds stay open, the focus stays where it is,
// and nobody loses what they are typing.

const isTyping = (element) => element?.matches("textarea, input:not([type=hidden]), select") && element.value !== element.defaultValue;

function become(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  const isAlike = old.nodeType === Node.ELEMENT_NODE && old.nodeName === fresh.nodeName && old.id === fresh.id;
  if (!isAlike) return old.replaceWith(fresh);
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const parts = [...old.childNodes];
  [...fresh.childNodes].forEach((part, index) => (parts[index] ? become(parts[index], part) : old.append(part)));
  parts.slice(fresh.childNodes.length).forEach((part) => part.remove());
}

function replace(id, page) {
  const old = document.getElementById(id);
  const fresh = page.getElementById(id);
  if (!old || !fresh || [...old.querySelectorAll("textarea, input")].some(isTyping)) return;
  for (const fold of old.querySelectorAll("details[id]")) {
    const same = fresh.querySelector("#" + CSS.escape(fold.id));
    if (same) same.open = fold.open;
  }
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const name = focused?.id;
  const link = focused?.getAttribute("href");
  tellTimes(fresh);
  become(old, fresh);
  // Rows may have moved: the focus goes with what it was on.
  const again = name ? document.getElementById(name) : link && old.querySelector(`a[href="${CSS.escape(link)}"]`);
  if (again !== document.activeElement) again?.focus({ preventScroll: true });
}

async function refresh(ids) {
  const here = ids.filter((id) => document.getElementById(id));
  if (here.length === 0) return;
  const address = new URL(location.href);
  address.searchParams.set("fragment", here.join(" "));
  try {
    const answer = await fetch(address, { headers: { accept: "text/html" } });
    if (!answer.ok) return;
    const fresh = parse(await answer.text());
    for (const id of here) replace(id, fresh);
  } catch {
    // The stream connects again by itself, and names what has changed since.
  }
}

const stale = new Set();
let pending = 0;
let lastLook = 0;

// What happens after a pause is shown at once. While much happens, one look every two seconds is enough, and none while nobody
// sees the page.
function soon() {
  if (pending || stale.size === 0 || document.hidden) return;
  pending = setTimeout(async () => {
    const ids = [...stale];
    stale.clear();
    await refresh(ids);
    lastLook = Date.now();
    pending = 0;
    soon();
  }, Math.max(200, lastLook + 2000 - Date.now()));
}

const sign = document.documentElement;
let silence = 0;

function connect(address) {
  const stream = new EventSource(address);
  stream.onopen = () => {
    clearTimeout(silence);
    silence = 0;
    sign.setAttribute("data-live", "yes");
  };
  stream.onerror = () => {
    if (stream.readyState === EventSource.CLOSED) return closed(address);
    // Most streams are back at once.
    silence ||= setTimeout(() => sign.setAttribute("data-live", "no"), 4000);
  };
  stream.addEventListener("fragments", (event) => {
    for (const id of event.data.split(" ")) stale.add(id);
    soon();
  });
}

// A browser does not open a closed stream again: the run is over, the session has ended, or a proxy has no server.
async function closed(address) {
  const answer = await fetch(address, { method: "HEAD" }).catch(() => null);
  if (answer?.status === 200) return connect(address);
  clearTimeout(silence);
  silence = 0;
  if (answer && answer.status < 500) return sign.removeAttribute("data-live");
  sign.setAttribute("data-live", "no");
  setTimeout(closed, 5000, address);
}

function listen(address) {
  connect(address);
  document.addEventListener("visibilitychange", soon);
  // Output grows without events.
  setInterval(() => {
    for (const part of document.querySelectorAll("[data-again]")) stale.add(part.id);
    soon();
  }, 5000);
}

// Keys: j and k go through the items of a list, a and r to the forms that approve and reject.

function step(by) {
  const items = [...document.querySelectorAll("[data-item] a, a[data-item]")].filter((link, index, all) =>
    all.findIndex((other) => other.closest("[data-item]") === link.closest("[data-item]")) === index);
  if (items.length === 0) return;
  const here = items.findIndex((link) => link.closest("[data-item]") === document.activeElement?.closest("[data-item]"));
  const next = here < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(Math.max(here + by, 0), items.length - 1);
  items[next].focus();
}

function open(decision) {
  const fold = document.getElementById("decide-" + decision);
  if (!fold) return;
  if (fold.tagName === "DETAILS") fold.open = true;
  fold.querySelector("textarea, button, input:not([type=hidden])")?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select")) return;
  const keys = { j: () => step(1), k: () => step(-1), a: () => open("approve"), r: () => open("reject") };
  const act = keys[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

document.documentElement.setAttribute("data-script", "yes");
tellTimes(document);
setInterval(keepTimes, 1000);
if (document.body.dataset.events && window.EventSource) listen(document.body.dataset.events);
