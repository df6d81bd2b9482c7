package host

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
)

// Use is an address or a network that this machine already knows.
type Use struct {
	Prefix netip.Prefix
	What   string // such as "an address of eth0"
}

// Uses lists addresses, routes and gateways, but for those of the interface own.
func Uses(own string) ([]Use, error) {
	uses, err := addresses(own)
	if err != nil {
		return nil, err
	}
	file, err := os.Open("/proc/net/route")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	routes, err := parseRoutes(file, own)
	return append(uses, routes...), err
}

// Conflict returns the first use that a new network would be in the way of, or that would be in its way. A wider route, such as a VPN's 10.0.0.0/8, is
// neither: the kernel prefers the narrower one.
func Conflict(network netip.Prefix, uses []Use) (Use, bool) {
	for _, use := range uses {
		if use.Prefix.Bits() >= network.Bits() && network.Contains(use.Prefix.Addr()) {
			return use, true
		}
	}
	return Use{}, false
}

func addresses(own string) ([]Use, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var uses []Use
	for _, i := range interfaces {
		if i.Name == own {
			continue
		}
		assigned, err := i.Addrs()
		if err != nil {
			return nil, err
		}
		for _, address := range assigned {
			if prefix, err := netip.ParsePrefix(address.String()); err == nil && prefix.Addr().Is4() {
				uses = append(uses, single(prefix.Addr(), "an address of "+i.Name))
			}
		}
	}
	return uses, nil
}

func single(address netip.Addr, what string) Use {
	return Use{Prefix: netip.PrefixFrom(address, address.BitLen()), What: what}
}

// parseRoutes reads /proc/net/route: a line of names, then interface, destination, gateway, …, mask in eighth place, numbers in the machine's byte order.
func parseRoutes(table io.Reader, own string) ([]Use, error) {
	var uses []Use
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 || fields[0] == "Iface" || fields[0] == own {
			continue
		}
		var numbers [3]netip.Addr
		for i, field := range []string{fields[1], fields[2], fields[7]} {
			raw, err := hex.DecodeString(field)
			if err != nil || len(raw) != 4 {
				return nil, fmt.Errorf("cannot read the route %q", lines.Text())
			}
			var address [4]byte
			binary.NativeEndian.PutUint32(address[:], binary.BigEndian.Uint32(raw))
			numbers[i] = netip.AddrFrom4(address)
		}
		destination, gateway, mask := numbers[0], numbers[1], numbers[2].As4()
		if width, _ := net.IPMask(mask[:]).Size(); width > 0 {
			uses = append(uses, Use{Prefix: netip.PrefixFrom(destination, width), What: "a route by " + fields[0]})
		}
		if !gateway.IsUnspecified() {
			uses = append(uses, single(gateway, "a gateway behind "+fields[0]))
		}
	}
	return uses, lines.Err()
}
