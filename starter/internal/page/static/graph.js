// Draws the list of nodes as a graph. dagre computes positions; the list stays.
"use strict";

(() => {
  const namespace = "http://www.w3.org/2000/svg";
  const width = 222, height = 44;

  function make(name, attributes, ...children) {
    const element = document.createElementNS(namespace, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  function text(content, attributes) { return make("text", attributes, document.createTextNode(content)); }

  // short cuts a text: of a name the end matters most.
  function short(content, length, end) {
    if (content.length <= length) return content;
    return end ? "…" + content.slice(1 - length) : content.slice(0, length - 1) + "…";
  }

  // curve returns a path with rounded corners through the points.
  function curve(points) {
    const at = p => `${p.x.toFixed(1)} ${p.y.toFixed(1)}`;
    const middle = (p, q) => ({ x: (p.x + q.x) / 2, y: (p.y + q.y) / 2 });
    let path = "M" + at(points[0]);
    for (let i = 1; i < points.length - 1; i++) path += ` Q${at(points[i])} ${at(i < points.length - 2 ? middle(points[i], points[i + 1]) : points[i + 1])}`;
    return points.length > 2 ? path : path + " L" + at(points[points.length - 1]);
  }

  // The texts that were drawn last: an unchanged graph keeps focus and scroll.
  let drawn = "";

  function draw() {
    const drawing = document.getElementById("drawing");
    const nodes = [...document.querySelectorAll("li.node")];
    const edges = [...document.querySelectorAll("#edges li")];
    const key = JSON.stringify([nodes, edges].map(list => list.map(item => [item.id, item.className, { ...item.dataset }])));
    if (!drawing || key === drawn) return;
    drawn = key;
    if (nodes.length === 0) {
      drawing.hidden = true;
      drawing.replaceChildren();
      return;
    }
    const graph = new dagre.graphlib.Graph();
    graph.setGraph({ rankdir: "RL", nodesep: 14, ranksep: 60, marginx: 12, marginy: 12 });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const node of nodes) graph.setNode(node.id, { width, height });
    for (const edge of edges) if (edge.dataset.from !== edge.dataset.to) graph.setEdge(edge.dataset.from, edge.dataset.to, { kind: edge.dataset.kind });
    dagre.layout(graph);
    const size = graph.graph();
    const svg = make("svg", { width: size.width, height: size.height, viewBox: `0 0 ${size.width} ${size.height}`, role: "group", "aria-label": "Graph; the list below says the same" });
    for (const { v, w } of graph.edges()) {
      const { points, kind } = graph.edge({ v, w });
      const last = points[points.length - 1];
      svg.append(make("path", { class: kind, d: curve(points) }));
      svg.append(make("circle", { class: "end " + kind, cx: last.x, cy: last.y, r: 2.5 }));
    }
    const focused = document.activeElement?.closest?.("#drawing a")?.dataset.of;
    for (const node of nodes) {
      const { x, y } = graph.node(node.id);
      const { name, kind, state, tone, marks, href } = node.dataset;
      const link = make("a", { class: `node ${tone}${node.classList.contains("chosen") ? " chosen" : ""}`, "data-of": node.id, transform: `translate(${x - width / 2} ${y - height / 2})` },
        make("rect", { width, height, rx: 7 }),
        make("circle", { class: "dot " + tone, cx: 14, cy: 16, r: 4.5 }),
        text(short(name, 27, true), { class: "name", x: 26, y: 20 }),
        text(short([state, marks, kind].filter(Boolean).join(" · "), 33), { class: "kind", x: 26, y: 36 }),
        make("title", {}, [kind + " " + name, state, marks].filter(Boolean).join(", ")));
      if (href) link.setAttribute("href", href);
      svg.append(link);
    }
    drawing.replaceChildren(svg);
    drawing.hidden = false;
    if (focused) drawing.querySelector(`a[data-of="${CSS.escape(focused)}"]`)?.focus();
    drawing.querySelector(".chosen")?.scrollIntoView({ block: "nearest", inline: "center" });
  }

  document.addEventListener("page:changed", draw);
  document.addEventListener("DOMContentLoaded", draw);
  if (document.readyState !== "loading") draw();
})();
