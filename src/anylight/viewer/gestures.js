// Hands on the view. A page that scrolls keeps scrolling: the wheel and a vertical finger belong to
// the page until the view was clicked, and again after the pointer left it or Escape was pressed.
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const TAP = 6;

export function listenToHands(view) {
  const { canvas, ball } = view;
  const fingers = new Map();
  let task = "";
  let travelled = 0;
  const isActive = () => Boolean(canvas.dataset.active);
  const activate = (kind) => {
    canvas.dataset.active = kind;
  };
  const shineFrom = (event, part) => {
    const box = part.getBoundingClientRect();
    const half = Math.min(box.width, box.height) / 2;
    view.shine((event.clientX - box.left - box.width / 2) / half,
      -(event.clientY - box.top - box.height / 2) / half);
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (view.claims(event)) return;
    canvas.focus({ preventScroll: true });
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event);
    travelled = 0;
    task = event.button === 2 || event.shiftKey ? "light"
      : event.button === 1 || event.ctrlKey ? "move" : "turn";
    if (task === "light") shineFrom(event, canvas);
    if (event.pointerType === "mouse") activate("mouse");
    if (event.pointerType !== "touch") event.preventDefault();
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) {
      if (view.follows && !view.claims(event)) shineFrom(event, canvas);
      return;
    }
    const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
    travelled += Math.hypot(dx, dy);
    if (fingers.size === 2) {
      const other = [...fingers.values()].find((one) => one.pointerId !== event.pointerId);
      const gap = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      view.zoomBy(Math.max(gap(event), 1) / Math.max(gap(before), 1));
      view.moveBy(dx / 2, dy / 2);
    } else if (task === "light") {
      shineFrom(event, canvas);
    } else if (task === "move") {
      view.moveBy(dx, dy);
    } else {
      view.turnBy(dx * 0.007, dy * 0.007);
    }
    fingers.set(event.pointerId, event);
  });
  canvas.addEventListener("pointerup", (event) => {
    if (event.pointerType === "touch" && fingers.size === 1 && travelled < TAP) {
      activate(isActive() ? "" : "touch");
      view.hint(isActive() ? "One finger turns it now. Tap again to scroll the page."
        : "The page scrolls again.");
    }
  });
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"]) {
    canvas.addEventListener(kind, (event) => fingers.delete(event.pointerId));
  }
  canvas.addEventListener("pointerleave", (event) => {
    if (event.pointerType === "mouse") activate("");
  });
  document.addEventListener("pointerdown", (event) => {
    if (event.target !== canvas) activate("");
  });
  canvas.addEventListener("wheel", (event) => {
    const page = document.documentElement;
    const scrolls = page.scrollHeight > window.innerHeight + 4;
    if (scrolls && !isActive() && !event.ctrlKey) {
      view.hint("Click the view first, then the wheel zooms.");
      return;
    }
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    view.zoomBy(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.006 : 0.0015)));
  }, { passive: false });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("dblclick", () => view.reset());

  if (ball) {
    ball.addEventListener("pointerdown", (event) => {
      ball.focus({ preventScroll: true });
      ball.setPointerCapture(event.pointerId);
      shineFrom(event, ball);
      event.preventDefault();
    });
    ball.addEventListener("pointermove", (event) => {
      if (ball.hasPointerCapture(event.pointerId)) shineFrom(event, ball);
    });
  }
  for (const part of ball ? [canvas, ball] : [canvas]) {
    part.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      const arrow = ARROWS[event.key];
      const [x, y] = view.pose.light;
      if (arrow && (part === ball || event.shiftKey)) {
        view.shine(x + 0.06 * arrow[0], y + 0.06 * arrow[1]);
      } else if (arrow) {
        view.turnBy(0.08 * arrow[0], -0.08 * arrow[1]);
      } else if (event.key === "+" || event.key === "=") {
        view.zoomBy(1.15);
      } else if (event.key === "-") {
        view.zoomBy(1 / 1.15);
      } else if (event.key === "r" || event.key === "R") {
        view.reset();
      } else if (event.key === "Escape" && isActive()) {
        activate("");
      } else {
        return;
      }
      event.preventDefault();
    });
  }
}
