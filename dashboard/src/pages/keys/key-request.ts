// What is wished for a key, and the request it makes.

export const ROLES = [
  { value: "viewer", says: "sees everything" },
  { value: "operator", says: "runs, mends and stops work" },
  { value: "reviewer", says: "answers tasks" },
  { value: "author", says: "deploys processes and starts runbooks" },
  { value: "admin", says: "may do everything, keys too" },
] as const;
export const KINDS = [
  { value: "service", label: "A service" },
  { value: "person", label: "A person" },
  { value: "agent", label: "An agent: it can propose, never confirm" },
] as const;
export const LIFETIMES = [
  { value: "7", label: "in a week" },
  { value: "90", label: "in 90 days" },
  { value: "365", label: "in a year" },
  { value: "", label: "never, until it is revoked" },
] as const;

export interface KeyWish { name: string; principal: string; kind: string; roles: string[]; lifetime: string; groups: string; verbs: string; operations: string }
export const EMPTY: KeyWish = { name: "", principal: "", kind: "service", roles: ["viewer"], lifetime: "90", groups: "", verbs: "", operations: "" };

const DAY = 86_400_000;

export function bodyOf(wish: KeyWish, now: number): Record<string, unknown> {
  const verbs = listOf(wish.verbs);
  return {
    name: wish.name.trim(), principal: wish.principal.trim(), kind: wish.kind, roles: wish.roles, groups: listOf(wish.groups), operations: listOf(wish.operations),
    ...(verbs.length > 0 ? { verbs } : {}),
    expires_at: wish.lifetime === "" ? null : new Date(now + Number(wish.lifetime) * DAY).toISOString(),
  };
}

export function listOf(text: string): string[] {
  return [...new Set(text.split(/[,\s]+/).filter(Boolean))];
}
