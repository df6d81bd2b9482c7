package main

import (
	"fmt"
	"log/slog"
	"slices"
	"time"

	"commitlab.dev/ledger/internal/comparison"
	"commitlab.dev/ledger/internal/dbserver"
	"commitlab.dev/ledger/internal/killloop"
	"commitlab.dev/ledger/internal/peerset"
	"commitlab.dev/ledger/internal/replicaset"
)

const (
	replicas = 2
	// defaultTimeout is MariaDB's of rpl_semi_sync_master_timeout.
	defaultTimeout = 10 * time.Second
)

// members is what the servers of all systems are started with.
type members struct {
	commitd      string
	template     string
	library      string
	answerWithin time.Duration
	log          *slog.Logger
}

type maker func(m members, dir string, adapt func(dbserver.Commands) dbserver.Commands) (killloop.Set, error)

var known = []struct {
	name string
	make maker
}{
	{"commitd", members.newCommitd},
	{"MariaDB", mariaDB(0)},
	{"MariaDB-10s", mariaDB(defaultTimeout)},
}

func systemNames() []string {
	var names []string
	for _, k := range known {
		names = append(names, k.name)
	}
	return names
}

// systems are started with what the members hold by then.
func systems(names []string, m *members) ([]comparison.System, error) {
	var systems []comparison.System
	for _, name := range names {
		at := slices.Index(systemNames(), name)
		if at < 0 {
			return nil, fmt.Errorf("--system=%s: there are %q", name, systemNames())
		}
		systems = append(systems, comparison.System{Name: name, New: func(dir string, power comparison.Power) (killloop.Set, error) {
			return known[at].make(*m, dir, m.onDisk(power))
		}})
	}
	return systems, nil
}

// onDisk puts the data where a kill takes away what was not synced.
func (m members) onDisk(power comparison.Power) func(dbserver.Commands) dbserver.Commands {
	return func(commands dbserver.Commands) dbserver.Commands {
		switch power {
		case comparison.All:
			return commands.On(dbserver.Forgetful, m.library)
		case comparison.Torn:
			return commands.On(dbserver.Torn, m.library)
		}
		return commands
	}
}

func (m members) newCommitd(dir string, adapt func(dbserver.Commands) dbserver.Commands) (killloop.Set, error) {
	return replicaset.New(replicaset.Config{Program: m.commitd, Dir: dir, Replicas: replicas, WaitCount: 1, AnswerWithin: m.answerWithin, Adapt: adapt}, m.log)
}

func mariaDB(timeout time.Duration) maker {
	return func(m members, dir string, adapt func(dbserver.Commands) dbserver.Commands) (killloop.Set, error) {
		return peerset.New(peerset.Config{
			Dir: dir, Replicas: replicas, Template: m.template, Timeout: timeout, AnswerWithin: m.answerWithin, Adapt: withoutNativeIO(adapt),
		}, m.log)
	}
}

// withoutNativeIO has InnoDB write by calls that the library with the forgetful disk knows.
func withoutNativeIO(adapt func(dbserver.Commands) dbserver.Commands) func(dbserver.Commands) dbserver.Commands {
	return func(commands dbserver.Commands) dbserver.Commands {
		commands.Run += " --innodb-use-native-aio=0"
		return adapt(commands)
	}
}
