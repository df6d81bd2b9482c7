package certificate

import (
	"bytes"
	"time"
)

// trustedBefore is how long servers know an authority before it signs: until then each has been given it.
const trustedBefore = 24 * time.Hour

// Authorities are those that a cluster trusts: one that signs, one that will, and those that have signed.
type Authorities struct {
	Current, Next Pair
	Former        []byte
}

// Renew brings them up to date and says whether anything has changed. trusted is what servers have been told to trust, for an authority
// that was lost.
func (a *Authorities) Renew(name string, trusted []byte, now time.Time) (bool, error) {
	var err error
	switch {
	case a.Current.IsOver(now):
		if a.Current, err = NewAuthority(name, now); err != nil {
			return false, err
		}
		a.Next, a.Former = Pair{}, trusted
	case len(a.Next.Certificate) > 0 && a.Next.IsOlderThan(trustedBefore, now):
		a.Former = a.Current.Certificate
		a.Current, a.Next = a.Next, Pair{}
	case len(a.Next.Certificate) == 0 && a.Current.AuthorityIsOld(now):
		if a.Next, err = NewAuthority(name, now); err != nil {
			return false, err
		}
	case len(a.Former) > 0 && (Pair{Certificate: a.Former}).IsOver(now):
		a.Former = nil
	default:
		return false, nil
	}
	return true, nil
}

// Bundle is what everybody trusts.
func (a *Authorities) Bundle() []byte {
	return bytes.Join([][]byte{a.Current.Certificate, a.Next.Certificate, a.Former}, nil)
}
