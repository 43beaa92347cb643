/* The page that waits in line sends again what was sent. */
const form = document.querySelector("[data-again]");
setTimeout(() => form.requestSubmit(), form.dataset.again * 1000);
