/* Files that would be refused after minutes of sending are told at once, beside their field. Without it the shop says so. */
(() => {
  "use strict";
  document.addEventListener("change", ({ target }) => {
    const { mostFiles, mostMegabytes, tooMany, tooLarge } = target.dataset;
    if (!mostFiles) return;
    const files = [...target.files];
    const isLarge = files.some((file) => file.size > mostMegabytes * 1048576);
    target.setCustomValidity(files.length > mostFiles ? tooMany : isLarge ? tooLarge : "");
    target.reportValidity();
  });
  document.addEventListener("submit", (event) => {
    const field = event.target.querySelector("[data-most-files]");
    if (field && !field.reportValidity()) event.preventDefault();
  });
})();
