// Signing in: by an API key, or through the organisation's identity provider where one is configured.
import { useEffect, useId, useState } from "preact/hooks";
import { type Problem, session } from "../../api/client";
import { signIn, signInMethods } from "../../api/session";
import { asProblem } from "../../live/resource";
import { ProblemBox } from "../../parts/load-states";
import { navigate, query } from "../../router";
import "./sign-in.css";

/** Only an address of ours: what stands in a link must not lead elsewhere. */
function target(): string {
  const to = query.peek().get("to") ?? "/";
  return /^\/(?![/\\])/.test(to) ? to : "/";
}

export default function SignIn() {
  const [key, setKey] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const id = useId();
  useEffect(() => {
    if (session.value) navigate(target(), { replace: true });
  }, [session.value]);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await signIn(key.trim());
    } catch (error) {
      setProblem(asProblem(error));
    }
    setKey("");
    setBusy(false);
  };
  const methods = signInMethods.value;
  const hasKeys = methods.length === 0 || methods.includes("keys");
  return (
    <div class="sign-in">
      <div class="card">
        <div class="inside stack">
          <div class="row"><img src="/mark.svg" alt="" width="32" height="32" /><h1 tabIndex={-1}>Sign in to Perdure</h1></div>
          {problem && <ProblemBox problem={problem} />}
          {hasKeys && (
            <form class="stack" onSubmit={submit}>
              <div class="field">
                <label for={id}>API key</label>
                <input id={id} class="input mono" type="password" autocomplete="off" required value={key} placeholder="perdure_…" onInput={(event) => setKey(event.currentTarget.value)} />
                <span class="help">It is sent once; the browser keeps only a session that ends after eight hours.</span>
              </div>
              <button type="submit" class="button primary" disabled={isBusy || key.trim() === ""}>{isBusy ? "Signing in…" : "Sign in"}</button>
            </form>
          )}
          {methods.includes("oidc") && <a class="button" href={`/api/session/oidc?to=${encodeURIComponent(target())}`}>Sign in with your organisation</a>}
        </div>
      </div>
    </div>
  );
}
