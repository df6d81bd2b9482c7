package peerset

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"

	"commitlab.dev/ledger/internal/dbserver"
)

// rebuild makes a server anew from a dump of the source, which says what GTID position it is of.
func (s *Set) rebuild(ctx context.Context, m *dbserver.Member) error {
	if m.Ended() == nil {
		if err := m.Kill(); err != nil {
			return err
		}
	}
	if err := m.Renew(); err != nil {
		return err
	}
	s.mu.Lock()
	s.rebuilt++
	delete(s.former, m)
	delete(s.attached, m)
	source := s.source
	s.mu.Unlock()
	if err := s.Launch(m); err != nil {
		return err
	}
	if err := await(ctx, m); err != nil {
		return err
	}
	if err := m.CreateApplication(ctx, commandTimeout, "SET sql_log_bin = 0"); err != nil {
		return err
	}
	return load(ctx, source, m)
}

// load copies the databases. The copy is not written to the new server's own log.
func load(ctx context.Context, from, to *dbserver.Member) error {
	dump := exec.CommandContext(ctx, "mariadb-dump", append(connection(from), "--single-transaction", "--master-data=1", "--gtid", "--databases", "ledger")...)
	client := exec.CommandContext(ctx, "mariadb", append(connection(to), "--init-command=SET sql_log_bin=0")...)
	var fromDump, fromClient bytes.Buffer
	dump.Stderr, client.Stderr = &fromDump, &fromClient
	var err error
	if client.Stdin, err = dump.StdoutPipe(); err != nil {
		return err
	}
	if err := client.Start(); err != nil {
		return err
	}
	dumped := dump.Run()
	if loaded := client.Wait(); dumped != nil || loaded != nil {
		return fmt.Errorf("%s from a dump of %s: %v: %s, %v: %s", to.Name, from.Name, dumped, fromDump.String(), loaded, fromClient.String())
	}
	return nil
}

func connection(m *dbserver.Member) []string {
	return []string{"--no-defaults", "--protocol=tcp", "--host=127.0.0.1", "--port=" + strconv.Itoa(m.Port()), "--user=root"}
}
