package watch

import (
	"testing"
	"time"
)

// look asks at a moment after the epoch of this test what a process that started earlier answers.
func look(p *process, started, now float64) string {
	at := time.Unix(0, 0).Add(time.Duration(now * float64(time.Second)))
	return p.name(time.Duration(now-started)*time.Second, at, at.Add(time.Millisecond))
}

func TestAProcessKeepsItsName(t *testing.T) {
	var p process
	name := look(&p, 10, 10.05)
	for now := 10.1; now < 100; now += 0.1 {
		if again := look(&p, 10, now); again != name {
			t.Fatalf("after %.1f s: %s instead of %s", now-10, again, name)
		}
	}
}

func TestARestartIsAnotherProcess(t *testing.T) {
	for _, lived := range []float64{1.5, 2, 3, 60} {
		var p process
		name := ""
		for now := 10.05; now < 10+lived; now += 0.1 {
			name = look(&p, 10, now)
		}
		restarted := 10 + lived
		other := name
		for now := restarted + 0.05; now < restarted+1.5; now += 0.1 {
			other = look(&p, restarted, now)
		}
		if other == name {
			t.Errorf("a restart after %.1f s went unnoticed", lived)
		}
	}
}
