package journal

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"commitlab.dev/ledger/internal/entry"
	"commitlab.dev/ledger/internal/timeline"
)

// A record is one line of the journal: a word and its fields. Lines are text so that a person can check a verdict with
// grep and sort. A line without its newline is what a crash left half written; it is cut off.
type record interface {
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

// Fault marks the injection of a fault.
type Fault struct {
	At           time.Time
	Name         string
	ExpectOutage bool
}

// Started says that a load begins: nobody wrote between the last record and this one.
type Started struct{ At time.Time }

// barrier is not written; it only waits its turn.
type barrier struct{}

func (barrier) line() string { return "" }
func (barrier) apply(*State) {}

func (r header) line() string {
	return fmt.Sprintf("ledger 1 %s %d", r.run.Name, r.run.Accounts)
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
func (r Refused) line() string {
	return fmt.Sprintf("refused %d %d %d", r.ID, r.At.UnixNano(), r.Errno)
}
func (r Unknown) line() string     { return fmt.Sprintf("unknown %d %d", r.ID, r.At.UnixNano()) }
func (r Unreachable) line() string { return fmt.Sprintf("unreachable %d", r.At.UnixNano()) }
func (r Fault) line() string {
	return fmt.Sprintf("fault %d %t %s", r.At.UnixNano(), r.ExpectOutage, strconv.Quote(r.Name))
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

func parse(line string) (record, error) {
	f := &fields{rest: strings.Split(line, " ")}
	var r record
	switch word := f.next(); word {
	case "ledger":
		if version := f.number(); version != 1 {
			return nil, fmt.Errorf("journal format %d is not known to this program", version)
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
	case "refused":
		r = Refused{ID: f.number(), At: f.time(), Errno: uint16(f.number())}
	case "unknown":
		r = Unknown{ID: f.number(), At: f.time()}
	case "unreachable":
		r = Unreachable{At: f.time()}
	case "started":
		r = Started{At: f.time()}
	case "fault":
		at, outage := f.time(), f.next() == "true"
		r = Fault{At: at, ExpectOutage: outage, Name: f.text()}
	default:
		return nil, fmt.Errorf("%q is not a journal record", word)
	}
	if f.err != nil {
		return nil, fmt.Errorf("%q: %w", line, f.err)
	}
	return r, nil
}
