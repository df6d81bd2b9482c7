package dbserver

import "testing"

// Of some 28,000 ports the kernel would give one twice long before that.
func TestNoTwoServersGetOnePort(t *testing.T) {
	seen := map[int]bool{}
	for range 1500 {
		ports, err := freePorts(2)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range ports {
			if seen[port] {
				t.Fatalf("%d is given twice", port)
			}
			seen[port] = true
		}
	}
}
