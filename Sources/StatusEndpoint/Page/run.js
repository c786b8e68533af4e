// The state and counters of the run, and the buttons that control it.

const stateKinds = { running: "good", paused: "warn", stopping: "warn", finished: "" };
const levelKinds = { normal: "good", warning: "warn", critical: "grave" };

function showRun(status) {
  const { counters, memory, rates, limits } = status;
  setState(status.state, status.stop_reason);
  const sources = status.sources.join(", ");
  set($("about"), `${sources} · process ${status.pid} · ${status.version} · for ${time(status.elapsed_seconds)}`);
  showPressure(status.pressure);
  const ended = counters.made + counters.up_to_date + counters.passed_over + counters.failed + counters.cancelled;
  const total = counters.total;
  set($("done"), number(ended));
  set($("done-of"), total === undefined ? `of ${number(counters.found)} found so far` : `of ${number(total)} sources`);
  set($("eta"), status.eta_seconds === undefined ? "" : `about ${time(status.eta_seconds)} to go`);
  if (total) { $("progress").value = ended / total; } else { $("progress").removeAttribute("value"); }
  showCounters([
    ["Made", number(counters.made)], ["Up to date", number(counters.up_to_date)],
    ["Passed over", number(counters.passed_over)], ["Failed", number(counters.failed), counters.failed > 0],
    ["Cancelled", number(counters.cancelled)], ["Thumbnails", number(counters.thumbnails)],
    ["Written", bytes(counters.bytes_written)], ["Thumbnails / s", rates.thumbnails_per_second.toFixed(1)],
    ["Read / s", bytes(rates.bytes_per_second)],
  ]);
  set($("queue-now"), `${counters.running} of ${limits.max} run · ${counters.waiting} of ${limits.backlog} wait`);
  set($("memory-now"), `${bytes(memory.reserved_bytes)} of ${bytes(memory.budget_bytes)} reserved`);
}

function setState(state, reason) {
  set($("state"), reason && state !== "running" ? `${state}: ${reason}` : state);
  $("state").dataset.kind = stateKinds[state];
  const ends = state === "stopping" || state === "finished";
  set($("pause"), state === "paused" ? "Resume" : "Pause");
  $("pause").disabled = ends;
  $("cancel-all").disabled = ends;
  document.title = `${state} · thumbjob`;
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
  const isPaused = lastStatus && lastStatus.state === "paused";
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
