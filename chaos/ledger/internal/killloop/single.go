package killloop

import (
	"context"
	"fmt"
	"time"

	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/server"
	"commitlab.dev/ledger/internal/timeline"
)

// single is one server that stands alone.
type single struct{ *dbserver.Server }

// NewSingle prepares a server whose every fault is a kill and a start on the same data.
func NewSingle(commands dbserver.Commands, dir string) (Victim, error) {
	s, err := dbserver.New(commands, dir)
	return single{s}, err
}

func (s single) Start(context.Context) error { return s.Server.Start() }

func (s single) Servers(database string) []server.Named {
	return []server.Named{{Name: "server", DSN: s.DSN(database)}}
}

// Down: nobody starts it again behind its fault.
func (s single) Down() error { return s.Ended() }

func (s single) NextFault(round int) Fault {
	return Fault{Name: fmt.Sprintf("kill %d", round), ExpectOutage: true, Inject: s.killAndStart}
}

func (s single) killAndStart(_ context.Context, prove func(timeline.Evidence) error) error {
	if err := kill("server", s.Server, prove); err != nil {
		return err
	}
	return s.Server.Start()
}

// kill ends a process and proves that it was there and is not any more.
func kill(name string, s *dbserver.Server, prove func(timeline.Evidence) error) error {
	process := s.Process()
	if err := s.Kill(); err != nil {
		return err
	}
	return prove(timeline.Evidence{Kind: timeline.ProofProcess, Object: name, Before: process, After: "ended by SIGKILL", At: time.Now()})
}
