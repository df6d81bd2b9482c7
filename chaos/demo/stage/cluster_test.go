package stage

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestReadiness(t *testing.T) {
	const attached = `{"spec":{"replicas":2},"status":{"readyReplicas":%d,"conditions":[%s]}}`
	for name, c := range map[string]struct {
		object string
		ready  bool
	}{
		"complete":             {fmt.Sprintf(attached, 2, `{"type":"Ready","status":"True"}`), true},
		"a replica is missing": {fmt.Sprintf(attached, 1, `{"type":"Ready","status":"True"}`), false},
		"not Ready":            {fmt.Sprintf(attached, 2, `{"type":"Ready","status":"False","message":"no quorum"}`), false},
		"nothing reported yet": {fmt.Sprintf(attached, 2, ``), false},
	} {
		var cluster Cluster
		if err := json.Unmarshal([]byte(c.object), &cluster); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Readiness(); (err == nil) != c.ready {
			t.Errorf("%s: %v", name, err)
		}
	}
}
