package netinfo

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"fairlead/node/tooltest"
)

// attribute encodes an attribute of a route.
func attribute(kind int, value []byte) []byte {
	raw := binary.NativeEndian.AppendUint16(nil, uint16(4+len(value)))
	raw = append(binary.NativeEndian.AppendUint16(raw, uint16(kind)), value...)
	return append(raw, make([]byte, -len(value)&3)...)
}

func address(text string) []byte { return netip.MustParseAddr(text).AsSlice() }

func word(n uint32) []byte { return binary.NativeEndian.AppendUint32(nil, n) }

func TestRoutesOfTheKernelAreParsed(t *testing.T) {
	lo, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	on := attribute(unix.RTA_OIF, word(uint32(lo.Index)))
	for name, c := range map[string]struct {
		family, bits, table, protocol, scope, kind byte
		attributes                                 [][]byte
		want                                       Route // without a family: none
	}{
		"default": {
			unix.AF_INET, 0, unix.RT_TABLE_MAIN, unix.RTPROT_DHCP, unix.RT_SCOPE_UNIVERSE, unix.RTN_UNICAST,
			[][]byte{attribute(unix.RTA_GATEWAY, address("192.0.2.1")), attribute(unix.RTA_PREFSRC, address("192.0.2.2")), attribute(unix.RTA_PRIORITY, word(100)), on},
			Route{Family: ip4, Destination: "default", Gateway: "192.0.2.1", Source: "192.0.2.2", Interface: "lo", Metric: 100, Scope: "global", Protocol: "dhcp"},
		},
		"network": {
			unix.AF_INET, 24, unix.RT_TABLE_UNSPEC, unix.RTPROT_KERNEL, unix.RT_SCOPE_LINK, unix.RTN_UNICAST,
			[][]byte{attribute(unix.RTA_TABLE, word(unix.RT_TABLE_MAIN)), attribute(unix.RTA_DST, address("192.0.2.0"))},
			Route{Family: ip4, Destination: "192.0.2.0/24", Scope: "link", Protocol: "kernel"},
		},
		"IPv6": {
			unix.AF_INET6, 64, unix.RT_TABLE_MAIN, unix.RTPROT_RA, unix.RT_SCOPE_UNIVERSE, unix.RTN_UNICAST,
			[][]byte{attribute(unix.RTA_DST, address("2001:db8::"))},
			Route{Family: ip6, Destination: "2001:db8::/64", Scope: "global", Protocol: "ra"},
		},
		"default of IPv6": {unix.AF_INET6, 0, unix.RT_TABLE_MAIN, unix.RTPROT_STATIC, unix.RT_SCOPE_UNIVERSE, unix.RTN_UNICAST, nil, Route{Family: ip6, Destination: "default", Scope: "global", Protocol: "static"}},
		"another table":   {family: unix.AF_INET, table: unix.RT_TABLE_LOCAL, kind: unix.RTN_UNICAST},
		"unreachable":     {family: unix.AF_INET, table: unix.RT_TABLE_MAIN, kind: unix.RTN_UNREACHABLE},
		"another family":  {family: unix.AF_BRIDGE, table: unix.RT_TABLE_MAIN, kind: unix.RTN_UNICAST},
		"too many bits":   {family: unix.AF_INET, bits: 33, table: unix.RT_TABLE_MAIN, kind: unix.RTN_UNICAST},
	} {
		t.Run(name, func(t *testing.T) {
			m := syscall.NetlinkMessage{Header: syscall.NlMsghdr{Type: unix.RTM_NEWROUTE}, Data: []byte{c.family, c.bits, 0, 0, c.table, c.protocol, c.scope, c.kind, 0, 0, 0, 0}}
			for _, a := range c.attributes {
				m.Data = append(m.Data, a...)
			}
			if got, ok := parseRoute(m); ok != (c.want.Family != "") || ok && got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, ok, c.want)
			}
		})
	}
}

func TestRoutesAreThoseOfTheMainTable(t *testing.T) {
	table, err := os.ReadFile("/proc/net/route")
	if err != nil {
		t.Skip(err)
	}
	want, got := 0, 0
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 3 && (f[3] == "0001" || f[3] == "0003") {
			want++
		}
	}
	for _, r := range tooltest.Must[Routes](newBench(t), "net_routes", tooltest.Args{}).Routes {
		if r.Family == ip4 {
			got++
		}
	}
	if got < want {
		t.Errorf("got %d routes of IPv4, want %d", got, want)
	}
}
