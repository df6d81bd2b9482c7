// Package entry says what the row for an id must look like. Everything in a row follows from the run's name and the id,
// so a checker needs nothing but the id to know whether a row is the one that was written.
package entry

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"regexp"
)

// InitialBalance is what every account starts with.
const InitialBalance = 1_000_000

// transferOneIn is how many entries there are for one that also moves money between two accounts.
const transferOneIn = 4

var runName = regexp.MustCompile(`^[a-z0-9_]{1,24}$`)

// Run names one execution of the ledger. Tables carry the name, so that runs on one database never meet.
type Run struct {
	Name     string
	Accounts int
}

// Validate reports why a run cannot be used.
func (r Run) Validate() error {
	if !runName.MatchString(r.Name) {
		return fmt.Errorf("run name %q: use 1 to 24 characters of a-z, 0-9 and _ (it becomes part of table names)", r.Name)
	}
	if r.Accounts < 2 {
		return fmt.Errorf("%d accounts: a transfer needs at least 2", r.Accounts)
	}
	return nil
}

// Total is what all accounts hold together, at any moment.
func (r Run) Total() int64 { return int64(r.Accounts) * InitialBalance }

// EntriesTable, AccountsTable and RegistersTable are the tables of the run.
func (r Run) EntriesTable() string  { return "ledger_" + r.Name + "_entries" }
func (r Run) AccountsTable() string { return "ledger_" + r.Name + "_accounts" }

func (r Run) RegistersTable() string { return "ledger_" + r.Name + "_registers" }

// Entry is one row of the entries table. Amount is 0 when the entry moves no money.
type Entry struct {
	ID            uint64
	Payload       string
	Debit, Credit int
	Amount        int64
	Checksum      uint32
}

// Entry returns the row that belongs to an id.
func (r Run) Entry(id uint64) Entry {
	var key [8]byte
	binary.LittleEndian.PutUint64(key[:], id)
	sum := sha256.Sum256(append([]byte(r.Name+"/"), key[:]...))

	e := Entry{ID: id, Payload: hex.EncodeToString(sum[:20])}
	if sum[20]%transferOneIn == 0 {
		n := uint32(r.Accounts)
		debit := binary.LittleEndian.Uint32(sum[21:]) % n
		credit := (debit + 1 + binary.LittleEndian.Uint32(sum[25:])%(n-1)) % n
		e.Debit, e.Credit = int(debit), int(credit)
		e.Amount = 1 + int64(sum[29])
	}
	e.Checksum = e.computeChecksum()
	return e
}

// Transfer tells whether the entry moves money.
func (e Entry) Transfer() bool { return e.Amount != 0 }

func (e Entry) computeChecksum() uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%d|%s|%d|%d|%d", e.ID, e.Payload, e.Debit, e.Credit, e.Amount))
}
