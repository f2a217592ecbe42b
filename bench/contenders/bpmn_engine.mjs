// bpmn-engine: the same process, its state saved to SQLite after every task, only at waits, or never.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { EventEmitter } from 'node:events';

const [folder, model, text] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const { Engine } = require('bpmn-engine');
const { Database } = require('node-sqlite3-wasm');

const load = JSON.parse(text);
const source = readFileSync(model, 'utf8');
const TASKS = new Set(['assess', 'prepare', 'approve', 'pack', 'bill']);
const WARM_UP = 5;
const script = {
  execute(scope, done) {
    scope.environment.variables.orch_small = true;
    done();
  },
};
const scripts = {
  register() {},
  getScript: (language) => (language === 'bench' ? script : undefined),
};

const database = new Database(load.url.replace('sqlite:///', ''));
// Without shared memory this build has WAL only for a file that one process holds alone, which costs it nothing.
database.exec('PRAGMA locking_mode = EXCLUSIVE');
database.exec('PRAGMA journal_mode = WAL');
database.exec('PRAGMA synchronous = FULL');
database.exec('CREATE TABLE instance (id INTEGER PRIMARY KEY, state TEXT)');
const durability = {
  journal: String(database.get('PRAGMA journal_mode').journal_mode),
  synchronous: String(database.get('PRAGMA synchronous').synchronous),
};
const statement = database.prepare(
  'INSERT INTO instance VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state'
);

let saves = 0;
function save(number, execution) {
  statement.run([number, JSON.stringify(execution.getState())]);
  saves += 1;
}

// Parsed once: every instance begins with the same parsed model.
const { default: BpmnModdle } = await import(require.resolve('bpmn-moddle'));
const Elements = require('bpmn-elements');
const { default: serialize, TypeResolver } = require('moddle-context-serializer');
const parsed = await new BpmnModdle().fromXML(source);
const sourceContext = serialize(parsed, TypeResolver(Elements));

function one(number) {
  return new Promise((resolve, reject) => {
    const engine = new Engine({ name: `bench ${number}`, sourceContext, scripts });
    const listener = new EventEmitter();
    let waiting;
    saves = 0;
    listener.on('activity.wait', (task) => {
      waiting = task;
    });
    listener.on('activity.end', (task) => {
      if (load.mode === 'task' && TASKS.has(task.id)) save(number, engine.execution);
    });
    engine.once('end', () => {
      if (!waiting) reject(new Error('the instance did not come to its user task'));
      if (load.mode === 'wait') save(number, engine.execution);
      resolve();
    });
    engine.once('error', reject);
    engine
      .execute({ listener })
      .then(() => {
        if (load.mode === 'wait') save(number, engine.execution);
        waiting.signal();
      })
      .catch(reject);
  });
}

for (let number = 0; number < WARM_UP; number += 1) await one(number);
const began = performance.now();
let done = 0;
while (done < load.count && performance.now() - began < load.seconds * 1000) {
  await one(WARM_UP + done);
  done += 1;
}
const seconds = (performance.now() - began) / 1000;
console.log(
  JSON.stringify({ runs: done, seconds, instances_per_second: done / seconds, saves_per_instance: saves, durability })
);
statement.finalize();
database.close();
