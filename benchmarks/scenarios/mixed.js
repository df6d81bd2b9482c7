// A transaction as sysbench's oltp_read_write has it, by primary key only: reads, two updates, a delete and its insert.
import mysql from 'k6/x/mysql';
import { attempt } from './lib/attempt.js';
import { prepareTable, table } from './lib/table.js';
import { key, load, target, text } from './lib/target.js';

export const options = load('mixed');

const POINT_SELECTS = 10;
const db = mysql.open(target.dsn);

export function setup() {
  prepareTable();
}

// Rows are locked in the order of their keys, so that transactions wait for each other but never in a circle.
function transaction() {
  const [updated, replaced] = [key(), key()].sort((a, b) => a - b);
  db.exec('BEGIN');
  for (let i = 0; i < POINT_SELECTS; i++) {
    db.query(`SELECT c FROM ${table} WHERE id = ${key()}`);
  }
  db.exec(`UPDATE ${table} SET k = k + 1 WHERE id = ${updated}`);
  db.exec(`UPDATE ${table} SET c = '${text(119)}' WHERE id = ${updated}`);
  db.exec(`DELETE FROM ${table} WHERE id = ${replaced}`);
  db.exec(`INSERT INTO ${table} (id, k, c, pad) VALUES (${replaced}, ${key()}, '${text(119)}', '${text(59)}')`);
  db.exec('COMMIT');
}

export default function () {
  attempt(db, transaction);
}
