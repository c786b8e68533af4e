// The control of `max`, the number of operations that may run at once.

let changesUnderWay = 0;

function showLimits({ max }) {
  // Not while the user edits it.
  if (document.activeElement !== $("max") && changesUnderWay === 0) $("max").value = max;
}

function showLimitProblem(text) {
  set($("limit-problem"), text);
  $("limit-problem").hidden = !text;
  $("max").setAttribute("aria-invalid", String(Boolean(text)));
}

async function changeMax() {
  changesUnderWay += 1;
  try {
    // The job alone judges the value. Text that is no number becomes null, which the job refuses too.
    const body = JSON.stringify({ max: $("max").valueAsNumber });
    const limits = await (await ask("limits", { method: "PATCH", body })).json();
    if (lastStatus) lastStatus.limits = limits;
    showLimitProblem("");
  } catch (error) {
    showLimitProblem(error.message);
  } finally {
    changesUnderWay -= 1;
    // Without waiting for the next status, so that the next step starts from the job's value.
    if (lastStatus) showLimits(lastStatus.limits);
  }
}

$("max").addEventListener("change", changeMax);
$("max").addEventListener("input", () => showLimitProblem(""));
$("max").addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !lastStatus) return;
  $("max").value = lastStatus.limits.max;
  showLimitProblem("");
});
for (const [id, step] of [["fewer", "stepDown"], ["more", "stepUp"]]) {
  $(id).addEventListener("click", () => {
    const before = $("max").value;
    $("max")[step]();
    if ($("max").value !== before) changeMax();
  });
}
