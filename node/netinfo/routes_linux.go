package netinfo

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// routes reads the main routing tables of both families.
func routes() ([]Route, error) {
	raw, err := syscall.NetlinkRIB(unix.RTM_GETROUTE, unix.AF_UNSPEC)
	if err != nil {
		return nil, fmt.Errorf("read the routes: %w", err)
	}
	messages, err := syscall.ParseNetlinkMessage(raw)
	if err != nil {
		return nil, fmt.Errorf("read the routes: %w", err)
	}
	list := []Route{}
	for _, m := range messages {
		if r, ok := parseRoute(m); ok {
			list = append(list, r)
		}
	}
	return list, nil
}

// Names of scopes and of protocols, by which routes were made (rtnetlink(7)).
var (
	scopes    = map[byte]string{unix.RT_SCOPE_UNIVERSE: "global", unix.RT_SCOPE_SITE: "site", unix.RT_SCOPE_LINK: "link", unix.RT_SCOPE_HOST: "host"}
	protocols = map[byte]string{
		unix.RTPROT_REDIRECT: "redirect", unix.RTPROT_KERNEL: "kernel", unix.RTPROT_BOOT: "boot", unix.RTPROT_STATIC: "static", unix.RTPROT_RA: "ra", unix.RTPROT_DHCP: "dhcp",
		unix.RTPROT_BIRD: "bird", unix.RTPROT_ZEBRA: "zebra", unix.RTPROT_BGP: "bgp", unix.RTPROT_OSPF: "ospf",
	}
)

// parseRoute reads a message; ok is false unless it is a route to other machines in the main table.
func parseRoute(m syscall.NetlinkMessage) (r Route, ok bool) {
	if m.Header.Type != unix.RTM_NEWROUTE || len(m.Data) < unix.SizeofRtMsg {
		return r, false
	}
	family, bits, protocol, scope, kind := m.Data[0], int(m.Data[1]), m.Data[5], m.Data[6], m.Data[7]
	attributes, err := syscall.ParseNetlinkRouteAttr(&m)
	if err != nil || kind != unix.RTN_UNICAST {
		return r, false
	}
	r = Route{Family: ip4, Scope: scopes[scope], Protocol: protocols[protocol]}
	dst, table := netip.IPv4Unspecified(), uint32(m.Data[4])
	if family == unix.AF_INET6 {
		r.Family, dst = ip6, netip.IPv6Unspecified()
	}
	for _, a := range attributes {
		address, _ := netip.AddrFromSlice(a.Value)
		switch a.Attr.Type {
		case unix.RTA_DST:
			dst = address
		case unix.RTA_GATEWAY:
			r.Gateway = gateway(address)
		case unix.RTA_PREFSRC:
			r.Source = gateway(address)
		case unix.RTA_OIF:
			if i, err := net.InterfaceByIndex(int(number(a.Value))); err == nil {
				r.Interface = i.Name
			}
		case unix.RTA_PRIORITY:
			r.Metric = int(number(a.Value))
		case unix.RTA_TABLE:
			table = number(a.Value)
		}
	}
	prefix, err := dst.Prefix(bits)
	if err != nil || table != unix.RT_TABLE_MAIN || family != unix.AF_INET && family != unix.AF_INET6 {
		return r, false
	}
	r.Destination = destination(prefix)
	return r, true
}

// number reads the value of an attribute.
func number(value []byte) uint32 {
	if len(value) < 4 {
		return 0
	}
	return binary.NativeEndian.Uint32(value)
}
