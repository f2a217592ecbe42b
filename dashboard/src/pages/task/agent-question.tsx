// What an agent asks before it goes on: in words, and as data beside them.
import type { Question } from "../../api/process-shapes";
import { JsonTree } from "../../parts/json-tree";

export function QuestionCard({ question }: { question: Question }) {
  return (
    <section class="card" aria-labelledby="question-title">
      <header>
        <h2 id="question-title">{question.agent} asks</h2>
      </header>
      <div class="inside stack">
        {question.text && <p>{question.text}</p>}
        {question.data !== null && question.data !== undefined && <JsonTree value={question.data} label="What it says beside that" />}
      </div>
    </section>
  );
}
