// Seed 003's garbage: rows that do not compress are changed over and over, each change leaves a version behind.
import mysql from 'k6/x/mysql';
import { attempt } from './lib/attempt.js';
import { prepareTable, table } from './lib/table.js';
import { key, load, target, text } from './lib/target.js';

export const options = load('churn');

const db = mysql.open(target.dsn);

export function setup() {
  prepareTable();
}

export default function () {
  attempt(db, () => db.exec(`UPDATE ${table} SET k = k + 1, c = '${text(119)}' WHERE id = ${key()}`));
}
