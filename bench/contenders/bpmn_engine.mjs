// bpmn-engine: the same process, its state saved to SQLite after every activity, only at waits, or never.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { EventEmitter } from 'node:events';

const [folder, model, text] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const { Engine } = require('bpmn-engine');
const { Database } = require('node-sqlite3-wasm');

const load = JSON.parse(text);
const source = readFileSync(model, 'utf8');
// The activities, and what each adds to the data: the same as with us.
const RESULTS = { assess: 'assessed', prepare: 'prepared', approve: 'approved', pack: 'packed', bill: 'billed' };
const WARM_UP = 5;
// The data of the one instance that runs, as its process holds it.
let data = {};
const script = {
  execute(scope, done) {
    data = scope.environment.variables;
    data[RESULTS[scope.id]] = true;
    if (scope.id === 'assess') data.orch_small = true;
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
    // Where we commit: when an activity is about to begin, what came before it is saved.
    listener.on('activity.start', (task) => {
      if (load.mode === 'task' && RESULTS[task.id]) save(number, engine.execution);
    });
    engine.once('end', () => {
      if (!waiting) reject(new Error('the instance did not come to its user task'));
      if (!data.billed || !data.reference) reject(new Error('the instance lost its data'));
      if (load.mode !== 'memory') save(number, engine.execution);
      resolve();
    });
    engine.once('error', reject);
    engine
      .execute({ listener, variables: { reference: `order ${number}` } })
      .then(() => {
        if (load.mode === 'wait') save(number, engine.execution);
        data[RESULTS.approve] = true;
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
