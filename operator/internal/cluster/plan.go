package cluster

import (
	"fmt"
	"time"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/engine"
)

// Plan is what to do next.
type Plan struct {
	// Record, when set, is to be persisted before anything else is done; the rest of the plan comes from looking again.
	Record *v1alpha1.Record
	// Roles are the role labels that pods must have; they go on before the commands, so that clients leave a lost master first.
	Roles map[string]string
	// Commands may run in any order, and each any number of times.
	Commands []Command
	// Event tells people about a step of Record.
	Event *Event
	// Waiting says, for people, what the protocol waits for; Left is how long, when that is known.
	Waiting string
	Left    time.Duration
	// Rollout says, for people, how far a rolling restart is; empty when there is none.
	Rollout string
	// Problems are things that only a person can put right, by pod name ("" = the cluster).
	Problems map[string]string
}

// Master is the pod that clients are led to as the master; "" when there is none.
func (p *Plan) Master() string {
	for name, role := range p.Roles {
		if role == v1alpha1.RoleMaster {
			return name
		}
	}
	return ""
}

// Event is a step that people want to see.
type Event struct {
	Reason  string
	Message string
	Warning bool
}

// CommandKind names a control statement.
type CommandKind string

// The control statements that plans use.
const (
	CommandInitialize CommandKind = "INITIALIZE"
	CommandFence      CommandKind = "FENCE"
	CommandPromote    CommandKind = "PROMOTE"
	CommandFollow     CommandKind = "FOLLOW"
	CommandQuorum     CommandKind = "QUORUM"
	CommandHandover   CommandKind = "HANDOVER"
	// CommandClone has the server fetch another one's data in place of its own. It takes as long as that takes.
	CommandClone CommandKind = "CLONE"
	// CommandRestart deletes the server's pod, to have another one made from what the spec asks for now.
	CommandRestart CommandKind = "RESTART"
)

// Command is one control statement for one server, or the restart of one.
type Command struct {
	Kind    CommandKind
	Server  string
	Epoch   int64
	Version int64
	Quorum  engine.Quorum
	// Source lacks the credentials: whoever executes the command knows them.
	Source engine.Source
	// PodUID is the only pod that a restart may delete, or that a clone is meant for.
	PodUID string
	// UUID is the server whose data a clone replaces; empty: it has none.
	UUID string
}

func (c Command) String() string {
	switch c.Kind {
	case CommandInitialize:
		return fmt.Sprintf("%s: INITIALIZE", c.Server)
	case CommandRestart:
		return fmt.Sprintf("%s: RESTART of pod %s", c.Server, c.PodUID)
	case CommandClone:
		return fmt.Sprintf("%s: CLONE from %s (%s) in place of %q", c.Server, c.Source.Host, c.Source.UUID, c.UUID)
	case CommandPromote:
		return fmt.Sprintf("%s: PROMOTE EPOCH %d WAIT_COUNT %d MEMBERS %v", c.Server, c.Epoch, c.Quorum.WaitCount, c.Quorum.Members)
	case CommandFollow:
		return fmt.Sprintf("%s: FOLLOW EPOCH %d SOURCE_UUID %s", c.Server, c.Epoch, c.Source.UUID)
	case CommandQuorum:
		return fmt.Sprintf("%s: QUORUM EPOCH %d VERSION %d WAIT_COUNT %d MEMBERS %v",
			c.Server, c.Epoch, c.Version, c.Quorum.WaitCount, c.Quorum.Members)
	default:
		return fmt.Sprintf("%s: %s EPOCH %d", c.Server, c.Kind, c.Epoch)
	}
}

// Report notes what only a person can put right, by pod name ("" = the cluster).
func (p *Plan) Report(server, text string) {
	if p.Problems == nil {
		p.Problems = map[string]string{}
	}
	if before := p.Problems[server]; before != "" {
		text = before + "; " + text
	}
	p.Problems[server] = text
}

// Ports of commitd that other servers and the operator use.
const (
	MySQLPort int32 = 3306
	AdminPort int32 = 33062
)
