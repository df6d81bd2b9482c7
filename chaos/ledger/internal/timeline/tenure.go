package timeline

import (
	"fmt"
	"slices"
	"time"
)

// Tenure is a stretch of acknowledgements by one server in one epoch.
type Tenure struct {
	Server
	FirstOK time.Time `json:"firstOK"`
	LastOK  time.Time `json:"lastOK"`
}

// reign is everything that one server acknowledged in one epoch.
type reign struct {
	firstOK, lastSent time.Time
}

// noteServer extends the current tenure or opens the next one, and keeps what TwoMasters compares.
func (t *Timeline) noteServer(sent, at time.Time, by Server) {
	r := t.reigns[by]
	if r == nil {
		r = &reign{firstOK: at}
		t.reigns[by] = r
	}
	if at.Before(r.firstOK) {
		r.firstOK = at
	}
	if sent.After(r.lastSent) {
		r.lastSent = sent
	}
	t.noteTenure(sent, at, by)
}

func (t *Timeline) noteTenure(sent, at time.Time, by Server) {
	if n := len(t.tenures); n > 0 {
		current := &t.tenures[n-1]
		if current.Server == by {
			if at.After(current.LastOK) {
				current.LastOK = at
			}
			return
		}
		if by.Epoch < current.Epoch {
			if sent.After(current.FirstOK) {
				t.stale++
			}
			return
		}
		if by.Epoch == current.Epoch && t.reigns[by].firstOK.Before(at) && !sent.After(current.FirstOK) {
			return
		}
	}
	t.tenures = append(t.tenures, Tenure{Server: by, FirstOK: at, LastOK: at})
}

// StaleAcknowledgements counts commits that an older epoch acknowledged although they were sent after a newer epoch had
// acknowledged one.
func (t *Timeline) StaleAcknowledgements() int { return t.stale }

// TwoMasters says for every pair of servers that they acknowledged where only one may: both in one epoch, or the older epoch a commit
// that was sent after the newer one's first acknowledgement. Servers without epochs are not compared. It does not depend on the order
// in which writers wrote their answers down.
func (t *Timeline) TwoMasters() []string {
	found := []string{}
	for older, old := range t.reigns {
		for newer, young := range t.reigns {
			switch {
			case older.Epoch == 0 || older == newer:
			case older.Epoch == newer.Epoch && older.ID < newer.ID:
				found = append(found, fmt.Sprintf("%s and %s both acknowledged in epoch %d", older.ID, newer.ID, older.Epoch))
			case older.Epoch < newer.Epoch && old.lastSent.After(young.firstOK):
				found = append(found, fmt.Sprintf("%s acknowledged in the older epoch %d a commit that was sent %.3f s after %s had begun epoch %d",
					older.ID, older.Epoch, old.lastSent.Sub(young.firstOK).Seconds(), newer.ID, newer.Epoch))
			}
		}
	}
	slices.Sort(found)
	return found
}
