// Swipes in the viewer: to the side for the next picture, down to close it. The browser pinches and pans by itself, and a
// swipe in an enlarged page only pans.

const FAR = 56;                 // pixels that a finger goes for a swipe
const QUICK = 0.4;              // pixels in a millisecond: a shorter swipe counts if it is quicker

let swipe = null;               // { id, x, y, at } of the finger

function moveFrame(x, y) {
  $("frame").style.transform = x || y ? `translate(${Math.round(x)}px, ${Math.round(y)}px)` : "";
}

function endSwipe() {
  swipe = null;
  moveFrame(0, 0);
}

$("stage").addEventListener("pointerdown", (event) => {
  // A second finger begins a pinch.
  if (swipe || event.pointerType === "mouse" || visualViewport.scale > 1.01) return endSwipe();
  swipe = { id: event.pointerId, x: event.clientX, y: event.clientY, at: event.timeStamp };
});

$("stage").addEventListener("pointermove", (event) => {
  if (event.pointerId !== swipe?.id) return;
  const [x, y] = [event.clientX - swipe.x, event.clientY - swipe.y];
  if (Math.abs(x) > Math.abs(y)) moveFrame(x, 0);
  else moveFrame(0, Math.max(0, y));
});

$("stage").addEventListener("pointerup", (event) => {
  if (event.pointerId !== swipe?.id) return;
  const [x, y, time] = [event.clientX - swipe.x, event.clientY - swipe.y, event.timeStamp - swipe.at];
  const isFar = (way) => Math.abs(way) > FAR || (Math.abs(way) > 16 && Math.abs(way) / time > QUICK);
  endSwipe();
  if (Math.abs(x) > Math.abs(y)) { if (isFar(x)) step(x < 0 ? 1 : -1); }
  else if (y > 0 && isFar(y)) viewer.close();
});

$("stage").addEventListener("pointercancel", endSwipe);
visualViewport.addEventListener("resize", () =>
  $("stage").classList.toggle("enlarged", visualViewport.scale > 1.01));
