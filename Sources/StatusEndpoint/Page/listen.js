// Receives the server-sent events, and reconnects when the stream ends.

const handlers = {
  counters(status) {
    lastStatus = status;
    addSample(status);
    showRun(status);
    repaint();
    drawCharts();
    if (status.counters.thumbnails !== seenThumbnails) {
      seenThumbnails = status.counters.thumbnails;
      loadThumbnails();
    }
  },
  operation: changed,
  pressure: showPressure,
  run({ state }) { if (lastStatus) { lastStatus.state = state; setState(state); } },
  limits() {},
  lost() { loadFailures().catch(() => {}); },
};

async function listen() {
  const answer = await ask("events");
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  isConnected = true;
  showNotice("");
  await Promise.all([loadHistory(), loadFailures()]);
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) handleEvent(part);
  }
}

function handleEvent(part) {
  let [name, data] = ["", ""];
  for (const line of part.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    if (line.startsWith("data: ")) data += line.slice(6);
  }
  if (handlers[name]) handlers[name](JSON.parse(data));
}

let reconnectNow = () => {};
async function stayConnected() {
  for (let pause = 1000; ; pause = Math.min(pause * 2, 15000)) {
    try {
      await listen();
      pause = 500;
    } catch (error) {
      if (!$("token-form").hidden) showNotice(error.message);
    }
    isConnected = false;
    if ($("token-form").hidden) {
      const hasEnded = lastStatus && (lastStatus.state === "stopping" || lastStatus.state === "finished");
      showNotice(hasEnded ? "The job has ended." : "The job does not answer. Trying again.");
      set($("state"), hasEnded ? "ended" : "not connected");
      $("state").dataset.kind = "";
      $("pause").disabled = $("cancel-all").disabled = true;
    }
    await new Promise((resolve) => { reconnectNow = resolve; setTimeout(resolve, pause); });
  }
}

showFailures();
stayConnected();
