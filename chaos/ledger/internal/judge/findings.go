package judge

import (
	"fmt"

	"commitlab.dev/ledger/internal/journal"
	"commitlab.dev/ledger/internal/register"
)

// Findings is what was read once the load had ended.
type Findings struct {
	// Master is what writers are sent to now.
	Master Found
	// Servers are all that were to be read, in the order in which they were given.
	Servers []Found
	// Registers is register.Check of the history, which takes a while and is the same at every look.
	Registers register.Result
}

// Found is what one server showed, or why it could not be read.
type Found struct {
	Name  string
	ID    string
	Image *Image
	// GTIDs says how the executed transactions differ from the master's.
	GTIDs string
	Error string
}

// compareServers finds what is missing in what was read: each server that was given, each by itself, and everyone who acknowledged.
func (v *Verdict) compareServers(state *journal.State, found Findings, say *opinion) {
	byID := map[string]string{}
	for _, f := range found.Servers {
		server := Server{Name: f.Name, ID: f.ID, GTIDs: f.GTIDs, Error: f.Error}
		if f.Image != nil && found.Master.Image != nil {
			server.Rows, server.Equal = f.Image.Rows, f.Image.Digest == found.Master.Image.Digest
		}
		v.Servers = append(v.Servers, server)
		say.doubt(f.Image == nil, "server %s could not be read: %s", f.Name, f.Error)
		if f.Image == nil {
			continue
		}
		say.doubt(f.ID != "" && byID[f.ID] != "", "%s and %s are one server: another one was not read", byID[f.ID], f.Name)
		byID[f.ID] = f.Name
		v.judgeServer(state, f, server, say)
	}
	v.doubtAbsent(byID, found, say)
}

// judgeServer looks at a server alone. Rows may still be on their way to a replica; what is there must be right at any moment.
func (v *Verdict) judgeServer(state *journal.State, f Found, server Server, say *opinion) {
	wrong := 0
	for id, count := range f.Image.seen {
		outcome, reserved := state.Outcome(id)
		if count > 1 || !reserved || outcome == journal.RefusedOutcome {
			wrong++
		}
	}
	say.failAtOnce(wrong > 0, "server %s shows %d rows twice or that nobody committed", f.Name, wrong)
	say.failAtOnce(len(f.Image.corrupt) > 0, "server %s shows %d rows that are not what was written", f.Name, len(f.Image.corrupt))
	if accounts := checkBank(state.Run, f.Image).WrongAccounts; accounts > 0 {
		say.failAtOnce(true, "%d accounts of server %s do not hold what its transfers left them", accounts, f.Name)
	}
	say.fail(!server.Equal, "server %s differs from the master (%d rows)", f.Name, server.Rows)
	say.fail(f.GTIDs != "", "server %s: %s", f.Name, f.GTIDs)
}

// doubtAbsent names who acknowledged, or is the master now, and was not among the servers that were given.
func (v *Verdict) doubtAbsent(byID map[string]string, found Findings, say *opinion) {
	if len(found.Servers) == 0 || len(byID) < len(found.Servers) { // who could not be read has been named already
		return
	}
	absent := map[string]bool{}
	for _, tenure := range v.Masters {
		absent[tenure.ID] = tenure.ID != "" && byID[tenure.ID] == ""
	}
	for id, missing := range absent {
		say.doubt(missing, "server %s acknowledged commits and was not read: name it with --server", id)
	}
	id := found.Master.ID
	say.doubt(id != "" && byID[id] == "" && !absent[id], "the master %s is none of the servers that were given", id)
}

// stillOn names the servers that show an id.
func (f Findings) stillOn(id uint64) []string {
	names := []string{}
	for _, server := range f.Servers {
		if server.Image != nil && server.Image.seen[id] > 0 {
			names = append(names, server.Name)
		}
	}
	return names
}

// opinion collects what speaks against a Passed.
type opinion struct {
	failures, doubts, unsupported []string
	settled                       bool
}

func (o *opinion) fail(wrong bool, format string, args ...any) {
	if wrong {
		o.failures = append(o.failures, fmt.Sprintf(format, args...))
	}
}

// failAtOnce is for what no waiting mends.
func (o *opinion) failAtOnce(wrong bool, format string, args ...any) {
	o.fail(wrong, format, args...)
	o.settled = o.settled || wrong
}

func (o *opinion) doubt(open bool, format string, args ...any) {
	if open {
		o.doubts = append(o.doubts, fmt.Sprintf(format, args...))
	}
}

// conclude weighs: what is wrong counts for more than what cannot be done here, and that for more than what is not proven.
func (o *opinion) conclude() (Result, []string) {
	reasons := append(append(append([]string{}, o.failures...), o.unsupported...), o.doubts...)
	switch {
	case len(o.failures) > 0:
		return Failed, reasons
	case len(o.unsupported) > 0:
		return Unsupported, reasons
	case len(o.doubts) > 0:
		return Inconclusive, reasons
	}
	return Passed, reasons
}
