// Seed 000's load: what mysqlslap --auto-generate-sql --auto-generate-sql-load-type=write sends, one INSERT per transaction.
import mysql from 'k6/x/mysql';
import { attempt } from './lib/attempt.js';
import { client, createDatabase, load, target, text } from './lib/target.js';

export const options = load('slap-write');

const table = `${target.database}.t1`;
const db = mysql.open(target.dsn);

// A fresh table per run, as mysqlslap makes it, but with a primary key, which every row of a replicated table should have.
export function setup() {
  const admin = mysql.open(target.dsn);
  createDatabase(admin);
  admin.exec(`DROP TABLE IF EXISTS ${table}`);
  admin.exec(`CREATE TABLE ${table} (id BIGINT NOT NULL PRIMARY KEY, intcol1 INT, charcol1 VARCHAR(128))`);
  admin.close();
}

// Ids of one client lie side by side in its own stretch, so that clients never collide.
const STRETCH = 1e9;
let next = 0;

export default function () {
  const id = client() * STRETCH + next++;
  attempt(db, () =>
    db.exec(`INSERT INTO ${table} VALUES (${id}, ${Math.floor(Math.random() * 2147483647)}, '${text(100)}')`),
  );
}
