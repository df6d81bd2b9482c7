package cluster

import (
	"os"
	"strings"
	"testing"

	"commitlab.dev/localcluster/internal/host"
	"commitlab.dev/localcluster/internal/layout"
)

func network(t *testing.T, text string) layout.Network {
	t.Helper()
	parsed, err := layout.ParseNetwork(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestARunningClusterKeepsItsNetwork(t *testing.T) {
	self, err := host.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	running := &host.Owner{Network: "192.168.77.0/24", Process: self}
	ended := &host.Owner{Network: "192.168.77.0/24", Process: host.Process{PID: self.PID, StartTime: "1"}}
	other, none := network(t, "192.168.78.0/24"), layout.Network{}
	for name, c := range map[string]struct {
		asked layout.Network
		owner *host.Owner
		want  string // empty: refused
	}{
		"nothing asked, nothing runs": {none, nil, layout.DefaultNetwork.String()},
		"asked, nothing runs":         {other, nil, other.String()},
		"asked, the last one ended":   {other, ended, other.String()},
		"nothing asked, one runs":     {none, running, "192.168.77.0/24"},
		"the same asked":              {network(t, "192.168.77.0/24"), running, "192.168.77.0/24"},
		"another asked":               {other, running, ""},
		"one of an older release":     {none, &host.Owner{Process: self}, layout.DefaultNetwork.String()},
	} {
		got, err := chooseNetwork(c.asked, c.owner)
		if got.String() != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestANetworkInUseIsRefusedWithWhatToDo(t *testing.T) {
	err := networkIsFree(network(t, "127.0.0.0/24"))
	if err == nil {
		t.Fatal("the loopback's network was taken")
	}
	for _, part := range []string{"127.0.0.0/24", "127.0.0.1/32, an address of lo", "--node-network", "LOCALCLUSTER_NETWORK"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
