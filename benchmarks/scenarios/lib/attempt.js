// Statements that fail are counted by the module (mysql_errors); a load test goes on, after a breath, on a new connection:
// the old one may be inside a transaction.
import { sleep } from 'k6';

const BREATH_SECONDS = 0.1;

export function attempt(db, work) {
  try {
    work();
  } catch (error) {
    db.reset();
    sleep(BREATH_SECONDS);
  }
}
