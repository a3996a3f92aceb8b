package netinfo

import (
	"cmp"
	"net"
	"net/netip"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Names of the ways by which routes were made: the values of NL_ROUTE_ORIGIN, and where those say
// nothing, of NL_ROUTE_PROTOCOL (nldef.h).
var (
	origins   = map[uint32]string{2: "dhcp", 3: "ra"}
	protocols = map[uint32]string{2: "kernel", 3: "static", 4: "redirect", 13: "ospf", 14: "bgp"}
)

// routes reads the routing tables of both families.
func routes() ([]Route, error) {
	var table *windows.MibIpForwardTable2
	if err := windows.GetIpForwardTable2(windows.AF_UNSPEC, &table); err != nil {
		return nil, err
	}
	defer windows.FreeMibTable(unsafe.Pointer(table))
	list := []Route{}
	for _, r := range table.Rows() {
		dst, ok := addressOf(&r.DestinationPrefix.Prefix)
		if !ok {
			continue
		}
		x := Route{Family: ip4, Destination: destination(netip.PrefixFrom(dst, int(r.DestinationPrefix.PrefixLength))), Metric: int(r.Metric), Scope: "link"}
		x.Protocol = cmp.Or(origins[r.Origin], protocols[r.Protocol])
		if dst.Is6() {
			x.Family = ip6
		}
		if via, ok := addressOf(&r.NextHop); ok && gateway(via) != "" {
			x.Gateway, x.Scope = gateway(via), "global"
		}
		if i, err := net.InterfaceByIndex(int(r.InterfaceIndex)); err == nil {
			x.Interface = i.Name
		}
		list = append(list, x)
	}
	return list, nil
}

func addressOf(a *windows.RawSockaddrInet) (netip.Addr, bool) {
	switch a.Family {
	case windows.AF_INET:
		return netip.AddrFrom4((*windows.RawSockaddrInet4)(unsafe.Pointer(a)).Addr), true
	case windows.AF_INET6:
		return netip.AddrFrom16((*windows.RawSockaddrInet6)(unsafe.Pointer(a)).Addr), true
	}
	return netip.Addr{}, false
}
