// The lists of running, waiting and failed operations.

const FAILURES = 50;            // shown on the page
const LISTED = 100;             // the most running, and the most waiting, operations that the status lists
const NAMED = 3;                // of the operations that one waits for

// An element is kept as long as its operation is listed, so that a focused button keeps the focus.
function showOperations(list, operations, fill, emptyText) {
  const known = new Map([...list.children].map((item) => [item.dataset.id, item]));
  if (operations.length === 0) {
    if (!list.querySelector(".empty")) list.replaceChildren(make("li", "empty", emptyText));
    return;
  }
  let place = 0;
  const wanted = new Set(operations.map((operation) => String(operation.id)));
  for (const [id, item] of known) if (!wanted.has(id)) item.remove();
  for (const operation of operations) {
    const item = known.get(String(operation.id)) || newOperation(operation);
    fill(item, operation);
    if (list.children[place] !== item) list.insertBefore(item, list.children[place] || null);
    place += 1;
  }
}

function newOperation(operation) {
  const item = make("li");
  item.dataset.id = operation.id;
  item.id = `operation-${operation.id}`;
  // A title tells operations apart by its end, such as a page number, so it is not shortened.
  const name = operation.source ? path(nameOf(operation.source)) : make("div", "name whole", nameOf(operation.description));
  const button = make("button", "small grave control", "Cancel");
  button.type = "button";
  button.setAttribute("aria-label", `Cancel ${nameOf(titled(operation))}`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    await command(`operations/${operation.id}`, "DELETE");
    if (item.isConnected) button.disabled = false;
  });
  const facts = make("div", "facts");
  facts.append(make("span", "edges"), make("span"));
  item.append(name, button, facts);
  return item;
}

// The source of an operation. One that works on the results of others has none, but a title.
const titled = ({ source, description }) => source ?? description;

// The number of an operation, if others wait for it or it waits for others, and what it waits for.
function edgesOf({ id, needed_by: neededBy, waits_for: ids = [], waits_for_count: count }) {
  const parts = neededBy || ids.length > 0 ? [`#${id}`] : [];
  if (neededBy) parts.push(`needed by ${number(neededBy)}`);
  if (ids.length > 0) {
    const named = ids.slice(0, NAMED).map((other) => ({ id: other, isListed: itemOf(other) !== null }));
    const rest = count - named.length;
    const all = rest > 0 ? [...named, `${number(rest)} more`] : named;
    parts.push(["waits for ", ...all.flatMap((each, index) =>
      index === 0 ? [each] : [index === all.length - 1 ? " and " : ", ", each])]);
  }
  return parts.flatMap((part) => [part, " · "].flat());
}

const itemOf = (id) => $(`operation-${id}`);

// The numbers of listed operations are links. They are replaced only if they change, and keep the focus.
function showEdges(element, operation) {
  const edges = edgesOf(operation);
  const key = JSON.stringify(edges);
  if (key === (element.dataset.key ?? "[]")) return;
  element.dataset.key = key;
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.to : undefined;
  element.replaceChildren(...edges.map((edge) => typeof edge === "string" ? edge : edge.isListed ? linkTo(edge.id) : `#${edge.id}`));
  if (focused) element.querySelector(`[data-to="${focused}"]`)?.focus({ preventScroll: true });
}

function linkTo(id) {
  const link = make("a", "", `#${id}`);
  link.href = `#operation-${id}`;
  link.dataset.to = id;
  link.title = itemOf(id).querySelector(".name").textContent;
  // Without a new entry in the history of the browser. The row takes the focus only from here, not from a click on it.
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const item = itemOf(id);
    item.tabIndex = -1;
    item.focus();
    item.addEventListener("blur", () => item.removeAttribute("tabindex"), { once: true });
  });
  return link;
}

function showFacts(item, facts) { set(item.querySelector(".facts").lastChild, facts.join(" · ")); }

function fillRunning(item, operation) {
  let bar = item.querySelector("progress");
  if (!bar) {
    bar = make("progress");
    bar.max = 1;
    bar.setAttribute("aria-label", `Progress of ${nameOf(titled(operation))}`);
    item.insertBefore(bar, item.lastChild);
    item.classList.add("has-bar");
  }
  if (operation.fraction === undefined) bar.removeAttribute("value"); else bar.value = operation.fraction;
  const facts = [operation.reason || operation.why_it_waits || operation.stage || "beginning"];
  facts.push(time(operation.ran_seconds));
  if (operation.reserved_bytes > 0) facts.push(bytes(operation.reserved_bytes));
  showFacts(item, facts);
}

function fillWaiting(item, operation) {
  const why = operation.waits_for?.length > 0 ? [] : [operation.why_it_waits || "waits for a place"];
  showFacts(item, [...why, time(operation.waited_seconds)]);
}

function showLists(status) {
  showOperations($("running"), status.running, fillRunning, "Nothing runs.");
  showOperations($("waiting"), status.waiting, fillWaiting, "Nothing waits.");
  // Last, when all operations that can be linked to are listed.
  for (const operation of [...status.running, ...status.waiting]) {
    showEdges(itemOf(operation.id).querySelector(".edges"), operation);
  }
  const { counters } = status;
  // If all operations are listed, the list is newer than the count.
  const shown = (all, some) => all > LISTED ? `${some} of ${number(all)}` : some > 0 ? number(some) : "";
  set($("running-count"), shown(counters.running, status.running.length));
  set($("waiting-count"), shown(counters.waiting, status.waiting.length));
}

function changed(operation) {
  if (operation.state === "failed") addFailure(operation);
  if (!lastStatus) return;
  for (const list of ["running", "waiting"]) {
    const index = lastStatus[list].findIndex((other) => other.id === operation.id);
    if (operation.state === list && index >= 0) lastStatus[list][index] = operation;
    else if (operation.state === list && lastStatus.counters[list] < LISTED) lastStatus[list].push(operation);
    else if (index >= 0) lastStatus[list].splice(index, 1);
  }
  repaint();
}

// Several changes before the next frame are painted once.
let isPainting = false;
function repaint() {
  if (isPainting) return;
  isPainting = true;
  requestAnimationFrame(() => { isPainting = false; showLists(lastStatus); });
}

// MARK: Failures

const failures = new Map();
function addFailure(operation) {
  failures.set(operation.id, operation);
  if (failures.size > 1000) failures.delete(failures.keys().next().value);
  showFailures();
}

function showFailures() {
  const all = [...failures.values()].sort((a, b) => b.id - a.id);
  const items = all.slice(0, FAILURES).map((operation) => {
    const item = make("li");
    item.append(make("div", "name", nameOf(titled(operation))), make("div", "why", operation.reason || "failed"));
    return item;
  });
  if (items.length === 0) items.push(make("li", "empty", "None."));
  $("failures").replaceChildren(...items);
  set($("failures-count"), all.length > FAILURES ? `the last ${FAILURES} of ${number(all.length)}` : "");
}

async function loadFailures() {
  failures.clear();
  for (let after = 0; after !== undefined;) {
    const page = await (await ask(`operations?state=failed&limit=250&after=${after}`)).json();
    for (const operation of page.operations) failures.set(operation.id, operation);
    after = page.next_after;
  }
  showFailures();
}
