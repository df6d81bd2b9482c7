package engine

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
	"github.com/go-mysql-org/go-mysql/server"
)

// script is a MySQL server that answers what a test says and remembers what it was asked.
type script struct {
	server.EmptyHandler
	mu         sync.Mutex
	statements []string
	answer     func(string) (*mysql.Result, error)
	// hangsUp: a connection ends behind its first statement.
	hangsUp bool
	// lost is how many connections end before their login is answered.
	lost atomic.Int32
}

// losesLogin ends when it is asked to read the client's answer to the greeting.
type losesLogin struct{ net.Conn }

func (c losesLogin) Read([]byte) (int, error) { return 0, errors.Join(io.EOF, c.Close()) }

func (s *script) HandleQuery(query string) (*mysql.Result, error) {
	s.mu.Lock()
	s.statements = append(s.statements, query)
	s.mu.Unlock()
	if s.answer == nil {
		return nil, nil
	}
	return s.answer(query)
}

func (s *script) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.statements)
}

// serve starts the script and logs in as the operator does.
func serve(t *testing.T, s *script) *Client {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	conf := server.NewDefaultServer()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			if s.lost.Add(-1) >= 0 {
				c = losesLogin{c}
			}
			go func() {
				session, err := conf.NewConn(c, OperatorUser, "secret", s)
				for err == nil {
					err = session.HandleCommand()
					if s.hangsUp {
						_ = c.Close()
					}
				}
			}()
		}
	}()
	address := listener.Addr().(*net.TCPAddr)
	client, err := Dial(Target{Address: "127.0.0.1", Port: int32(address.Port), Password: "secret"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func TestControlStatementsAreThoseOfTheContract(t *testing.T) {
	s := &script{}
	c, ctx := serve(t, s), within(t)
	for _, err := range []error{
		c.Initialize(ctx),
		c.Fence(ctx, 7),
		c.Promote(ctx, 7, Quorum{WaitCount: 1, Members: []string{"a", "b"}}),
		c.Promote(ctx, 7, Quorum{}),
		c.Follow(ctx, 7, Source{Host: "10.0.0.1", Port: 3306, UUID: "u", User: OperatorUser, Password: `it's \ here`}),
		c.Follow(ctx, 7, Source{Host: "h", Port: 1, UUID: "u", User: ReplicationUser, Password: "p", TLSName: "demo-0.demo.shop.svc"}),
		c.SetQuorum(ctx, 7, 3, Quorum{WaitCount: 2, Members: []string{"a", "b"}}),
		c.SetQuorum(ctx, 7, 4, Quorum{WaitCount: 1, Members: []string{"a"}, Terms: Terms{TimeoutMilliseconds: 1500, OnTimeout: OnTimeoutError, LeaseMilliseconds: 3000}}),
		c.HandOver(ctx, 7),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"ALTER INSTANCE INITIALIZE",
		"ALTER INSTANCE FENCE EPOCH 7",
		"ALTER INSTANCE PROMOTE EPOCH 7 WAIT_COUNT 1 MEMBERS 'a,b'",
		"ALTER INSTANCE PROMOTE EPOCH 7 WAIT_COUNT 0 MEMBERS ''",
		`ALTER INSTANCE FOLLOW EPOCH 7 SOURCE_HOST '10.0.0.1' SOURCE_PORT 3306 SOURCE_UUID 'u' SOURCE_USER 'commitlab_operator' SOURCE_PASSWORD 'it\'s \\ here'`,
		"ALTER INSTANCE FOLLOW EPOCH 7 SOURCE_HOST 'h' SOURCE_PORT 1 SOURCE_UUID 'u' SOURCE_USER 'commitlab_replication' SOURCE_PASSWORD 'p' SOURCE_SSL_NAME 'demo-0.demo.shop.svc'",
		"ALTER INSTANCE QUORUM EPOCH 7 VERSION 3 WAIT_COUNT 2 MEMBERS 'a,b'",
		"ALTER INSTANCE QUORUM EPOCH 7 VERSION 4 WAIT_COUNT 1 MEMBERS 'a' TIMEOUT 1500 ON_TIMEOUT 'error' SOURCE_LEASE 3000",
		"ALTER INSTANCE HANDOVER EPOCH 7 TIMEOUT 1000",
	}
	if got := s.asked(); !slices.Equal(got, want) {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOnlyTheProcessThatTheEpochHasFencedIsPromoted(t *testing.T) {
	for what, c := range map[string]struct {
		role     string
		epoch    int
		promoted bool
	}{
		"fenced in the epoch":          {"fenced", 7, true},
		"its master already":           {"master", 7, true},
		"an older copy of the volume":  {"undecided", 3, false},
		"fenced in an earlier epoch":   {"fenced", 6, false},
		"started again since":          {"undecided", 7, false},
		"following another in it":      {"replica", 7, false},
		"the master of an older epoch": {"master", 6, false},
	} {
		row := statusRowOf([]string{"role", "epoch"}, []any{c.role, c.epoch})
		s := &script{answer: func(q string) (*mysql.Result, error) {
			if strings.HasPrefix(q, "SELECT") {
				return row(q)
			}
			return nil, nil
		}}
		err := serve(t, s).PromoteFenced(within(t), 7, Quorum{})
		if promoted := len(s.asked()) == 2; promoted != c.promoted || (err == nil) != c.promoted || (err != nil && !errors.Is(err, ErrEpoch)) {
			t.Errorf("%s: %v, asked %q", what, err, s.asked())
		}
	}
}

func TestAPromotionEndsWithTheProcessThatHasAnswered(t *testing.T) {
	s := &script{hangsUp: true, answer: statusRowOf([]string{"role", "epoch"}, []any{"fenced", 7})}
	if err := serve(t, s).PromoteFenced(within(t), 7, Quorum{}); err == nil || len(s.asked()) != 1 {
		t.Fatalf("%v, asked %q", err, s.asked())
	}
}

func TestALoginThatIsLostIsTriedOnceMore(t *testing.T) {
	for lost, served := range map[int32]bool{0: true, 1: true, 2: false} {
		s := &script{answer: statusRowOf([]string{"role"}, []any{"fenced"})}
		s.lost.Store(lost)
		c := serve(t, s)
		if _, err := c.Status(within(t)); (err == nil) != served || len(s.asked()) > 1 {
			t.Errorf("%d lost: %v, asked %q", lost, err, s.asked())
		}
	}
}

func TestRefusalsHaveNames(t *testing.T) {
	for number, want := range map[uint16]error{errnoEpoch: ErrEpoch, errnoInitialized: ErrInitialized, errnoDiverged: ErrDiverged} {
		c := serve(t, &script{answer: func(string) (*mysql.Result, error) {
			return nil, &mysql.MyError{Code: number, State: "HY000", Message: "Epoch 3 is older"}
		}})
		err := c.Fence(within(t), 3)
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "Epoch 3 is older") {
			t.Errorf("%d: %v", number, err)
		}
	}
}

func statusRowOf(columns []string, values []any) func(string) (*mysql.Result, error) {
	return func(string) (*mysql.Result, error) {
		set, err := mysql.BuildSimpleTextResultset(columns, [][]any{values})
		if err != nil {
			return nil, err
		}
		return mysql.NewResult(set), nil
	}
}

func TestStatusIsReadByColumnName(t *testing.T) {
	c := serve(t, &script{answer: statusRowOf(
		[]string{"role", "from_the_future", "server_uuid", "epoch", "members", "acked_members", "writes_blocked", "ack_waiting_seconds", "seconds_since_heartbeat"},
		[]any{"master", "x", "u-1", 12, "a,b", "", 1, "2.500", nil})})
	st, err := c.Status(within(t))
	if err != nil {
		t.Fatal(err)
	}
	if st.Role != RoleMaster || st.ServerUUID != "u-1" || st.Epoch != 12 || !slices.Equal(st.Members, []string{"a", "b"}) ||
		len(st.AckedMembers) != 0 || !st.WritesBlocked || st.AckWaitingSeconds != 2.5 || st.SecondsSinceHeartbeat != nil {
		t.Fatalf("%+v", st)
	}
}

func TestTermsAreReadBack(t *testing.T) {
	for want, values := range map[Terms][]any{
		{}: {"master", ForEver, "block"},
		{TimeoutMilliseconds: 1500, OnTimeout: OnTimeoutAsync}: {"master", 1500, "async"},
		{TimeoutMilliseconds: 1500}:                            {"master", 1500, "block"},
	} {
		c := serve(t, &script{answer: statusRowOf([]string{"role", "semisync_timeout", "semisync_on_timeout"}, values)})
		if st, err := c.Status(within(t)); err != nil || st.Terms != want {
			t.Errorf("%+v (%v), want %+v", st.Terms, err, want)
		}
	}
}

func TestAServerWithoutARoleIsNotTrusted(t *testing.T) {
	c := serve(t, &script{answer: statusRowOf([]string{"server_uuid"}, []any{"u-1"})})
	if _, err := c.Status(within(t)); err == nil {
		t.Fatal("accepted")
	}
	c = serve(t, &script{answer: statusRowOf([]string{"role", "epoch"}, []any{"master", "many"})})
	if _, err := c.Status(within(t)); err == nil || !strings.Contains(err.Error(), "epoch") {
		t.Fatalf("got %v", err)
	}
}

func TestAccountsGoOnAfterOneUnsupportedStatementAndHideTheirPasswords(t *testing.T) {
	s := &script{answer: func(q string) (*mysql.Result, error) {
		if strings.HasPrefix(q, "CREATE USER") {
			return nil, &mysql.MyError{Code: 1235, State: "42000", Message: "not supported yet"}
		}
		return nil, nil
	}}
	err := serve(t, s).EnsureAccounts(within(t), "app", []Account{{User: "app", Password: "hush", Grants: []string{GrantAll("app")}}})
	if err == nil || strings.Contains(err.Error(), "hush") {
		t.Fatalf("got %v", err)
	}
	want := []string{"CREATE DATABASE IF NOT EXISTS `app`", "CREATE USER IF NOT EXISTS 'app'@'%' IDENTIFIED BY 'hush'",
		"ALTER USER 'app'@'%' IDENTIFIED BY 'hush'", "GRANT ALL ON `app`.* TO 'app'@'%'"}
	if got := s.asked(); !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
}

func TestThePoolFollowsAServerToItsNewAddress(t *testing.T) {
	p := NewPool()
	target := Target{Name: "ns/demo-0", Address: "10.0.0.1", Port: 33062, Password: "x"}
	first, _ := p.Connect(target)
	same, _ := p.Connect(target)
	target.Address = "10.0.0.2"
	moved, _ := p.Connect(target)
	if first != same || first == moved {
		t.Fatal("a client is kept exactly as long as the target stays the same")
	}
	p.Forget(func(string) bool { return false })
	if len(p.clients) != 0 {
		t.Fatal("forgotten clients are still there")
	}
}
