// Package publicnet tells the addresses of the Internet from those of this computer and its
// networks. Whoever fetches an address that somebody else named checks it when it connects: a name
// can lead to another address each time it is looked up.
package publicnet

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"syscall"
)

// ErrNotPublic is the error of [Control].
var ErrNotPublic = errors.New("the address is not on the Internet")

// special are the networks that are not reachable from the Internet, or that lead to an IPv4 address
// which they contain, of those that netip does not know (RFC 6890, with its registries).
var special = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// assigned is the part of IPv6 from which addresses of the Internet are assigned. Outside of it are
// IPv4 addresses in other forms, such as ::127.0.0.1 and 64:ff9b::10.0.0.1.
var assigned = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, t := range texts {
		list = append(list, netip.MustParsePrefix(t))
	}
	return list
}

// Has reports whether an address is on the Internet.
func Has(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	return a.IsGlobalUnicast() && !a.IsPrivate() && (a.Is4() || assigned.Contains(a)) &&
		!slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(a) })
}

// IsLoopback reports whether a host, without a port, is this computer by its name or address.
func IsLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.Unmap().IsLoopback()
}

// Control is for [net.Dialer]: it refuses to connect to an address that is not on the Internet.
func Control(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !Has(at.Addr()) {
		return ErrNotPublic
	}
	return nil
}
