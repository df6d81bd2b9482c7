package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"testing"
	"time"
)

var (
	names = []string{"*.demo.shop.svc", "demo-master.shop.svc"}
	now   = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
)

func authority(t *testing.T, at time.Time) Pair {
	t.Helper()
	a, err := NewAuthority("demo", at)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func signed(t *testing.T, by Pair, at time.Time) Pair {
	t.Helper()
	leaf, err := by.Sign(names, at)
	if err != nil {
		t.Fatal(err)
	}
	return leaf
}

func TestACertificateIsMadeAnewBeforeItEnds(t *testing.T) {
	a := authority(t, now)
	leaf := signed(t, a, now)
	day := 24 * time.Hour
	for _, when := range []struct {
		days int
		fits bool
	}{{0, true}, {59, true}, {61, false}, {200, false}} {
		if fits := a.Fits(leaf, names, now.Add(time.Duration(when.days)*day)); fits != when.fits {
			t.Errorf("after %d days: fits = %v", when.days, fits)
		}
	}
	if a.AuthorityIsOld(now.Add(8*365*day)) || !a.AuthorityIsOld(now.Add(9*365*day+day)) || a.IsOver(now.Add(9*365*day)) || !a.IsOver(now.Add(11*365*day)) {
		t.Error("an authority is replaced in its last year")
	}
}

func TestWhatAnotherAuthorityOrForOtherNamesWasMadeDoesNotFit(t *testing.T) {
	a, b := authority(t, now), authority(t, now)
	leaf := signed(t, a, now)
	mixed := Pair{Certificate: leaf.Certificate, Key: signed(t, a, now).Key}
	if b.Fits(leaf, names, now) || a.Fits(leaf, append([]string{"other"}, names...), now) || a.Fits(mixed, names, now) || a.Fits(Pair{}, names, now) {
		t.Error("a certificate that servers cannot use fits")
	}
}

func TestWhatSomebodyElseHasMadeIsCheckedAndNamed(t *testing.T) {
	a, b := authority(t, now), authority(t, now)
	leaf := signed(t, a, now)
	need := []string{"demo-0.demo.shop.svc", "demo-master.shop.svc"}
	if err := Check(leaf, a.Certificate, need, now); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []struct {
		leaf        Pair
		authorities []byte
		names       []string
		at          time.Time
		says        string
	}{
		{leaf, b.Certificate, need, now, "must be good for servers and for clients"},
		{leaf, a.Certificate, need, now.Add(100 * 24 * time.Hour), "expired"},
		{leaf, a.Certificate, []string{"demo-0.demo.elsewhere.svc"}, now, "demo-0.demo.elsewhere.svc"},
		{leaf, []byte("nothing"), need, now, "ca.crt has no certificate"},
		{Pair{leaf.Certificate, b.Key}, a.Certificate, need, now, "tls.crt and tls.key"},
	} {
		if err := Check(bad.leaf, bad.authorities, bad.names, bad.at); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%v, not %q", err, bad.says)
		}
	}
}

// handshake is a client's word on a server.
func handshake(t *testing.T, server Pair, config *tls.Config) error {
	t.Helper()
	own, err := tls.X509KeyPair(server.Certificate, server.Key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if connection, err := listener.Accept(); err == nil {
			_ = connection.(*tls.Conn).Handshake()
			_ = connection.Close()
		}
	}()
	connection, err := tls.Dial("tcp", listener.Addr().String(), config)
	if err == nil {
		_ = connection.Close()
	}
	return err
}

func TestAServerIsKnownByAuthorityAndNameWhateverTheTime(t *testing.T) {
	long := time.Now().Add(-200 * 24 * time.Hour)
	a, b := authority(t, long), authority(t, long)
	client, err := ClientConfig(signed(t, a, now), a.Certificate, "demo-1.demo.shop.svc")
	if err != nil {
		t.Fatal(err)
	}
	if err := handshake(t, signed(t, a, long), client); err != nil {
		t.Errorf("its certificate has expired, and it must be reached to get another one: %v", err)
	}
	if err := handshake(t, signed(t, b, time.Now()), client); err == nil {
		t.Error("a server of another authority is taken for one of the cluster")
	}
	elsewhere, _ := ClientConfig(signed(t, a, now), a.Certificate, "demo-1.other.shop.svc")
	if err := handshake(t, signed(t, a, time.Now()), elsewhere); err == nil {
		t.Error("a server is taken for another one")
	}
}

func TestNamesLongerThanX509AllowsAreNoError(t *testing.T) {
	leaf, err := authority(t, now).Sign([]string{strings.Repeat("n", 60) + ".demo.svc"}, now)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(leaf.Certificate)
	if c, err := x509.ParseCertificate(block.Bytes); err != nil || len(c.DNSNames) != 1 {
		t.Fatal(err, c)
	}
}
