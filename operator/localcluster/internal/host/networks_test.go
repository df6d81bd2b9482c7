package host

import (
	"net/netip"
	"strings"
	"testing"
)

// On a little-endian machine: 10.8.0.0/16 by tun0 through 10.8.0.1, 192.0.2.0/24 by eth0, the default by 192.0.2.1, and our own.
const routes = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
tun0	0000080A	0100080A	0003	0	0	0	0000FFFF	0	0	0
eth0	00000000	010200C0	0003	0	0	0	00000000	0	0	0
eth0	000200C0	00000000	0001	0	0	0	00FFFFFF	0	0	0
own0	00007B0A	00000000	0001	0	0	0	00FFFFFF	0	0	0
`

func TestANetworkConflictsWithWhatLiesInIt(t *testing.T) {
	uses, err := parseRoutes(strings.NewReader(routes), "own0")
	if err != nil {
		t.Fatal(err)
	}
	uses = append(uses, single(netip.MustParseAddr("172.20.0.7"), "an address of wlan0"))
	for network, want := range map[string]string{
		"10.123.0.0/24": "",                      // our own does not count
		"10.8.5.0/24":   "",                      // narrower than the VPN's: the kernel prefers it
		"10.8.0.0/24":   "a gateway behind tun0", // but not across its gateway
		"10.8.0.0/16":   "a route by tun0",
		"192.0.0.0/16":  "a gateway behind eth0",
		"192.0.2.0/24":  "a gateway behind eth0",
		"172.20.0.0/24": "an address of wlan0",
		"172.20.1.0/24": "",
	} {
		if use, _ := Conflict(netip.MustParsePrefix(network), uses); use.What != want {
			t.Errorf("%s conflicts with %q, not with %q", network, use.What, want)
		}
	}
}

func TestARouteThatCannotBeReadIsSaid(t *testing.T) {
	if _, err := parseRoutes(strings.NewReader("eth0 1 2 3 4 5 6 7\n"), ""); err == nil {
		t.Error("no error")
	}
}

func TestThisMachinesOwnAddressesAreKnown(t *testing.T) {
	uses, err := Uses("")
	if err != nil {
		t.Fatal(err)
	}
	if use, found := Conflict(netip.MustParsePrefix("127.0.0.0/8"), uses); !found || use.What != "an address of lo" {
		t.Errorf("127.0.0.0/8 conflicts with %+v", use)
	}
}
