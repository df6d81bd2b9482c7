package certificate

import (
	"bytes"
	"testing"
	"time"
)

const day = 24 * time.Hour

func renewed(t *testing.T, a *Authorities, trusted []byte, at time.Time) bool {
	t.Helper()
	changed, err := a.Renew("demo", trusted, at)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

// Over a quarter of a century, looked at every eight hours: what is signed is trusted by whoever has the bundle of a look earlier, and
// what was signed a look earlier by whoever has the bundle of now.
func TestNobodyMeetsAnAuthorityThatItDoesNotKnow(t *testing.T) {
	var a Authorities
	renewed(t, &a, nil, now)
	signers := 0
	for at := now; at.Before(now.Add(25 * 365 * day)); at = at.Add(8 * time.Hour) {
		signer, bundle := a.Current, a.Bundle()
		if !renewed(t, &a, nil, at) {
			continue
		}
		if err := Check(signed(t, a.Current, at), bundle, nil, at); err != nil {
			t.Fatalf("%v: signed by somebody new: %v", at, err)
		}
		if err := Check(signed(t, signer, at), a.Bundle(), nil, at); err != nil {
			t.Fatalf("%v: signed by somebody forgotten: %v", at, err)
		}
		if !bytes.Equal(signer.Certificate, a.Current.Certificate) {
			signers++
		}
	}
	if signers != 2 {
		t.Errorf("%d changes of the authority in 25 years", signers)
	}
}

func TestAnAuthorityThatWasLostIsTrustedOn(t *testing.T) {
	var a, again Authorities
	renewed(t, &a, nil, now)
	leaf := signed(t, a.Current, now)
	renewed(t, &again, a.Bundle(), now.Add(day))
	if bytes.Contains(a.Bundle(), again.Current.Certificate) {
		t.Fatal("it is not another one")
	}
	if err := Check(leaf, again.Bundle(), nil, now.Add(day)); err != nil {
		t.Error(err)
	}
}

func TestWithNothingToDoNothingChanges(t *testing.T) {
	var a Authorities
	if !renewed(t, &a, nil, now) || renewed(t, &a, nil, now.Add(day)) {
		t.Error("it changes without need")
	}
}
