"use strict";
// The page is complete without this script. It adds a search, and shows the tooltip of a mark
// below its chart: on touch and to the keyboard as well.
(() => {
  const groups = [...document.querySelectorAll(".group")];
  const search = document.getElementById("search");
  const found = document.getElementById("found");

  function filterGroups() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const group of groups) {
      const fits = words.every((word) => group.dataset.find.includes(word));
      group.hidden = !fits;
      shown += fits;
    }
    found.textContent = words.length
      ? `${shown} of ${groups.length} groups`
      : `${groups.length} groups`;
  }

  if (search) {
    search.closest(".search").hidden = false;
    search.addEventListener("input", filterGroups);
  }
  for (const button of document.querySelectorAll("[data-query]")) {
    button.addEventListener("click", () => {
      if (search) {
        search.value = button.dataset.query;
        filterGroups();
      }
      document.getElementById("groups").scrollIntoView();
    });
  }

  function openTarget() {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    const group = target.closest(".group");
    if (group) {
      group.hidden = false;
      group.open = true;
    }
    if (target.classList.contains("group-details")) {
      group.scrollIntoView();
      return;
    }
    target.scrollIntoView({ block: "center", inline: "center" });
    const link = target.matches("a") ? target : target.querySelector("a");
    if (link) link.focus({ preventScroll: true });
  }
  addEventListener("hashchange", openTarget);

  // On paper nothing opens: the groups that the reader opened are printed in full, or all where
  // there is none. The first group is open from the start.
  let opened = [];
  addEventListener("beforeprint", () => {
    const shown = groups.filter((group) => !group.hidden);
    const isAnyOpen = shown.some((group) => group.open && !group.closest("#first"));
    const wanted = isAnyOpen ? shown.filter((group) => group.open) : shown;
    const parts = groups.length ? [...wanted, document.querySelector("footer")] : [document.body];
    opened = parts.flatMap((part) => [part, ...part.querySelectorAll("details")])
      .filter((part) => part.localName === "details" && !part.open);
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });

  const marks = "[data-member], .mark, .finding, .generation, .membership, .load, .shortened";

  function titleOf(mark) {
    const title = [...mark.children].find((child) => child.localName === "title");
    return title ? title.textContent : "";
  }

  function centre(mark) {
    const box = mark.getBoundingClientRect();
    return box.left + box.width / 2;
  }

  for (const figure of document.querySelectorAll(".figure")) {
    const readout = figure.querySelector(".readout");
    const scroller = figure.querySelector(".chart .scroll");
    const drawing = scroller.querySelector("svg");
    let current = null;

    function select(mark) {
      if (current) current.classList.remove("current");
      current = mark;
      mark.classList.add("current");
      readout.textContent = titleOf(mark);
    }

    for (const kind of ["pointerover", "click"]) {
      drawing.addEventListener(kind, (event) => {
        const mark = event.target.closest(marks);
        if (mark && titleOf(mark)) select(mark);
      });
    }

    // A mark that a finding leads to, or the tabulator, says what it is.
    drawing.addEventListener("focusin", (event) => {
      const mark = event.target.querySelector(".finding");
      if (mark) select(mark);
    });

    // Left and right go along a row, up and down to the nearest bar of the next one.
    function neighbour(key) {
      const rows = [...drawing.querySelectorAll(".row")]
        .map((row) => [...row.querySelectorAll("[data-member], .load")])
        .filter((row) => row.length);
      if (!rows.length) return null;
      const at = rows.findIndex((row) => row.includes(current));
      if (at < 0) return rows[0][0];
      const row = rows[at];
      const place = row.indexOf(current);
      if (key === "ArrowLeft") return row[Math.max(place - 1, 0)];
      if (key === "ArrowRight") return row[Math.min(place + 1, row.length - 1)];
      if (key === "Home") return row[0];
      if (key === "End") return row[row.length - 1];
      const next = rows[Math.min(Math.max(at + (key === "ArrowUp" ? -1 : 1), 0), rows.length - 1)];
      if (next === row) return current;
      const middle = centre(current);
      return next.reduce((best, mark) =>
        Math.abs(centre(mark) - middle) < Math.abs(centre(best) - middle) ? mark : best);
    }

    scroller.addEventListener("keydown", (event) => {
      if (!["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"].includes(event.key)) return;
      const mark = neighbour(event.key);
      if (!mark) return;
      event.preventDefault();
      select(mark);
      const box = mark.getBoundingClientRect();
      const view = scroller.getBoundingClientRect();
      if (box.left < view.left) scroller.scrollLeft -= view.left - box.left + 20;
      else if (box.left > view.right - 30) scroller.scrollLeft += box.left - view.right + 60;
    });

    for (const button of figure.querySelectorAll(".legend button")) {
      button.addEventListener("click", () => {
        const isOn = button.getAttribute("aria-pressed") === "true";
        for (const other of figure.querySelectorAll(".legend button")) {
          other.setAttribute("aria-pressed", String(other === button && !isOn));
        }
        for (const bar of drawing.querySelectorAll("[data-member]")) {
          bar.classList.toggle("faded", !isOn && bar.dataset.member !== button.dataset.member);
        }
      });
    }
  }

  openTarget();
})();
