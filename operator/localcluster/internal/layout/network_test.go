package layout

import (
	"strings"
	"testing"
)

func TestTheHostHasTheFirstAddressAndTheNodeTheSecond(t *testing.T) {
	network, err := ParseNetwork("192.168.77.64/26")
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		network.Host():                   "192.168.77.65",
		network.Node():                   "192.168.77.66",
		network.WithBits(network.Node()): "192.168.77.66/26",
		network.APIServerURL():           "https://192.168.77.66:6443",
		network.String():                 "192.168.77.64/26",
		Network{}.String():               "",
	} {
		if got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

func TestANetworkThatCannotServeIsRefused(t *testing.T) {
	for text, complaint := range map[string]string{
		"10.1.2.3":       "is not an IPv4 network",
		"10.1.2.3/24":    "is not an IPv4 network", // an address in a network
		"10.1.2.0/31":    "is not an IPv4 network", // no room for two
		"fd00::/64":      "is not an IPv4 network",
		"10.96.128.0/24": "overlaps 10.96.0.0/16",
		"10.0.0.0/8":     "overlaps 10.244.0.0/24",
	} {
		if _, err := ParseNetwork(text); err == nil || !strings.Contains(err.Error(), complaint) {
			t.Errorf("%s: %v, not %q", text, err, complaint)
		}
	}
}
