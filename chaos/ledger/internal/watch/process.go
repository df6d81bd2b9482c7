package watch

import "time"

// process tells processes apart by when they started. Uptimes come in whole seconds, so each look gives bounds only; looks at one process
// narrow them, and one that does not fit is of another process. One that lived for
// less than a second or so is told apart only when it was missed in between.
type process struct {
	earliest, latest time.Time
	text             string
}

// name returns the same text for the same process. The uptime was read between the two moments.
func (p *process) name(uptime time.Duration, asked, answered time.Time) string {
	earliest, latest := asked.Add(-uptime-time.Second), answered.Add(-uptime+time.Second)
	if p.text == "" || earliest.After(p.latest) || latest.Before(p.earliest) {
		*p = process{earliest: earliest, latest: latest, text: "started " + answered.Add(-uptime).UTC().Format(time.RFC3339Nano)}
		return p.text
	}
	if earliest.After(p.earliest) {
		p.earliest = earliest
	}
	if latest.Before(p.latest) {
		p.latest = latest
	}
	return p.text
}
