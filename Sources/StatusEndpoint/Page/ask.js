"use strict";
// The page of a running job, in several files that the page holds one after the other. Names of files are other people's
// text: everything is shown with textContent.

const $ = (id) => document.getElementById(id);
let lastStatus = null;
let isConnected = false;

// Asking the run, and telling what came of it.

// The token comes once behind the hash of the address, which no server sees, and stays with this tab.
const fromHash = new URLSearchParams(location.hash.slice(1)).get("token");
if (fromHash) {
  sessionStorage.setItem("token", fromHash);
  history.replaceState(null, "", location.pathname);
}

async function ask(path, options = {}) {
  const token = sessionStorage.getItem("token");
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  const answer = await fetch(path, { ...options, headers, cache: "no-store" });
  if (answer.status === 401) {
    $("token-form").hidden = false;
    throw new Error(token ? "The token is not the right one." : "This needs the token.");
  }
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new Error(problem.detail || `The job answered with status ${answer.status}.`);
  }
  return answer;
}

function showNotice(text) {
  const notice = $("notice");
  if (notice.textContent !== text) notice.textContent = text;
  notice.hidden = !text;
}

let noticeTimer = 0;
function showNoticeBriefly(text) {
  showNotice(text);
  clearTimeout(noticeTimer);
  noticeTimer = setTimeout(() => showNotice(""), 6000);
}

async function command(path, method, done) {
  try {
    await ask(path, { method });
    if (done) showNoticeBriefly(done);
  } catch (error) {
    showNoticeBriefly(error.message);
  }
}

$("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("token", $("token").value.trim());
  $("token").value = "";
  $("token-form").hidden = true;
  showNotice("");
  if (!isConnected) reconnectNow();
});
