package peerset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"commitlab.dev/ledger/internal/dbserver"
)

// errDiverged: a server has transactions that the source has not, or cannot start on what it has.
var errDiverged = errors.New("diverged")

// positionNotFound is ER_MASTER_FATAL_ERROR_READING_BINLOG: the source does not have the position that the replica asks for.
const positionNotFound = 1236

// Rejoin starts a server that was killed and sends it to the source.
func (s *Set) Rejoin(ctx context.Context, m *dbserver.Member) error {
	if err := s.Launch(m); err != nil {
		return err
	}
	return s.Attach(ctx)
}

// Attach sends everybody to the source. Who has diverged from it is made anew from a dump of it.
func (s *Set) Attach(ctx context.Context) error {
	var mu sync.Mutex
	var failures []error
	atOnce(s.Replicas(), func(m *dbserver.Member) {
		err := s.attachPatiently(ctx, m)
		mu.Lock()
		defer mu.Unlock()
		failures = append(failures, err)
	})
	return errors.Join(failures...)
}

func (s *Set) attachPatiently(ctx context.Context, m *dbserver.Member) error {
	for {
		err := s.attach(ctx, m)
		if err == nil {
			return nil
		}
		if errors.Is(err, errDiverged) || m.Ended() != nil {
			s.log.Info("rebuild", "server", m.Name, "because", err)
			err = s.rebuild(ctx, m)
		}
		if err != nil {
			s.log.Debug("attach", "error", err)
		}
		if !dbserver.Pause(ctx, retryEvery) {
			return fmt.Errorf("%s does not follow %s: %w", m.Name, s.Source().Name, cmp.Or(err, ctx.Err()))
		}
	}
}

// attach makes a server that answers follow the source; one that does so already goes on.
func (s *Set) attach(ctx context.Context, m *dbserver.Member) error {
	source := s.Source()
	now, err := readReplication(ctx, m)
	if err != nil {
		return err
	}
	if now.receives == "No" || !now.applies || now.sourcePort != strconv.Itoa(source.Port()) {
		if err := s.redirect(ctx, m, now, source); err != nil {
			return err
		}
	}
	if err := s.awaitHearing(ctx, m); err != nil {
		return err
	}
	s.follow(m)
	return nil
}

func (s *Set) redirect(ctx context.Context, m *dbserver.Member, now replication, source *dbserver.Member) error {
	if s.isFormer(m) {
		if err := s.demote(ctx, m); err != nil {
			return err
		}
	} else if now.idle() {
		if err := applyRelayLog(ctx, m); err != nil { // the source has it as well
			s.log.Warn("relay log", "server", m.Name, "error", err)
		}
	}
	return commands(ctx, m, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = ON", "SET GLOBAL rpl_semi_sync_master_enabled = OFF",
		"SET GLOBAL rpl_semi_sync_slave_enabled = ON",
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=%d, MASTER_USER='root', MASTER_PASSWORD='', MASTER_CONNECT_RETRY=1,"+
			" MASTER_USE_GTID=slave_pos", source.Port()),
		"START SLAVE")
}

// awaitHearing returns once the source has accepted the replica's position and begun to send.
func (s *Set) awaitHearing(ctx context.Context, m *dbserver.Member) error {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	for {
		now, err := readReplication(ctx, m)
		switch {
		case err != nil:
			return err
		case now.receiveError == positionNotFound:
			return fmt.Errorf("%s: %w: %s", m.Name, errDiverged, now.receiveErrorText)
		case !now.applies:
			return fmt.Errorf("%s: %w: %s", m.Name, errDiverged, now.applyErrorText)
		case now.hears:
			return nil
		}
		if !dbserver.Pause(ctx, retryEvery) {
			return fmt.Errorf("%s does not hear its source: %s %s", m.Name, now.receives, now.receiveErrorText)
		}
	}
}

func (s *Set) follow(m *dbserver.Member) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attached[m] = true
	delete(s.former, m)
}

func (s *Set) isFormer(m *dbserver.Member) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.former[m]
}

// demote makes a former source one that has never been it. One that has not been started since waits for acknowledgements that will not come:
// neither read_only nor a shutdown gets past those commits without making them visible, so it is killed, and takes them back as it starts.
func (s *Set) demote(ctx context.Context, m *dbserver.Member) error {
	var readOnly bool
	if err := value(ctx, m, "SELECT @@GLOBAL.read_only", &readOnly); err != nil {
		return err
	}
	if !readOnly {
		if err := m.Kill(); err != nil {
			return err
		}
		if err := s.Launch(m); err != nil {
			return err
		}
		if err := await(ctx, m); err != nil {
			return err
		}
	}
	return commands(ctx, m, "STOP SLAVE", "SET GLOBAL gtid_slave_pos = @@GLOBAL.gtid_binlog_pos")
}
