// Seed 003's load: everybody updates the same row.
import mysql from 'k6/x/mysql';
import { attempt } from './lib/attempt.js';
import { createDatabase, load, target } from './lib/target.js';

export const options = load('hot-row');

const table = `${target.database}.hot`;
const db = mysql.open(target.dsn);

export function setup() {
  const admin = mysql.open(target.dsn);
  createDatabase(admin);
  admin.exec(`CREATE TABLE IF NOT EXISTS ${table} (id INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)`);
  admin.exec(`REPLACE INTO ${table} VALUES (1, 0)`);
  admin.close();
}

export default function () {
  attempt(db, () => db.exec(`UPDATE ${table} SET n = n + 1 WHERE id = 1`));
}
