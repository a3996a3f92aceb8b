package netinfo

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// scopes are the names of scopes as ip-route(8) shows them.
var scopes = map[netlink.Scope]string{
	netlink.SCOPE_UNIVERSE: "global", netlink.SCOPE_SITE: "site", netlink.SCOPE_LINK: "link", netlink.SCOPE_HOST: "host",
}

// routes reads the routes to other machines in the main tables of both families. A route with
// several next hops is one entry for each of them.
func routes() ([]Route, error) {
	found, err := readTable()
	if err != nil {
		return nil, fmt.Errorf("read the routes: %w", err)
	}
	names := map[int]string{}
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("read the routes: %w", err)
	}
	for _, i := range interfaces {
		names[i.Index] = i.Name
	}
	list := []Route{}
	for _, r := range found {
		dst, err := netip.ParsePrefix(r.Dst.String())
		if err != nil {
			continue // a label of MPLS
		}
		out := Route{Family: ip4, Destination: destination(dst), Source: address(r.Src), Metric: r.Priority, Scope: scopes[r.Scope]}
		if r.Family == netlink.FAMILY_V6 {
			out.Family = ip6
		}
		if r.Protocol != unix.RTPROT_UNSPEC {
			out.Protocol = r.Protocol.String()
		}
		hops := r.MultiPath
		if len(hops) == 0 {
			hops = []*netlink.NexthopInfo{{LinkIndex: r.LinkIndex, Gw: r.Gw, Via: r.Via}}
		}
		for _, hop := range hops {
			out.Gateway, out.Interface = address(hop.Gw), names[hop.LinkIndex]
			if via, ok := hop.Via.(*netlink.Via); ok { // a router of the other family
				out.Gateway = address(via.Addr)
			}
			list = append(list, out)
		}
	}
	return list, nil
}

// address formats the address of a machine; none is empty.
func address(ip net.IP) string {
	a, _ := netip.AddrFromSlice(ip)
	return gateway(a.Unmap())
}

// readTable reads again, a few times, where the table changed meanwhile.
func readTable() (list []netlink.Route, err error) {
	filter := &netlink.Route{Table: unix.RT_TABLE_MAIN, Type: unix.RTN_UNICAST}
	for range 5 {
		list, err = netlink.RouteListFiltered(netlink.FAMILY_ALL, filter, netlink.RT_FILTER_TABLE|netlink.RT_FILTER_TYPE)
		if !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	return list, err
}
