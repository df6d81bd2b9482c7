package journal

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/register"
	"commitlab.dev/ledger/internal/timeline"
)

// formatVersion stands in the first line. Version 1 had faults without evidence: there is nothing to judge them by.
const formatVersion = 2

// A Record is one line of the journal: a word and its fields. Lines are text so that a person can check a verdict with
// grep and sort. A line without its newline is what a crash left half written; it is cut off.
type Record interface {
	line() string
	apply(*State)
}

// Header is the first line.
type header struct{ run entry.Run }

// Reserved says that ids First..Last may be attempted from now on. It is durable before the first of them is sent, so
// a row outside every reservation cannot have come from this ledger.
type Reserved struct{ First, Last uint64 }

// SetUp says that tables and accounts exist and were acknowledged.
type SetUp struct{}

// Server introduces a server under a small number, which OK records refer to.
type Server struct {
	Number int
	timeline.Server
}

// OK says that the server acknowledged the commit of an id.
type OK struct {
	ID       uint64
	Sent, At time.Time
	Server   int
}

// Refused says that the server certainly did not commit the id.
type Refused struct {
	ID    uint64
	At    time.Time
	Errno uint16
}

// Unknown says that the commit was sent and no answer came.
type Unknown struct {
	ID uint64
	At time.Time
}

// Unreachable says that a writer could not get a usable connection.
type Unreachable struct{ At time.Time }

// Fault says that a fault is injected next.
type Fault struct{ timeline.Mark }

// Evidence is what was looked at before and after a fault.
type Evidence struct {
	Fault string `json:"fault"`
	timeline.Evidence
}

// Seen is what a server shows, written when it shows something new.
type Seen struct{ timeline.Observation }

// BankRead is a read of the bank while it was written to: how many reads there were since the last record, or the one that was wrong.
type BankRead struct {
	Server string    `json:"server"`
	At     time.Time `json:"at"`
	Right  int       `json:"right,omitempty"`
	// Wrong is what such a read showed instead of the bank's total.
	Wrong string `json:"wrong,omitempty"`
}

// String says when, and what it showed.
func (r BankRead) String() string { return r.At.UTC().Format("15:04:05.000") + ": " + r.Wrong }

// OwnRead is a read of an acknowledged commit on a server that had waited for the source's GTIDs: what is acknowledged must be seen there.
type OwnRead struct {
	Server string    `json:"server"`
	At     time.Time `json:"at"`
	Right  int       `json:"right,omitempty"`
	// Wrong is what was missing.
	Wrong string `json:"wrong,omitempty"`
}

// Register is an operation on a row that clients share.
type Register struct{ register.Operation }

// Started says that a load begins: nobody wrote between the last record and this one.
type Started struct{ At time.Time }

// barrier is not written; it only waits its turn.
type barrier struct{}

func (barrier) line() string { return "" }
func (barrier) apply(*State) {}

func (r header) line() string {
	return fmt.Sprintf("ledger %d %s %d", formatVersion, r.run.Name, r.run.Accounts)
}
func (r Started) line() string  { return fmt.Sprintf("started %d", r.At.UnixNano()) }
func (r Reserved) line() string { return fmt.Sprintf("reserved %d %d", r.First, r.Last) }
func (r SetUp) line() string    { return "setup" }
func (r Server) line() string {
	return fmt.Sprintf("server %d %d %s", r.Number, r.Epoch, strconv.Quote(r.ID))
}
func (r OK) line() string {
	return fmt.Sprintf("ok %d %d %d %d", r.ID, r.Sent.UnixNano(), r.At.UnixNano(), r.Server)
}
func (r Register) line() string {
	return fmt.Sprintf("register %d %t %d %d %d", r.Key, r.Write, r.Value, r.Call, r.Return)
}
func (r Refused) line() string {
	return fmt.Sprintf("refused %d %d %d", r.ID, r.At.UnixNano(), r.Errno)
}
func (r Unknown) line() string     { return fmt.Sprintf("unknown %d %d", r.ID, r.At.UnixNano()) }
func (r Unreachable) line() string { return fmt.Sprintf("unreachable %d", r.At.UnixNano()) }
func (r Fault) line() string       { return "mark " + object(r) }
func (r Evidence) line() string    { return "evidence " + object(r) }
func (r Seen) line() string        { return "seen " + object(r) }
func (r BankRead) line() string    { return "bank " + object(r) }
func (r OwnRead) line() string     { return "own " + object(r) }

// object writes what is rare and has many fields.
func object(r any) string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // no field of a record can fail
	}
	return string(text)
}

// fields reads the numbers of a line from left to right and remembers the first that is not one.
type fields struct {
	rest []string
	err  error
}

func (f *fields) next() string {
	if len(f.rest) == 0 {
		f.err = fmt.Errorf("a field is missing")
		return ""
	}
	word := f.rest[0]
	f.rest = f.rest[1:]
	return word
}

func (f *fields) number() uint64 {
	n, err := strconv.ParseUint(f.next(), 10, 64)
	if err != nil && f.err == nil {
		f.err = err
	}
	return n
}

func (f *fields) time() time.Time { return time.Unix(0, int64(f.number())) }

func (f *fields) text() string {
	s, err := strconv.Unquote(strings.Join(f.rest, " "))
	if err != nil && f.err == nil {
		f.err = err
	}
	f.rest = nil
	return s
}

// parseObject reads what object wrote.
func parseObject[T Record](f *fields) Record {
	var r T
	if err := json.Unmarshal([]byte(strings.Join(f.rest, " ")), &r); err != nil && f.err == nil {
		f.err = err
	}
	return r
}

func parse(line string) (Record, error) {
	f := &fields{rest: strings.Split(line, " ")}
	var r Record
	switch word := f.next(); word {
	case "ledger":
		if version := f.number(); version != formatVersion {
			return nil, fmt.Errorf("journal format %d is not known to this program, which writes %d: verify it with the program that wrote it", version, formatVersion)
		}
		r = header{entry.Run{Name: f.next(), Accounts: int(f.number())}}
	case "reserved":
		r = Reserved{First: f.number(), Last: f.number()}
	case "setup":
		r = SetUp{}
	case "server":
		number, epoch := int(f.number()), f.number()
		r = Server{Number: number, Server: timeline.Server{ID: f.text(), Epoch: epoch}}
	case "ok":
		r = OK{ID: f.number(), Sent: f.time(), At: f.time(), Server: int(f.number())}
	case "register":
		r = Register{register.Operation{
			Key: int(f.number()), Write: f.next() == "true", Value: f.number(), Call: int64(f.number()), Return: int64(f.number()),
		}}
	case "refused":
		r = Refused{ID: f.number(), At: f.time(), Errno: uint16(f.number())}
	case "unknown":
		r = Unknown{ID: f.number(), At: f.time()}
	case "unreachable":
		r = Unreachable{At: f.time()}
	case "started":
		r = Started{At: f.time()}
	case "mark":
		r = parseObject[Fault](f)
	case "evidence":
		r = parseObject[Evidence](f)
	case "seen":
		r = parseObject[Seen](f)
	case "bank":
		r = parseObject[BankRead](f)
	case "own":
		r = parseObject[OwnRead](f)
	default:
		return nil, fmt.Errorf("%q is not a journal record", word)
	}
	if f.err != nil {
		return nil, fmt.Errorf("%q: %w", line, f.err)
	}
	return r, nil
}
