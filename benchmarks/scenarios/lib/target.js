// Where a scenario runs and how hard: the same environment variables for all of them.
import exec from 'k6/execution';

const catalogue = JSON.parse(open('../catalogue.json'));

const setting = (name, fallback) => (__ENV[name] !== undefined && __ENV[name] !== '' ? __ENV[name] : fallback);

// The number of rows that the reading scenarios choose from.
const DEFAULT_ROWS = 10000;

export const target = {
  dsn: setting('DSN', 'root@tcp(127.0.0.1:3306)/'),
  database: setting('DATABASE', 'bench'),
  rows: Number(setting('ROWS', String(DEFAULT_ROWS))),
};

// createDatabase makes the default database; one that DATABASE names must be there, because its user may not be allowed to.
export function createDatabase(db) {
  if (!__ENV.DATABASE) {
    db.exec(`CREATE DATABASE IF NOT EXISTS ${target.database}`);
  }
}

// load returns k6's options for a scenario of the catalogue: CLIENTS virtual users, each without a pause, for DURATION or
// until QUERIES iterations are done.
export function load(name) {
  const { defaults } = catalogue.loads[name];
  const clients = Number(setting('CLIENTS', String(defaults.clients)));
  const queries = setting('QUERIES', '');
  const maxErrors = setting('MAX_ERRORS', '0');
  const executor = queries
    ? { executor: 'shared-iterations', vus: clients, iterations: Number(queries), maxDuration: setting('MAX_DURATION', '1h') }
    : { executor: 'constant-vus', vus: clients, duration: setting('DURATION', defaults.duration) };
  return {
    scenarios: { [name]: { ...executor, gracefulStop: '10s' } },
    setupTimeout: '5m',
    summaryTrendStats: ['avg', 'min', 'med', 'p(95)', 'p(99)', 'max'],
    // MAX_ERRORS=any is for loads during which servers are killed.
    thresholds: maxErrors === 'any' ? {} : { mysql_errors: [`count<=${maxErrors}`] },
    systemTags: ['scenario', 'status', 'error', 'check'],
  };
}

// key returns a pseudo-random number from 1 to the number of rows that does not repeat in the same order per client.
export function key() {
  return 1 + Math.floor(Math.random() * target.rows);
}

// client is the number of the virtual user over the whole test.
export function client() {
  return exec.vu.idInTest;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

// text returns random characters, as mysqlslap's generated rows hold.
export function text(length) {
  let s = '';
  for (let i = 0; i < length; i++) {
    s += LETTERS.charAt(Math.floor(Math.random() * LETTERS.length));
  }
  return s;
}
