"use strict";

// nearest returns the curve and the point that are nearest to a place, among curves that are
// not hidden. A step in x counts as much as four in y, so that a pointer above or below a
// point finds it. Null stands for no point.
function nearest(curves, hidden, x, y) {
  let best = null;
  curves.forEach((curve, i) => {
    if (hidden.has(i)) return;
    curve.points.forEach((point) => {
      const far = Math.hypot(4 * (point[0] - x), point[1] - y);
      if (best === null || far < best.far) best = { far, curve: i, point };
    });
  });
  return best;
}

// start makes a panel answer clicks on its legend and a pointer above its curves.
function start(panel) {
  const curves = JSON.parse(panel.querySelector("script").textContent);
  const svg = panel.querySelector("svg"), value = panel.querySelector("output");
  const hidden = new Set();
  const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  dot.setAttribute("r", "4.5");
  dot.setAttribute("class", "pointed");
  const leave = () => { dot.remove(); value.textContent = ""; };
  panel.querySelectorAll("button.key").forEach((button) => {
    button.addEventListener("click", () => {
      const i = Number(button.dataset.curve), hide = !hidden.has(i);
      if (hide) hidden.add(i); else hidden.delete(i);
      button.setAttribute("aria-pressed", String(!hide));
      svg.querySelectorAll('g[data-curve="' + i + '"]').forEach((part) => { part.style.display = hide ? "none" : ""; });
      leave();
    });
  });
  svg.addEventListener("pointermove", (event) => {
    const area = svg.getBoundingClientRect(), scale = svg.viewBox.baseVal.width / area.width;
    const found = nearest(curves, hidden, (event.clientX - area.left) * scale, (event.clientY - area.top) * scale);
    if (found === null) return;
    dot.setAttribute("cx", found.point[0]);
    dot.setAttribute("cy", found.point[1]);
    svg.append(dot);
    value.textContent = curves[found.curve].name + ": " + found.point[2];
  });
  svg.addEventListener("pointerleave", leave);
}

if (typeof document !== "undefined") document.querySelectorAll("figure.panel").forEach(start);
