package proxy

import (
	"io"
	"net"
	"testing"
	"time"
)

// speaker is a backend that says its name to whoever connects, and then what it hears.
func speaker(t *testing.T, name string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(name))
			go func() { _, _ = io.Copy(conn, conn) }()
		}
	}()
	return listener.Addr().String()
}

func connect(t *testing.T, p *Proxy) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func hears(t *testing.T, conn net.Conn, want string) {
	t.Helper()
	heard := make([]byte, len(want))
	if _, err := io.ReadFull(conn, heard); string(heard) != want {
		t.Fatalf("heard %q instead of %q (%v)", heard, want, err)
	}
}

func hearsNothingMore(t *testing.T, conn net.Conn) {
	t.Helper()
	if rest, _ := io.ReadAll(conn); len(rest) > 0 {
		t.Fatalf("heard %q", rest)
	}
}

func TestNewConnectionsFollowAndOldOnesStayUntilTheyAreCut(t *testing.T) {
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	hearsNothingMore(t, connect(t, p))

	one, two := speaker(t, "one"), speaker(t, "two")
	p.PointTo(one)
	old := connect(t, p)
	hears(t, old, "one")

	p.PointTo(two)
	young := connect(t, p)
	hears(t, young, "two")
	if _, err := old.Write([]byte("still here")); err != nil {
		t.Fatal(err)
	}
	hears(t, old, "still here")

	p.CutOver(two) // leads where it led: nobody is cut
	if _, err := young.Write([]byte("me too")); err != nil {
		t.Fatal(err)
	}
	hears(t, young, "me too")

	p.CutOver("")
	hearsNothingMore(t, old)
	hearsNothingMore(t, young)
	hearsNothingMore(t, connect(t, p))
}
