package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"commitlab.dev/operator/internal/engine"
	"commitlab.dev/operator/internal/engine/fake"
)

// house is one server that can be killed and started again: the fake's, or a commitd process.
type house interface {
	server() engine.Server
	restart(t *testing.T)
}

type fakeHouse struct{ world *fake.World }

func (h fakeHouse) server() engine.Server { return h.world.Server("a") }
func (h fakeHouse) restart(*testing.T)    { h.world.Kill("a"); h.world.Start("a") }

type process struct {
	binary, dir   string
	id            int
	port, clients int
	client        *engine.Client
	command       *exec.Cmd
}

func (p *process) server() engine.Server { return p.client }

func (p *process) restart(t *testing.T) {
	p.kill()
	p.start(t)
}

func (p *process) kill() {
	_ = p.command.Process.Signal(syscall.SIGKILL)
	_ = p.command.Wait()
}

func (p *process) start(t *testing.T) {
	t.Helper()
	password := filepath.Join(p.dir, "password")
	if err := os.WriteFile(password, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.command = exec.Command(p.binary, "--datadir="+filepath.Join(p.dir, "data"), "--socket="+filepath.Join(p.dir, "s"),
		fmt.Sprintf("--port=%d", p.clients), fmt.Sprintf("--admin-port=%d", p.port), fmt.Sprintf("--http-port=%d", freePort(t)),
		fmt.Sprintf("--server-id=%d", p.id), "--require-bootstrap", "--operator-password-file="+password, "--root-password-file="+password)
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	p.command.Stderr = log
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 {
		if _, err = p.client.Status(t.Context()); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("commitd does not answer: %v\n%s", err, text)
}

// commitd is the program that COMMITD names. CI builds it first: there it must be.
func commitd(t *testing.T) string {
	t.Helper()
	binary := os.Getenv("COMMITD")
	if binary == "" && os.Getenv("EVERYTHING_IS_BUILT") != "" {
		t.Fatal("COMMITD names no commitd")
	}
	if binary == "" {
		t.Skip("COMMITD names no commitd")
	}
	return binary
}

// freePort gives one that the kernel lends to no client: a server that is started again finds it free.
func freePort(t *testing.T) int {
	t.Helper()
	for range 1000 {
		port := 10000 + rand.IntN(20000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// step is a command, what it must answer, and what the status must say after it.
type step struct {
	what    string
	do      func(context.Context, engine.Server) error
	refused error
	role    engine.Role
	epoch   int64
	version int64
}

func fence(epoch int64) func(context.Context, engine.Server) error {
	return func(ctx context.Context, s engine.Server) error { return s.Fence(ctx, epoch) }
}

func promote(epoch int64) func(context.Context, engine.Server) error {
	return func(ctx context.Context, s engine.Server) error { return s.Promote(ctx, epoch, engine.Quorum{}) }
}

func promoteFenced(epoch int64) func(context.Context, engine.Server) error {
	return func(ctx context.Context, s engine.Server) error { return s.PromoteFenced(ctx, epoch, engine.Quorum{}) }
}

func promoteWith(epoch int64, member string) func(context.Context, engine.Server) error {
	return func(ctx context.Context, s engine.Server) error {
		return s.Promote(ctx, epoch, engine.Quorum{WaitCount: 1, Members: []string{member}})
	}
}

func follow(epoch int64, uuid string) func(context.Context, engine.Server) error {
	source := engine.Source{Host: "127.0.0.1", Port: 1, UUID: uuid, User: "u", Password: "p"}
	return func(ctx context.Context, s engine.Server) error { return s.Follow(ctx, epoch, source) }
}

func handOver(epoch int64) func(context.Context, engine.Server) error {
	return func(ctx context.Context, s engine.Server) error { return s.HandOver(ctx, epoch) }
}

func quorum(epoch, version int64) func(context.Context, engine.Server) error {
	return func(ctx context.Context, s engine.Server) error {
		return s.SetQuorum(ctx, epoch, version, engine.Quorum{})
	}
}

const (
	otherUUID = "11111111-1111-1111-1111-111111111111"
	thirdUUID = "22222222-2222-2222-2222-222222222222"
)

// promises are what engine/CONTROL.md says about epochs and roles of one server. A step without a command is a crash.
var promises = []step{
	{"fence before there is data", fence(1), errAny, engine.RoleUninitialized, 0, 0},
	{"initialize", engineInitialize, nil, engine.RoleUndecided, 0, 0},
	{"promote what was never fenced", promoteFenced(2), engine.ErrEpoch, engine.RoleUndecided, 0, 0},
	{"initialize again", engineInitialize, engine.ErrInitialized, engine.RoleUndecided, 0, 0},
	{"fence", fence(2), nil, engine.RoleFenced, 2, 0},
	{"fence again", fence(2), nil, engine.RoleFenced, 2, 0},
	{"fence by an older operator", fence(1), engine.ErrEpoch, engine.RoleFenced, 2, 0},
	{"promote by an older operator", promote(1), engine.ErrEpoch, engine.RoleFenced, 2, 0},
	{"promote what another epoch has fenced", promoteFenced(3), engine.ErrEpoch, engine.RoleFenced, 2, 0},
	{"hand over what is no master", handOver(2), engine.ErrEpoch, engine.RoleFenced, 2, 0},
	{"promote", promoteFenced(2), nil, engine.RoleMaster, 2, 0},
	{"promote the master that is fenced no more", promoteFenced(2), nil, engine.RoleMaster, 2, 0},
	{"promote again", promote(2), nil, engine.RoleMaster, 2, 0},
	{"quorum", quorum(2, 1), nil, engine.RoleMaster, 2, 1},
	{"a newer quorum", quorum(2, 2), nil, engine.RoleMaster, 2, 2},
	{"hand over by an older operator", handOver(1), engine.ErrEpoch, engine.RoleMaster, 2, 2},
	{"hand over in an epoch that nobody has claimed", handOver(3), engine.ErrEpoch, engine.RoleMaster, 2, 2},
	{"hand over", handOver(2), nil, engine.RoleMaster, 2, 2},
	{"hand over again", handOver(2), nil, engine.RoleMaster, 2, 2},
	{"take it back", promoteFenced(2), nil, engine.RoleMaster, 2, 2},
	{"the quorum in force", quorum(2, 2), nil, engine.RoleMaster, 2, 2},
	{"an older quorum", quorum(2, 1), engine.ErrEpoch, engine.RoleMaster, 2, 2},
	{"a quorum of another epoch", quorum(3, 9), engine.ErrEpoch, engine.RoleMaster, 2, 2},
	{"promote again, late", promote(2), nil, engine.RoleMaster, 2, 2},
	{"follow in the master's epoch", follow(2, otherUUID), engine.ErrEpoch, engine.RoleMaster, 2, 2},
	{"fence in the master's epoch", fence(2), engine.ErrEpoch, engine.RoleMaster, 2, 2},
	{"a crash", nil, nil, engine.RoleUndecided, 2, 0},
	{"promote what was fenced before it", promoteFenced(2), engine.ErrEpoch, engine.RoleUndecided, 2, 0},
	{"promote with another quorum after it", promoteWith(2, otherUUID), engine.ErrEpoch, engine.RoleUndecided, 2, 0},
	{"the same promote after it", promote(2), nil, engine.RoleMaster, 2, 2},
	{"promote with another quorum", promoteWith(2, otherUUID), engine.ErrEpoch, engine.RoleMaster, 2, 2},
	{"another crash", nil, nil, engine.RoleUndecided, 2, 0},
	{"quorum without a role", quorum(2, 5), errAny, engine.RoleUndecided, 2, 0},
	{"follow a later master", follow(4, otherUUID), nil, engine.RoleReplica, 4, 0},
	{"follow again", follow(4, otherUUID), nil, engine.RoleReplica, 4, 0},
	{"follow another in one epoch", follow(4, thirdUUID), engine.ErrEpoch, engine.RoleReplica, 4, 0},
	{"promote a replica in its epoch", promote(4), engine.ErrEpoch, engine.RoleReplica, 4, 0},
	{"a crash of a replica", nil, nil, engine.RoleUndecided, 4, 0},
	{"follow after a crash", follow(4, otherUUID), nil, engine.RoleReplica, 4, 0},
	{"fence a replica", fence(5), nil, engine.RoleFenced, 5, 0},
	{"a crash of a fenced server", nil, nil, engine.RoleUndecided, 5, 0},
	{"an old command after it", follow(4, otherUUID), engine.ErrEpoch, engine.RoleUndecided, 5, 0},
	{"promote without a fence", promote(6), nil, engine.RoleMaster, 6, 0},
	{"its quorum", quorum(6, 3), nil, engine.RoleMaster, 6, 3},
	{"fence a master", fence(7), nil, engine.RoleFenced, 7, 0},
}

var errAny = errors.New("any")

func engineInitialize(ctx context.Context, s engine.Server) error { return s.Initialize(ctx) }

func conform(t *testing.T, h house) {
	for _, s := range promises {
		if s.do == nil {
			h.restart(t)
		} else if err := s.do(t.Context(), h.server()); !answers(err, s.refused) {
			t.Errorf("%s: answered %v, want %v", s.what, err, s.refused)
		}
		st, err := h.server().Status(t.Context())
		if err != nil || st.Role != s.role || st.Epoch != s.epoch || st.QuorumVersion != s.version {
			t.Errorf("%s: then %s, epoch %d, version %d (%v); want %s, %d, %d", s.what, st.Role, st.Epoch, st.QuorumVersion, err, s.role, s.epoch, s.version)
		}
		if st.Role != engine.RoleMaster && (st.WaitCount != 0 || len(st.Members) != 0) {
			t.Errorf("%s: no master, and %d of %v have to acknowledge", s.what, st.WaitCount, st.Members)
		}
	}
}

func answers(err, want error) bool {
	if want == errAny {
		return err != nil
	}
	return errors.Is(err, want)
}

func TestTheFakeKeepsWhatTheControlContractPromises(t *testing.T) {
	conform(t, fakeHouse{fake.New("a")})
}

// With COMMITD=/path/to/commitd: the same of a real process.
func TestCommitdKeepsWhatTheControlContractPromises(t *testing.T) {
	binary := commitd(t)
	p := newProcess(t, binary, t.TempDir(), 1)
	p.start(t)
	defer p.kill()
	conform(t, p)
}

// The kubelet's word on a container is compared with this.
func TestCommitdSaysWhenItsProcessBegan(t *testing.T) {
	p := newProcess(t, commitd(t), t.TempDir(), 1)
	defer func() { p.kill() }()
	for range 2 {
		before := time.Now()
		p.start(t)
		began, err := p.client.Began(t.Context())
		// The kernel counts from a whole second.
		if err != nil || began.Before(before.Add(-1100*time.Millisecond)) || began.After(time.Now()) {
			t.Errorf("started at %v, it says %v: %v", before, began, err)
		}
		p.kill()
	}
	p.start(t)
}
