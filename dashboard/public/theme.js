// Runs before the first paint, so that a chosen theme never flashes.
try {
  const chosen = localStorage.getItem("perdure.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be forbidden; then the system's preference holds.
}
