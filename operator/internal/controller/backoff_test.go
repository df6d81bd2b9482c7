package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestAClusterThatWaitsForTheSameIsLookedAtLessAndLessOften(t *testing.T) {
	var b backoff
	name, other := types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}
	last := b.next(name, "for demo-0")
	for range 20 {
		next := b.next(name, "for demo-0")
		if next < last || next > longestWait {
			t.Fatalf("%v after %v", next, last)
		}
		last = next
	}
	if last != longestWait {
		t.Fatalf("still every %v", last)
	}
	if next := b.next(other, "for demo-0"); next != shortestWait {
		t.Fatalf("another cluster waits %v", next)
	}
	if next := b.next(name, "for demo-1"); next != shortestWait {
		t.Fatalf("something new: %v", next)
	}
}
