// The table of the read and the mixed scenarios: sysbench's columns, filled in setup().
import mysql from 'k6/x/mysql';
import { createDatabase, target, text } from './target.js';

const ROWS_PER_INSERT = 500;

export const table = `${target.database}.sbtest1`;

export function prepareTable() {
  const db = mysql.open(target.dsn);
  createDatabase(db);
  db.exec(
    `CREATE TABLE IF NOT EXISTS ${table} (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, c VARCHAR(120) NOT NULL, pad VARCHAR(60) NOT NULL)`,
  );
  const present = Number(db.query(`SELECT COUNT(*) AS n FROM ${table}`)[0].n);
  for (let first = present + 1; first <= target.rows; first += ROWS_PER_INSERT) {
    const last = Math.min(first + ROWS_PER_INSERT - 1, target.rows);
    const rows = [];
    for (let id = first; id <= last; id++) {
      rows.push(`(${id}, ${id}, '${text(119)}', '${text(59)}')`);
    }
    db.exec(`INSERT INTO ${table} (id, k, c, pad) VALUES ${rows.join(', ')}`);
  }
  db.close();
}
