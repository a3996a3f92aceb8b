package direct

import (
	"net"
	"net/netip"
	"slices"
)

// maxAddresses is the maximum number of addresses that a destination names and a source tries.
const maxAddresses = 8

// private returns this machine's addresses on private networks, with their networks. Loopback
// addresses are included only if there are no others.
func private() []netip.Prefix {
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var list, loop []netip.Prefix
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addresses, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addresses {
			p, err := netip.ParsePrefix(a.String())
			if err != nil {
				continue
			}
			switch a := p.Addr(); {
			case a.IsLoopback():
				loop = append(loop, p)
			case a.IsPrivate():
				list = append(list, p)
			}
		}
	}
	if len(list) == 0 {
		list = loop
	}
	return list[:min(len(list), maxAddresses)]
}

// inside reports whether an address is on one of the networks.
func inside(networks []netip.Prefix, a netip.Addr) bool {
	a = a.Unmap()
	return (a.IsPrivate() || a.IsLoopback()) && slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Masked().Contains(a) })
}
