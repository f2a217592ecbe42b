// Every page, its address and its title. A page is one module with a default export; it is loaded when first opened.
import type { Route } from "./router";

export const routes: Route[] = [
  { path: "/", title: "Home", load: () => import("./pages/home/page") },
  { path: "/runbooks", title: "Runbooks", load: () => import("./pages/runbooks/page") },
  { path: "/runbooks/:id", title: "Runbook", load: () => import("./pages/runbook/page") },
  { path: "/instances", title: "Instances", load: () => import("./pages/instances/page") },
  { path: "/instances/:id", title: "Instance", load: () => import("./pages/instance/page") },
  { path: "/inbox", title: "Inbox", load: () => import("./pages/inbox/page") },
  { path: "/inbox/:key", title: "Task", load: () => import("./pages/task/page") },
  { path: "/incidents", title: "Incidents", load: () => import("./pages/incidents/page") },
  { path: "/lifecycles", title: "Lifecycles", load: () => import("./pages/lifecycles/page") },
  { path: "/lifecycles/:id", title: "Lifecycle", load: () => import("./pages/lifecycle/page") },
  { path: "/documents", title: "Documents", load: () => import("./pages/documents/page") },
  { path: "/documents/:id", title: "Document", load: () => import("./pages/document/page") },
  { path: "/definitions", title: "Definitions", load: () => import("./pages/definitions/page") },
  { path: "/definitions/verbs/:name", title: "Verb", load: () => import("./pages/verb/page") },
  { path: "/definitions/processes/:id", title: "Process", load: () => import("./pages/process/page") },
  { path: "/impact", title: "Deploy impact", load: () => import("./pages/impact/page") },
  { path: "/settings/keys", title: "Keys", load: () => import("./pages/keys/page") },
  { path: "/compose", title: "Compose", load: () => import("./pages/compose/page") },
  { path: "/sign-in", title: "Sign in", load: () => import("./pages/sign-in/page") },
];

export interface Place { to: string; label: string; keys: string; operation?: string }

/** The navigation, in order. `keys` is pressed after g; without the operation the place is not shown. */
export const places: Place[] = [
  { to: "/", label: "Home", keys: "h" },
  { to: "/inbox", label: "Inbox", keys: "i", operation: "task.list" },
  { to: "/runbooks", label: "Runbooks", keys: "r", operation: "runbook.list" },
  { to: "/instances", label: "Instances", keys: "p", operation: "instance.list" },
  { to: "/lifecycles", label: "Lifecycles", keys: "l", operation: "lifecycle.list" },
  { to: "/documents", label: "Documents", keys: "o", operation: "document.list" },
  { to: "/incidents", label: "Incidents", keys: "s", operation: "incident.list" },
  { to: "/definitions", label: "Definitions", keys: "d", operation: "verb.list" },
  { to: "/impact", label: "Impact", keys: "m", operation: "deployment.check" },
  { to: "/compose", label: "Compose", keys: "c", operation: "runbook.draft" },
  { to: "/settings/keys", label: "Keys", keys: "k", operation: "key.list" },
];
