"use strict";
// The page of a running job. Its script is split into files that are embedded in order. File names are untrusted text, so
// everything is shown with textContent.

const $ = (id) => document.getElementById(id);
let lastStatus = null;
let isConnected = false;

// Requests to the endpoint, and notices about their results.

// The token comes once in the fragment of the address, which is not sent to the server, and is kept for this tab.
// Without a token that the job needs for changes, the page is read-only.
const fromHash = new URLSearchParams(location.hash.slice(1)).get("token");
if (fromHash) {
  sessionStorage.setItem("token", fromHash);
  history.replaceState(null, "", location.pathname);
}

function showAccess() {
  const isReadOnly = document.body.dataset.needsToken === "yes" && !sessionStorage.getItem("token");
  document.body.classList.toggle("read-only", isReadOnly);
  $("max").readOnly = isReadOnly;
}

function askForToken() {
  $("token-form").hidden = false;
  $("token").focus();
}

class RefusedError extends Error {}
class TokenError extends RefusedError {}

async function ask(route, options = {}) {
  const token = sessionStorage.getItem("token");
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (options.body) headers["Content-Type"] = "application/json";
  const answer = await fetch(route, { ...options, headers, cache: "no-store" });
  if (answer.status === 401) {
    sessionStorage.removeItem("token");
    showAccess();
    askForToken();
    throw new TokenError(token ? "The token is wrong." : "A token is needed.");
  }
  if (!answer.ok) {
    const problem = await answer.json().catch(() => ({}));
    throw new RefusedError(problem.detail || `The job answered with status ${answer.status}.`);
  }
  return answer;
}

let noticeTimer = 0;
function showNotice(text) {
  clearTimeout(noticeTimer);
  const notice = $("notice");
  if (notice.textContent !== text) notice.textContent = text;
  notice.hidden = !text;
}

function showNoticeBriefly(text) {
  showNotice(text);
  noticeTimer = setTimeout(() => showNotice(""), 6000);
}

async function command(route, method, done) {
  try {
    await ask(route, { method });
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
  showAccess();
  showNotice("");
  if (!isConnected) reconnectNow();
});

$("unlock").addEventListener("click", askForToken);
