/* The page of the checkout queue sends again what was sent. */
const form = document.querySelector("[data-resend]");
setTimeout(() => form.requestSubmit(), form.dataset.resend * 1000);
