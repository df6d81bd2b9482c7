// Seed 000's list of what calls the after_commit hook: statements of which one in four commits something.
import mysql from 'k6/x/mysql';
import { attempt } from './lib/attempt.js';
import { createDatabase, load, target } from './lib/target.js';

export const options = load('statements');

const table = `${target.database}.statements`;
const db = mysql.open(target.dsn);

export function setup() {
  const admin = mysql.open(target.dsn);
  createDatabase(admin);
  admin.exec(`CREATE TABLE IF NOT EXISTS ${table} (id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT)`);
  admin.close();
}

export default function () {
  attempt(db, () => {
    db.query('SELECT 1 AS n');
    db.exec('SET @a = 1');
    db.exec(`INSERT INTO ${table} VALUES ()`);
    db.query(`SELECT COUNT(*) AS n FROM ${table} WHERE id = 1`);
  });
}
