// What a migration would do, or did: where each token goes, which waits stay, end and begin, which work has another verb.
import type { MigrationPlan } from "../../api/process-shapes";

export function MigrationTold({ plan, name }: { plan: MigrationPlan; name: (element: string) => string }) {
  const waits: [string, string[]][] = [
    ["Timers that keep running", plan.kept_timers], ["Messages still waited for", plan.kept_messages], ["Waits that end", plan.ended_waits], ["Waits that begin", plan.new_waits],
  ];
  return (
    <div class="notice" role="status">
      <strong>Under version {plan.version}:</strong>
      <ul>
        {plan.moves.map((move) => <li key={move.token}>Token {move.token}: {name(move.before)}{move.before === move.after ? " stays" : ` → ${name(move.after)}`}</li>)}
        {plan.moves.length === 0 && <li>No token moves.</li>}
        {waits.filter(([, found]) => found.length > 0).map(([label, found]) => <li key={label}>{label}: {found.map(name).join(", ")}</li>)}
        {plan.new_verbs.map((verb) => (
          <li key={verb.token}>Verb of {name(verb.element)}: {verb.before} → {verb.after}{verb.is_running && ", once it has to be given again; what is under way ends as it began"}</li>
        ))}
        {plan.goes_around.length > 0 && <li>Goes around {plan.goes_around.join(", ")}: it needs a reason and somebody who could have answered</li>}
      </ul>
    </div>
  );
}
