// Package engine speaks to one commitd server. Its contract is engine/CONTROL.md.
package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Role is what a server says it is.
type Role string

// The roles of a server.
const (
	RoleUninitialized Role = "uninitialized"
	RoleUndecided     Role = "undecided"
	RoleFenced        Role = "fenced"
	RoleReplica       Role = "replica"
	RoleMaster        Role = "master"
	RoleStandalone    Role = "standalone"
)

// States of a replica's receiver that decisions depend on.
const (
	ReceiverReceiving = "receiving"
	ReceiverDiverged  = "diverged"
)

// ReceiverError: the receiver has stopped, and says why.
const ReceiverError = "error"

// logPurged is in what commitd says when the source's log does not go back far enough; the number 1236 has other causes, too.
const logPurged = "purged required binary logs"

// ApplierStopped: a replica receives and acknowledges, and cannot apply what it has received.
const ApplierStopped = "error"

// Status is the one row of performance_schema.commitd_instance.
type Status struct {
	ServerUUID string
	ServerID   int64
	Version    string
	// DataFormat is empty for an engine that does not tell.
	DataFormat string

	Role          Role
	Epoch         int64
	QuorumVersion int64
	LastLogEpoch  int64
	GTIDExecuted  string
	GTIDLogged    string

	WaitCount         int32
	Members           []string
	Terms             Terms
	SemisyncClients   []string
	AckedMembers      []string
	WritesBlocked     bool
	AckWaiting        int64
	AckWaitingSeconds float64
	// LeaseLost: a master that hears too few of its members answers no clients; KnowsLease is false for an engine without leases.
	LeaseLost  bool
	KnowsLease bool
	// HandedOver: a master that takes no writes, though it could; CanHandOver is false for an engine that does not know of it.
	HandedOver  bool
	CanHandOver bool
	// SendsClientsAway: the engine lets nobody in who takes a former master for the master. An older one does, and keeps them.
	SendsClientsAway bool

	SourceUUID    string
	SourceHost    string
	SourcePort    int64
	ReceiverState string
	ReceiverError string
	// SecondsSinceHeartbeat is nil when the source has never been heard.
	SecondsSinceHeartbeat *float64

	UnappliedTransactions int64
	// ApplierState is empty for an engine that does not tell.
	ApplierState string
	ApplierError string

	// BuiltInAccounts are the names of those that the server has beside its data.
	BuiltInAccounts []string
}

// HasReplicationAccount: replicas need not log in at it as the operator.
func (s *Status) HasReplicationAccount() bool {
	return slices.Contains(s.BuiltInAccounts, ReplicationUser)
}

// MayBePromoted: the server has stepped down for this epoch, and has listened to nobody older since.
func (s *Status) MayBePromoted(epoch int64) error {
	if s.Epoch != epoch || (s.Role != RoleFenced && s.Role != RoleMaster) {
		return fmt.Errorf("%w: epoch %d has not fenced this server: it is %s in epoch %d", ErrEpoch, epoch, s.Role, s.Epoch)
	}
	return nil
}

// LogPurged: the source does not have the log any more from where this replica stands.
func (s *Status) LogPurged() bool {
	return s.ReceiverState == ReceiverError && strings.Contains(s.ReceiverError, logPurged)
}

// Quorum is who must acknowledge a transaction besides the master, and what happens when they do not.
type Quorum struct {
	WaitCount int32
	Members   []string
	Terms     Terms
}

// Terms say what the master does with commits that are not acknowledged in time, and with clients when nobody would acknowledge.
// Without any it waits for ever, and answers for ever.
type Terms struct {
	// TimeoutMilliseconds is 0 for no end.
	TimeoutMilliseconds int64
	// OnTimeout is empty, OnTimeoutError or OnTimeoutAsync.
	OnTimeout string
	// LeaseMilliseconds is how long the master answers clients without having heard from WaitCount members; 0: for ever.
	LeaseMilliseconds int64
}

// What a master can do after the timeout, other than to wait on.
const (
	// OnTimeoutError answers with an error; the transaction becomes visible once it is acknowledged.
	OnTimeoutError = "error"
	// OnTimeoutAsync acknowledges what no replica may hold.
	OnTimeoutAsync = "async"
)

// ForEver is the timeout without an end, in milliseconds.
const ForEver int64 = 4294967295

// Source is where a replica reads from.
type Source struct {
	Host     string
	Port     int32
	UUID     string
	User     string
	Password string
	// TLSName is what its certificate must be for; empty: without TLS.
	TLSName string
}

// Account is a user, its password and what it may do.
type Account struct {
	User     string
	Password string
	Grants   []string
}

// Errors that commitd answers with and that mean something to a caller.
var (
	// ErrEpoch: the server has promised a higher epoch, or another role in this one.
	ErrEpoch = errors.New("epoch refused")
	// ErrInitialized: there is a datadir already.
	ErrInitialized = errors.New("already initialized")
	// ErrDiverged: the server has applied transactions that its new source does not have.
	ErrDiverged = errors.New("diverged from its source")
	// ErrDenied: the server does not take the operator's password.
	ErrDenied = errors.New("login refused")
	// ErrStatic: the variable cannot be set while the server runs, or is an option without a variable.
	ErrStatic = errors.New("can only be set at start")
)

// Server is one commitd server.
type Server interface {
	Status(ctx context.Context) (Status, error)
	// Began is when the process began, by the clock of its node; an engine that does not tell answers with the zero time.
	Began(ctx context.Context) (time.Time, error)
	Initialize(ctx context.Context) error
	Fence(ctx context.Context, epoch int64) error
	Promote(ctx context.Context, epoch int64, quorum Quorum) error
	// PromoteFenced promotes a server only if its process has been fenced in that very epoch, or is the epoch's master already. Whatever
	// answers at the same address since, an older copy of the volume above all, has not been.
	PromoteFenced(ctx context.Context, epoch int64, quorum Quorum) error
	Follow(ctx context.Context, epoch int64, source Source) error
	// Clone fetches the donor's data in place of the server's own, which must be those of this UUID (empty: none), and waits until that
	// is decided; soon afterwards the server is another one. Whatever answers at the same address since keeps its data.
	// A replica is only stopped: when it has been started again it has no role, and can be asked once more.
	Clone(ctx context.Context, uuid string, donor Source) error
	// CloneProgress is how many bytes have come, of about how many; 0 of 0 when nothing is under way.
	CloneProgress(ctx context.Context) (done, estimate int64, err error)
	SetQuorum(ctx context.Context, epoch, version int64, quorum Quorum) error
	// HandOver has the master take no more writes, and waits until all that it has logged is acknowledged. The same Promote again
	// takes it back.
	HandOver(ctx context.Context, epoch int64) error
	// EnsureAccounts creates the database and the accounts; it waits for acknowledgements like any other write.
	EnsureAccounts(ctx context.Context, database string, accounts []Account) error
	// GlobalVariables reads global values by name; what the server does not know is left out.
	GlobalVariables(ctx context.Context, names []string) (map[string]string, error)
	// SetGlobal sets a global variable; nil: to its default.
	SetGlobal(ctx context.Context, name string, value *string) error
	Close() error
}
