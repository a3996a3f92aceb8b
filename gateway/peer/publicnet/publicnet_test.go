package publicnet

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

func TestOnlyAddressesOfTheInternetArePublic(t *testing.T) {
	for _, text := range []string{"8.8.8.8", "1.1.1.1", "::ffff:8.8.8.8", "2001:4860:4860::8888", "2a00:1450:4001::1"} {
		if !Has(netip.MustParseAddr(text)) {
			t.Errorf("%s is not public", text)
		}
	}
	for _, text := range []string{
		"127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0.1.2.3", "192.0.0.170", "192.88.99.1", "198.18.0.1",
		"203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1",
		"::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::10.0.0.1", "2002:7f00:1::", "2001:0:7f00:1::1", "2001:db8::1", "100::1", "3fff::1", "4000::1",
	} {
		if Has(netip.MustParseAddr(text)) {
			t.Errorf("%s is public", text)
		}
	}
	if Has(netip.Addr{}) {
		t.Error("no address is public")
	}
}

func TestNameThatLeadsInsideIsNotConnected(t *testing.T) {
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	_, port, _ := net.SplitHostPort(inside.Addr().String())
	d := net.Dialer{ControlContext: Control}
	for _, host := range []string{"127.0.0.1", "localhost", "::ffff:127.0.0.1", "0.0.0.0"} {
		c, err := d.DialContext(t.Context(), "tcp", net.JoinHostPort(host, port))
		if err == nil {
			c.Close()
		}
		if !errors.Is(err, ErrNotPublic) {
			t.Errorf("%s: got %v, want error ErrNotPublic", host, err)
		}
	}
}

// A name that led to the Internet when somebody looked can lead to this computer a moment later.
func TestNameThatChangesIsCheckedWhenItIsConnected(t *testing.T) {
	inside, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	_, port, _ := net.SplitHostPort(inside.Addr().String())
	var changed atomic.Bool
	resolver := resolve(t, func() [4]byte {
		if changed.Load() {
			return [4]byte{127, 0, 0, 1}
		}
		return [4]byte{8, 8, 8, 8}
	})
	if list, err := resolver.LookupNetIP(t.Context(), "ip4", "rebound.example."); err != nil || !Has(list[0]) {
		t.Fatalf("at first: %v, %v", list, err)
	}
	changed.Store(true)
	d := net.Dialer{Resolver: resolver, ControlContext: Control}
	if _, err := d.DialContext(t.Context(), "tcp4", "rebound.example.:"+port); !errors.Is(err, ErrNotPublic) {
		t.Errorf("got %v, want error ErrNotPublic", err)
	}
	d.ControlContext = nil // it is the check that stops it
	c, err := d.DialContext(t.Context(), "tcp4", "rebound.example.:"+port)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// resolve returns a resolver whose server answers every question with an address.
func resolve(t *testing.T, address func() [4]byte) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 1500); ; {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buf[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			m.Response, m.Additionals = true, nil
			head := dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}
			m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: address()}}}
			if raw, err := m.Pack(); err == nil {
				server.WriteTo(raw, from)
			}
		}
	}()
	t.Cleanup(func() {
		server.Close()
		<-done
	})
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func TestLoopbackIsKnownByNameAndAddress(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "127.0.0.1": true, "127.3.4.5": true, "::1": true, "::ffff:127.0.0.1": true,
		"": false, "192.168.1.5": false, "::": false, "localhost.example": false, "127.0.0.1:80": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q): got %t, want %t", host, got, want)
		}
	}
}
