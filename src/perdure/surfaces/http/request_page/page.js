// Makes the page nicer where scripts run: dates as the reader writes them, a size check, and progress of a sending.
"use strict";
for (const time of document.querySelectorAll("time[data-day]")) {
  time.textContent = new Date(time.dateTime).toLocaleDateString(navigator.language, { dateStyle: "long" });
}
const form = document.querySelector("form[data-most]");
const told = document.getElementById("told");
function say(text) {
  told.hidden = false;
  told.querySelector("p").textContent = text;
  told.focus();
}
function chosen() {
  return [...form.querySelectorAll("input[type=file]")].map((each) => each.files[0]).find(Boolean);
}
function send(event) {
  event.preventDefault();
  const file = chosen();
  if (!file) return say("Please choose a file first.");
  if (file.size > Number(form.dataset.most)) return say("This file is too large. " + form.dataset.limits);
  const bar = form.querySelector("progress");
  const button = form.querySelector("button");
  const given = new FormData();
  given.append("file", file, file.name || "photo");
  const request = new XMLHttpRequest();
  request.open("POST", location.pathname);
  request.upload.onprogress = (step) => { if (step.lengthComputable) bar.value = step.loaded / step.total; };
  request.onload = () => {
    if (request.status < 400) return location.replace(location.pathname);
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    const why = page.querySelector("#told p");
    again(why ? why.textContent : "We could not take this file. Please try again.");
  };
  request.onerror = () => again("The connection was lost. Please try again.");
  function again(text) {
    bar.parentElement.hidden = true;
    button.disabled = false;
    say(text);
  }
  told.hidden = true;
  bar.parentElement.hidden = false;
  button.disabled = true;
  request.send(given);
  return undefined;
}
if (form) form.addEventListener("submit", send);
// A link that carries its token behind a # is followed by scanners of mail without it; only here it is asked with.
if (location.pathname === "/ask" && location.hash.length > 1) location.replace("/ask/" + encodeURIComponent(location.hash.slice(1)));
