package controller

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// While a cluster waits for its servers it is looked at again soon, and later and later while it waits for the same: the
// prober calls as soon as something has changed.
const (
	// A new master is labelled once it is seen to take writes: clients wait for that.
	shortestWait = 100 * time.Millisecond
	longestWait  = 10 * time.Second
)

// backoff remembers what each cluster waits for.
type backoff struct {
	mu      sync.Mutex
	waiting map[types.NamespacedName]wait
}

type wait struct {
	what string
	next time.Duration
}

// next is when to look again at a cluster that waits for what.
func (b *backoff) next(name types.NamespacedName, what string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == nil {
		b.waiting = map[types.NamespacedName]wait{}
	}
	w := b.waiting[name]
	if w.what != what || w.next == 0 {
		w = wait{what: what, next: shortestWait}
	}
	now := w.next
	w.next = min(2*w.next, longestWait)
	b.waiting[name] = w
	return now
}

func (b *backoff) forget(name types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, name)
}
