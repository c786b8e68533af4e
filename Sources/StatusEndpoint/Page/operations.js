// The lists of running, waiting and failed operations.

const FAILURES = 50;            // shown on the page
const LISTED = 100;             // the most running, and the most waiting, operations that the status lists

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
  const name = path(nameOf(operation.source));
  const button = make("button", "small grave control", "Cancel");
  button.type = "button";
  button.setAttribute("aria-label", `Cancel ${nameOf(operation.source)}`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    await command(`operations/${operation.id}`, "DELETE");
    if (item.isConnected) button.disabled = false;
  });
  item.append(name, button, make("div", "facts"));
  return item;
}

function fillRunning(item, operation) {
  let bar = item.querySelector("progress");
  if (!bar) {
    bar = make("progress");
    bar.max = 1;
    bar.setAttribute("aria-label", `Progress of ${nameOf(operation.source)}`);
    item.insertBefore(bar, item.lastChild);
    item.classList.add("has-bar");
  }
  if (operation.fraction === undefined) bar.removeAttribute("value"); else bar.value = operation.fraction;
  const facts = [operation.reason || operation.why_it_waits || operation.stage || "beginning"];
  facts.push(time(operation.ran_seconds));
  if (operation.reserved_bytes > 0) facts.push(bytes(operation.reserved_bytes));
  set(item.querySelector(".facts"), facts.join(" · "));
}

function fillWaiting(item, operation) {
  set(item.querySelector(".facts"), `${operation.why_it_waits || "waits for a place"} · ${time(operation.waited_seconds)}`);
}

function showLists(status) {
  showOperations($("running"), status.running, fillRunning, "Nothing runs.");
  showOperations($("waiting"), status.waiting, fillWaiting, "Nothing waits.");
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
    item.append(make("div", "name", nameOf(operation.source)), make("div", "why", operation.reason || "failed"));
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
