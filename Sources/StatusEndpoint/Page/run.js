// The state and counters of the run, and the buttons that control it.

const stateKinds = { running: "good", paused: "warn", stopping: "warn", finished: "" };
const outcomeKinds = { complete: "good", failed: "grave", stopped: "warn" };
const levelKinds = { normal: "good", warning: "warn", critical: "grave" };

function showRun(status) {
  const { counters, memory, rates, limits } = status;
  setState(status);
  const sources = status.sources.length > 2 ? `${status.sources[0]} and others` : status.sources.join(", ");
  const since = `${status.outcome ? "took" : "for"} ${time(status.elapsed_seconds)}`;
  set($("about"), `${sources} · process ${status.pid} · ${status.version} · ${since}`);
  showPressure(status.pressure);
  const done = counters.made + counters.up_to_date + counters.passed_over + counters.failed;
  const total = counters.total;
  set($("done"), number(done));
  set($("done-of"), total === undefined ? `of ${number(counters.found)} found so far` : `of ${number(total)} sources`);
  set($("eta"), status.eta_seconds === undefined ? "" : `about ${time(status.eta_seconds)} to go`);
  if (total) { $("progress").value = done / total; } else { $("progress").removeAttribute("value"); }
  const rows = [
    ["Made", number(counters.made)], ["Up to date", number(counters.up_to_date)],
    ["Passed over", number(counters.passed_over)], ["Failed", number(counters.failed), counters.failed > 0],
    ["Cancelled", number(counters.cancelled)], ["Thumbnails", number(counters.thumbnails)],
    ["Written", fileSize(counters.bytes_written)], ["Thumbnails / s, mean", perSecond(rates.thumbnails_per_second)],
    ["Read / s, mean", fileSize(rates.bytes_per_second)],
  ];
  const dependants = counters.cancelled_for_dependencies;
  if (dependants > 0) rows.push(["Cancelled for a dependency", number(dependants), true]);
  showCounters(rows);
  const forOthers = counters.waiting_for_dependencies;
  set($("queue-now"), `${counters.running} of ${limits.max} run · ${counters.waiting} of ${limits.backlog} wait`
    + (forOthers > 0 ? `, ${forOthers} for others` : ""));
  set($("memory-now"), `${bytes(memory.reserved_bytes)} of ${bytes(memory.budget_bytes)} reserved`);
  showLimits(limits);
  showOutcome(status);
}

function setState({ state, paused_by: causes = [], waits_for: others = [], stop_reason: reason, outcome }) {
  let text = state;
  if (others.length > 0) text = `waits until ${others.join(" and ")} has ended`;
  if (state === "stopping" && reason) text = `stopping: ${reason}`;
  if (causes.includes("output")) text = "paused: clients have much to read";
  if (causes.includes("pressure")) text = causes.includes("user") ? "paused, memory is tight" : "paused: memory is tight";
  if (outcome) text = "ended";
  set($("state"), text);
  $("state").dataset.kind = stateKinds[state];
  document.title = `${outcome ? outcome.text : text} · thumbjob`;
  // Only the user's own pause can be resumed here.
  set($("pause"), causes.includes("user") ? "Resume" : "Pause");
  const ends = state === "stopping" || state === "finished";
  for (const control of ["pause", "cancel-all", "fewer", "max", "more"]) $(control).disabled = ends;
}

// The end of the run: what came out of it and why. Nothing on the page changes any more.
function showOutcome({ outcome, counters, rates, elapsed_seconds: elapsed }) {
  if (!outcome) return;
  document.body.dataset.link = "ended";
  showNotice("");
  $("outcome").dataset.kind = outcomeKinds[outcome.result];
  const { thumbnails } = counters;
  const facts = [`in ${time(elapsed)}`, `exit status ${outcome.exit_status}`];
  if (thumbnails > 0) {
    facts.unshift(`${counted(thumbnails, "thumbnail")}, ${fileSize(counters.bytes_written)}`);
    facts.splice(2, 0, `${perSecond(rates.thumbnails_per_second)} a second`);
  }
  $("outcome").replaceChildren(make("strong", "", outcome.text), make("p", "quiet", facts.join(" · ")));
}

// The job does not answer. That is not its end, which it would have reported.
function showLost(text) {
  document.body.dataset.link = "lost";
  showNotice(text);
  set($("state"), "no answer");
  set($("eta"), "");
  $("state").dataset.kind = "grave";
  document.title = "no answer · thumbjob";
  for (const control of ["pause", "cancel-all", "fewer", "max", "more"]) $(control).disabled = true;
}

function showPressure(pressure) {
  const pill = $("pressure");
  pill.hidden = false;
  pill.dataset.kind = levelKinds[pressure.level];
  const cause = pressure.level !== "normal" && pressure.cause ? `: ${pressure.cause}` : "";
  set(pill, `memory ${pressure.level}${cause}`);
  pill.title = `from ${pressure.source}`;
}

function showCounters(rows) {
  const list = $("counters");
  rows.forEach(([label, value, isBad], index) => {
    let group = list.children[index];
    if (!group) {
      group = make("div");
      group.append(make("dt", "", label), make("dd"));
      list.append(group);
    }
    set(group.lastChild, value);
    group.lastChild.className = isBad ? "bad" : "";
  });
}

$("pause").addEventListener("click", () => {
  const isPaused = $("pause").textContent === "Resume";
  command(isPaused ? "resume" : "pause", "POST", isPaused ? "Resumed." : "Paused. Running operations will finish.");
});

// Cancelling everything needs a second click within four seconds.
let disarm = 0;
$("cancel-all").addEventListener("click", () => {
  const button = $("cancel-all");
  clearTimeout(disarm);
  const rest = () => { button.classList.remove("armed"); set(button, "Cancel all"); };
  if (button.classList.contains("armed")) {
    rest();
    command("cancel", "POST", "Everything is being cancelled.");
  } else {
    button.classList.add("armed");
    set(button, "Really cancel all?");
    disarm = setTimeout(rest, 4000);
  }
});
