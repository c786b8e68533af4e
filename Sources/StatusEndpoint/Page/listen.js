// Receives the server-sent events until the run has ended, and reconnects if the stream is interrupted.

const SILENCE = 5000;           // milliseconds without news, which come every second

let heardAt = 0;
let isSilent = false;

const handlers = {
  counters(status) {
    // Another job answers at this address.
    if (lastStatus && lastStatus.started_at !== status.started_at) return void location.reload();
    lastStatus = status;
    addSample(status);
    showRun(status);
    repaint();
    drawCharts();
    // At the end the job does not answer any more.
    if (!status.outcome) loadThumbnails(status.counters.thumbnails);
  },
  thumbnails({ thumbnails }) { showLastThumbnails(thumbnails); },
  operation: changed,
  pressure: showPressure,
  run({ state, paused_by: causes }) {
    if (lastStatus) setState(Object.assign(lastStatus, { state, paused_by: causes }));
  },
  limits(limits) { if (lastStatus) { lastStatus.limits = limits; showLimits(limits); } },
  lost() { loadFailures().catch(() => {}); },
};

async function listen() {
  const answer = await ask(`events?thumbnails=${THUMBNAILS}`);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  isConnected = true;
  hear();
  document.body.dataset.link = "live";
  showNotice("");
  // If they fail because the job has just ended, the stream still tells how.
  await Promise.allSettled([loadHistory(), loadFailures()]);
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    hear();
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

function hear() {
  heardAt = Date.now();
  if (isSilent) showNotice("");
  isSilent = false;
}

setInterval(() => {
  if (!isConnected || isSilent || Date.now() - heardAt < SILENCE) return;
  isSilent = true;
  showNotice(`No news from the job since ${clock(heardAt)}: it may be stopped, or the connection may be interrupted.`);
}, 1000);

let reconnectNow = () => {};
async function stayConnected() {
  for (let pause = 1000; ; pause = Math.min(pause * 2, 15000)) {
    let isLocked = false;
    try {
      await listen();
      pause = 500;
    } catch (error) {
      isLocked = error instanceof TokenError;
      if (isLocked) showNotice(error.message);
    }
    [isConnected, isSilent] = [false, false];
    if (lastStatus && lastStatus.outcome) return;
    if (!isLocked) {
      const since = heardAt > 0 ? ` since ${clock(heardAt)}` : "";
      showLost(`No answer from the job${since}: it may have been killed. This page keeps trying.`);
    }
    await new Promise((resolve) => { reconnectNow = resolve; if (!isLocked) setTimeout(resolve, pause); });
  }
}

showAccess();
showFailures();
stayConnected();
