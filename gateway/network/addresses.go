package network

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
)

// maxAddresses is the number of addresses that are shown.
const maxAddresses = 6

// addresses returns the addresses at which others can reach a listener: its own address, or those
// of every active interface, private networks first. Loopback addresses are returned only if there
// are no others.
func addresses(bound net.IP, port int) []string {
	join := func(a netip.Addr) string { return net.JoinHostPort(a.Unmap().String(), strconv.Itoa(port)) }
	if a, ok := netip.AddrFromSlice(bound); ok && !a.Unmap().IsUnspecified() {
		return []string{join(a)}
	}
	found, _ := net.InterfaceAddrs()
	var list []netip.Addr
	for _, f := range found {
		p, ok := f.(*net.IPNet)
		if !ok {
			continue
		}
		if a, ok := netip.AddrFromSlice(p.IP); ok && a.Unmap().IsGlobalUnicast() {
			list = append(list, a.Unmap())
		}
	}
	slices.SortStableFunc(list, func(a, b netip.Addr) int { return rank(a) - rank(b) })
	if len(list) == 0 {
		list = []netip.Addr{netip.MustParseAddr("127.0.0.1")}
	}
	var out []string
	for _, a := range list[:min(len(list), maxAddresses)] {
		out = append(out, join(a))
	}
	return out
}

// rank orders addresses by how likely they are the one to use.
func rank(a netip.Addr) int {
	switch {
	case a.Is4() && a.IsPrivate():
		return 0
	case a.Is4():
		return 1
	case a.IsPrivate():
		return 3
	}
	return 2
}
