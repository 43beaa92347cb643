/* Files that would be refused after minutes of sending are told at once, beside their field. Without it the shop says so. */
(() => {
  "use strict";
  /* Chosen pictures are drawn, each with a field for its description. */
  const preview = async (list, files) => {
    list.replaceChildren();
    for (const [place, file] of files.entries()) {
      const image = await createImageBitmap(file, { resizeWidth: 360 }).catch(() => null);
      const item = Object.assign(document.createElement("li"), { className: "preview" });
      const canvas = document.createElement("canvas");
      const side = image ? Math.min(image.width, image.height) : 1;
      canvas.width = canvas.height = side;
      canvas.setAttribute("aria-hidden", "true");
      if (image) canvas.getContext("2d").drawImage(image, (side - image.width) / 2, (side - image.height) / 2);
      const name = Object.assign(document.createElement("span"), { className: "preview__name", textContent: file.name });
      const label = Object.assign(document.createElement("label"), { className: "small", textContent: list.dataset.label, htmlFor: `new-alt-${place}` });
      const alt = Object.assign(document.createElement("input"), { className: "input", id: label.htmlFor, name: `new_alt_${place}`, maxLength: 250, autocomplete: "off" });
      item.append(canvas, name, label, alt);
      list.append(item);
    }
  };
  document.addEventListener("change", ({ target }) => {
    const { mostFiles, mostMegabytes, tooMany, tooLarge, previews } = target.dataset;
    if (!mostFiles) return;
    const files = [...target.files];
    const isLarge = files.some((file) => file.size > mostMegabytes * 1048576);
    target.setCustomValidity(files.length > mostFiles ? tooMany : isLarge ? tooLarge : "");
    if (target.reportValidity() && previews) preview(document.getElementById(previews), files);
  });
  document.addEventListener("submit", (event) => {
    const field = event.target.querySelector("[data-most-files]");
    if (field && !field.reportValidity()) event.preventDefault();
  });
})();
