"use strict";

// The form makes a passkey, or signs in by one: it asks the browser, and sends the answer.
const form = document.getElementById("passkey");
const { kind, otherwise } = form.dataset;
const button = form.querySelector("button");
const message = form.querySelector("[role=alert]");

if (window.PublicKeyCredential?.parseCreationOptionsFromJSON) {
  form.hidden = false;
} else if (otherwise) {
  location.replace(otherwise);
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  message.textContent = "";
  try {
    const reply = await fetch("/.fairlead/passkey/options", { method: "POST", body: new URLSearchParams({ kind }) });
    if (!reply.ok) {
      throw new Error(await reply.text());
    }
    const { publicKey } = await reply.json();
    const credential = kind === "create"
      ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) })
      : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
    form.elements.answer.value = JSON.stringify(credential);
    form.submit();
  } catch (error) {
    message.textContent = error.name === "NotAllowedError" ? "It was cancelled, or this device has no passkey for this app." : error.message;
    button.disabled = false;
  }
});
