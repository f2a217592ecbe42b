// The API described by the server itself, to try out in the browser. Who signed in to the dashboard is signed in here.
window.SwaggerUIBundle({
  url: "/api/openapi.json",
  domNode: document.getElementById("docs"),
  deepLinking: true,
  validatorUrl: null,
  defaultModelsExpandDepth: 0,
  docExpansion: "none",
  filter: true,
  requestInterceptor: async (request) => {
    if (request.method && request.method.toUpperCase() !== "GET") {
      const session = await fetch("/api/session", { headers: { accept: "application/json" } });
      if (session.ok) request.headers["X-CSRF-Token"] = (await session.json()).csrf ?? "";
    }
    return request;
  },
});
