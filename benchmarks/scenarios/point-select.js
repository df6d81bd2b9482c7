// Reads one row by primary key, with a prepared statement: what a session costs when nothing is committed.
import mysql from 'k6/x/mysql';
import { attempt } from './lib/attempt.js';
import { prepareTable, table } from './lib/table.js';
import { key, load, target } from './lib/target.js';

export const options = load('point-select');

const db = mysql.open(target.dsn);

export function setup() {
  prepareTable();
}

export default function () {
  attempt(db, () => db.query(`SELECT c FROM ${table} WHERE id = ?`, key()));
}
