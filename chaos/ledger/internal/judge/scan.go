package judge

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"hash"

	"commitlab.dev/ledger/internal/entry"
)

// pageRows is how many rows one query of a scan reads.
const pageRows = 5000

// Image is what one server shows of a run's tables.
type Image struct {
	Rows     int
	Digest   string
	Balances map[int]int64

	// seen counts rows per id, up to 255.
	seen    map[uint64]uint8
	corrupt []uint64
	moved   map[int]int64
}

// newImage returns an image without rows.
func newImage() *Image {
	return &Image{Balances: map[int]int64{}, seen: map[uint64]uint8{}, moved: map[int]int64{}}
}

// add takes in one row of the entries table and compares it with the row that belongs to its id.
func (i *Image) add(run entry.Run, row entry.Entry) {
	i.Rows++
	if i.seen[row.ID] < 255 {
		i.seen[row.ID]++
	}
	if row != run.Entry(row.ID) {
		i.corrupt = append(i.corrupt, row.ID)
		return
	}
	if row.Transfer() {
		i.moved[row.Debit] -= row.Amount
		i.moved[row.Credit] += row.Amount
	}
}

// Scan reads all tables in one snapshot, by primary key, without holding all rows in memory at the server.
func Scan(ctx context.Context, conn *sql.Conn, run entry.Run) (*Image, error) {
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }()
	image, digest := newImage(), sha256.New()
	if err := image.scanEntries(ctx, tx, run, digest); err != nil {
		return nil, fmt.Errorf("read %s: %w", run.EntriesTable(), err)
	}
	if err := image.scanAccounts(ctx, tx, run, digest); err != nil {
		return nil, fmt.Errorf("read %s: %w", run.AccountsTable(), err)
	}
	if err := scanRegisters(ctx, tx, run, digest); err != nil {
		return nil, fmt.Errorf("read %s: %w", run.RegistersTable(), err)
	}
	image.Digest = hex.EncodeToString(digest.Sum(nil))
	return image, nil
}

func (i *Image) scanEntries(ctx context.Context, tx *sql.Tx, run entry.Run, digest hash.Hash) error {
	query := fmt.Sprintf("SELECT id, payload, debit, credit, amount, checksum FROM %s WHERE id > ? ORDER BY id LIMIT %d",
		run.EntriesTable(), pageRows)
	for after, full := uint64(0), true; full; {
		count, last, err := i.scanPage(ctx, tx, run, digest, query, after)
		if err != nil {
			return err
		}
		if count > 0 && last <= after {
			return fmt.Errorf("rows are not in the order of the primary key: id %d came after %d", last, after)
		}
		full, after = count == pageRows, last
	}
	return nil
}

func (i *Image) scanPage(ctx context.Context, tx *sql.Tx, run entry.Run, digest hash.Hash, query string, after uint64) (int, uint64, error) {
	rows, err := tx.QueryContext(ctx, query, after)
	if err != nil {
		return 0, 0, err
	}
	defer rows.Close()
	count, last := 0, uint64(0)
	for rows.Next() {
		var e entry.Entry
		if err := rows.Scan(&e.ID, &e.Payload, &e.Debit, &e.Credit, &e.Amount, &e.Checksum); err != nil {
			return 0, 0, err
		}
		fmt.Fprintf(digest, "%v\n", e)
		i.add(run, e)
		count, last = count+1, e.ID
	}
	return count, last, rows.Err()
}

func (i *Image) scanAccounts(ctx context.Context, tx *sql.Tx, run entry.Run, digest hash.Hash) error {
	rows, err := tx.QueryContext(ctx, "SELECT id, balance FROM "+run.AccountsTable()+" ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var account int
		var balance int64
		if err := rows.Scan(&account, &balance); err != nil {
			return err
		}
		fmt.Fprintf(digest, "%d %d\n", account, balance)
		i.Balances[account] = balance
	}
	return rows.Err()
}

// scanRegisters only adds to the digest: which value is right, the history says.
func scanRegisters(ctx context.Context, tx *sql.Tx, run entry.Run, digest hash.Hash) error {
	rows, err := tx.QueryContext(ctx, "SELECT id, value FROM "+run.RegistersTable()+" ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key int
		var value uint64
		if err := rows.Scan(&key, &value); err != nil {
			return err
		}
		fmt.Fprintf(digest, "%d=%d\n", key, value)
	}
	return rows.Err()
}
