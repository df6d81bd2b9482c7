package layout

import (
	"fmt"
	"net/netip"
)

const (
	HostInterface = "commitlab0"
	NodeInterface = "eth0"

	// Of the node alone: nothing outside of it has a way there.
	PodCIDR     = "10.244.0.0/24"
	ServiceCIDR = "10.96.0.0/16"
	APIVIP      = "10.96.0.1" // first address of ServiceCIDR: the service "kubernetes"
	DNSVIP      = "10.96.0.10"
	APIPort     = "6443"

	NodeName      = "commitlab"
	ClusterDomain = "cluster.local"
)

// NetworkVariable names the environment variable that chooses the network where no flag does.
const NetworkVariable = "LOCALCLUSTER_NETWORK"

// DefaultNetwork is used where nobody chooses one.
var DefaultNetwork = Network{netip.MustParsePrefix("10.123.0.0/24")}

// Network lies between the host and the node, whose NodePorts and API server are on it. The host keeps one end of a veth
// pair, with the first address, the node the other, with the second. The zero value is nobody's choice.
type Network struct{ prefix netip.Prefix }

// ParseNetwork reads an IPv4 network, such as 192.168.77.0/24.
func ParseNetwork(text string) (Network, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || !prefix.Addr().Is4() || prefix.Bits() > 30 || prefix != prefix.Masked() {
		return Network{}, fmt.Errorf("%q is not an IPv4 network for the node, such as %s", text, DefaultNetwork)
	}
	for _, own := range []string{PodCIDR, ServiceCIDR} {
		if prefix.Overlaps(netip.MustParsePrefix(own)) {
			return Network{}, fmt.Errorf("%s overlaps %s, which pods or services have: choose another network for the node", text, own)
		}
	}
	return Network{prefix}, nil
}

func (n Network) Prefix() netip.Prefix { return n.prefix }

// String is empty for the zero value.
func (n Network) String() string {
	if n == (Network{}) {
		return ""
	}
	return n.prefix.String()
}

// Host is the host's own address.
func (n Network) Host() string { return n.prefix.Addr().Next().String() }

// Node is the node's address.
func (n Network) Node() string { return n.prefix.Addr().Next().Next().String() }

// WithBits adds the network's width to one of its addresses.
func (n Network) WithBits(address string) string {
	return fmt.Sprintf("%s/%d", address, n.prefix.Bits())
}

// APIServerURL is how both the host and the node's programs reach the API server.
func (n Network) APIServerURL() string { return "https://" + n.Node() + ":" + APIPort }
