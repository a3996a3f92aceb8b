package netinfo

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"strconv"
	"strings"
)

// Families of routes.
const (
	ip4 = "ip4"
	ip6 = "ip6"
)

// Route is a line of the routing table. Fields that a system does not have are empty.
type Route struct {
	Family      string `json:"family"`      // ip4 or ip6
	Destination string `json:"destination"` // such as 10.0.0.0/24, or default
	Gateway     string `json:"gateway,omitempty"`
	Source      string `json:"source,omitempty"`
	Interface   string `json:"interface,omitempty"`
	Metric      int    `json:"metric"`
	Scope       string `json:"scope,omitempty"`
	Protocol    string `json:"protocol,omitempty"`
}

// Routes is the result of net_routes.
type Routes struct {
	Routes []Route `json:"routes"`
	Count  int     `json:"count"`
	Duration
}

// destination formats a prefix.
func destination(p netip.Prefix) string {
	if p.Bits() == 0 {
		return "default"
	}
	return p.Masked().String()
}

// gateway formats the address of a router; none is empty.
func gateway(a netip.Addr) string {
	if !a.IsValid() || a.IsUnspecified() {
		return ""
	}
	return a.String()
}

// Flags of the kernel's routes (linux/route.h).
const (
	flagUp     = 0x1
	flagReject = 0x200
)

// parseIP4Routes reads /proc/net/route (proc_net(5)): numbers in hexadecimal, addresses in the byte
// order of a little-endian machine.
func parseIP4Routes(r io.Reader) (list []Route) {
	for s := bufio.NewScanner(r); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 8 {
			continue
		}
		dst, ok1 := littleEndian(f[1])
		via, ok2 := littleEndian(f[2])
		mask, ok3 := littleEndian(f[7])
		flags, err1 := strconv.ParseUint(f[3], 16, 32)
		metric, err2 := strconv.Atoi(f[6])
		if !ok1 || !ok2 || !ok3 || err1 != nil || err2 != nil || flags&flagUp == 0 || flags&flagReject != 0 {
			continue
		}
		m := mask.As4()
		bits := 0
		for n := binary.BigEndian.Uint32(m[:]); n&(1<<31) != 0; n <<= 1 {
			bits++
		}
		route := Route{Family: ip4, Destination: destination(netip.PrefixFrom(dst, bits)), Gateway: gateway(via), Interface: f[0], Metric: metric, Scope: "global"}
		if route.Gateway == "" {
			route.Scope = "link"
		}
		list = append(list, route)
	}
	return list
}

func littleEndian(text string) (netip.Addr, bool) {
	n, err := strconv.ParseUint(text, 16, 32)
	if err != nil {
		return netip.Addr{}, false
	}
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], uint32(n))
	return netip.AddrFrom4(b), true
}

// parseIP6Routes reads /proc/net/ipv6_route: destination and length, source and length, gateway,
// metric, two counters, flags and the interface.
func parseIP6Routes(r io.Reader) (list []Route) {
	for s := bufio.NewScanner(r); s.Scan(); {
		f := strings.Fields(s.Text())
		if len(f) < 10 {
			continue
		}
		dst, ok1 := address6(f[0])
		via, ok2 := address6(f[4])
		bits, err1 := strconv.ParseUint(f[1], 16, 8)
		metric, err2 := strconv.ParseUint(f[5], 16, 32)
		flags, err3 := strconv.ParseUint(f[8], 16, 32)
		if !ok1 || !ok2 || err1 != nil || err2 != nil || err3 != nil || bits > 128 || flags&flagUp == 0 || flags&flagReject != 0 {
			continue
		}
		route := Route{Family: ip6, Destination: destination(netip.PrefixFrom(dst, int(bits))), Gateway: gateway(via), Interface: f[9], Metric: int(metric), Scope: "global"}
		if route.Gateway == "" {
			route.Scope = "link"
		}
		list = append(list, route)
	}
	return list
}

func address6(text string) (netip.Addr, bool) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 16 {
		return netip.Addr{}, false
	}
	return netip.AddrFrom16([16]byte(raw)), true
}
