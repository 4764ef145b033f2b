"use strict";
// Draws every chart of the page, one after the other. Specifications are data: expressions are interpreted, not run.
(async () => {
  const specs = JSON.parse(document.getElementById("chart-specs").textContent);
  for (const place of document.querySelectorAll("[data-chart]")) {
    const options = { mode: "vega-lite", renderer: "svg", actions: false, ast: true, tooltip: { theme: "report" } };
    try {
      await vegaEmbed(place, specs[place.dataset.chart], options);
      place.dataset.drawn = "yes";
    } catch (fault) {
      place.textContent = "This chart could not be drawn: " + fault.message;
    }
  }
  document.documentElement.dataset.charts = "drawn";
})();
