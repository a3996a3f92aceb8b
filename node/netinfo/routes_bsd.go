//go:build darwin || freebsd

package netinfo

import (
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/net/route"
)

// routes reads the routing table, without the entries of single neighbours.
func routes() ([]Route, error) {
	raw, err := route.FetchRIB(syscall.AF_UNSPEC, route.RIBTypeRoute, 0)
	if err != nil {
		return nil, err
	}
	messages, err := route.ParseRIB(route.RIBTypeRoute, raw)
	if err != nil {
		return nil, err
	}
	list := []Route{}
	for _, m := range messages {
		r, ok := m.(*route.RouteMessage)
		if !ok || r.Flags&syscall.RTF_UP == 0 || len(r.Addrs) <= syscall.RTAX_NETMASK {
			continue
		}
		dst, ok := addressOf(r.Addrs[syscall.RTAX_DST])
		if !ok {
			continue
		}
		x := Route{Family: ip4, Scope: "link"}
		if dst.Is6() {
			x.Family = ip6
		}
		x.Destination = destination(netip.PrefixFrom(dst, maskBits(r.Addrs[syscall.RTAX_NETMASK], dst, r.Flags)))
		if via, ok := addressOf(r.Addrs[syscall.RTAX_GATEWAY]); ok {
			x.Gateway, x.Scope = gateway(via), "global"
		}
		if i, err := net.InterfaceByIndex(r.Index); err == nil {
			x.Interface = i.Name
		}
		if r.Flags&syscall.RTF_STATIC != 0 {
			x.Protocol = "static"
		}
		list = append(list, x)
	}
	return list, nil
}

func addressOf(a route.Addr) (netip.Addr, bool) {
	switch a := a.(type) {
	case *route.Inet4Addr:
		return netip.AddrFrom4(a.IP), true
	case *route.Inet6Addr:
		return netip.AddrFrom16(a.IP), true
	}
	return netip.Addr{}, false
}

// maskBits returns the length in bits of a network mask. A route without a mask leads to a single
// host, or is the default route.
func maskBits(mask route.Addr, dst netip.Addr, flags int) int {
	switch m := mask.(type) {
	case *route.Inet4Addr:
		bits, _ := net.IPMask(m.IP[:]).Size()
		return bits
	case *route.Inet6Addr:
		bits, _ := net.IPMask(m.IP[:]).Size()
		return bits
	}
	if dst.IsUnspecified() && flags&syscall.RTF_HOST == 0 {
		return 0
	}
	return dst.BitLen()
}
