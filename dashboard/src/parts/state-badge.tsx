// A state as a word, a sign and a colour; never as a colour alone.
export type Tone = "quiet" | "busy" | "wait" | "good" | "bad" | "odd";

const TONES: Record<string, readonly [Tone, string]> = {
  executing: ["busy", "▶"], running: ["busy", "▶"], ready: ["busy", "▷"], active: ["busy", "▶"], started: ["busy", "▶"], claimed: ["busy", "◐"],
  parked: ["wait", "‖"], waiting: ["wait", "‖"], open: ["wait", "○"], escalated: ["odd", "▲"], suspended: ["odd", "‖"],
  completed: ["good", "✓"], applied: ["good", "✓"], sound: ["good", "✓"],
  failed: ["bad", "✕"], incident: ["bad", "!"], overdue: ["bad", "!"], quarantined: ["bad", "!"], dead_letter: ["bad", "!"], terminated: ["bad", "■"],
  sent: ["good", "✓"], over: ["quiet", "■"], verified: ["good", "✓"], rejected: ["bad", "✕"], expired: ["odd", "⌛"], superseded: ["quiet", "↷"], partial: ["busy", "◐"],
  cancelled: ["quiet", "■"], skipped: ["quiet", "↷"], pending: ["quiet", "·"], draft: ["quiet", "✎"], planned: ["quiet", "○"], compensated: ["odd", "↶"],
};

export function toneOf(state: string): Tone {
  return TONES[state]?.[0] ?? "quiet";
}

export function signOf(state: string): string {
  return TONES[state]?.[1] ?? "•";
}

export function StateBadge({ state, label }: { state: string; label?: string }) {
  return <Badge tone={toneOf(state)} sign={signOf(state)}>{label ?? state.replace(/_/g, " ")}</Badge>;
}

export function Badge({ tone = "quiet", sign, children }: { tone?: Tone; sign?: string; children: preact.ComponentChildren }) {
  return (
    <span class={`badge ${tone}`}>
      {sign && <span class="sign" aria-hidden="true">{sign}</span>}
      {children}
    </span>
  );
}
