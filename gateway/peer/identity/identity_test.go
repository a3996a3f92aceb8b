package identity

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

func TestThereIsOneWordForEachByte(t *testing.T) {
	if len(wordList) != 256 || !slices.IsSorted(wordList) || len(slices.Compact(slices.Clone(wordList))) != 256 {
		t.Errorf("got %d words, sorted %v; want 256 different ones in order", len(wordList), slices.IsSorted(wordList))
	}
}

// server is a TLS server with its own key; got receives the number of bytes that arrived after the
// handshake.
func server(t *testing.T) (address string, pin Pin, got chan int) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, _ := x509.ParseCertificate(der)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, MinVersion: tls.VersionTLS13})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	got = make(chan int, 8)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				n, _ := io.Copy(io.Discard, c)
				got <- int(n)
			}()
		}
	}()
	return l.Addr().String(), PinOf(leaf), got
}

func TestNothingIsSentToAGatewayWithAnotherKey(t *testing.T) {
	address, pin, got := server(t)
	if _, _, err := Dial(t.Context(), []string{address}, pinOf("tower")); !errors.Is(err, ErrWrongPin) {
		t.Errorf("error = %v, want error ErrWrongPin", err)
	}
	select {
	case n := <-got:
		if n != 0 {
			t.Errorf("%d bytes were sent, want none", n)
		}
	case <-time.After(3 * time.Minute):
		t.Error("the connection stayed open")
	}
	conn, seen, err := Dial(t.Context(), []string{"127.0.0.1:1", address}, pin)
	if err != nil || seen != pin {
		t.Fatalf("the right one: %v, %v; want %v and no error", seen, err, pin)
	}
	conn.Close()
}

func TestBindingIsTheSameAtBothEndsAndNowhereElse(t *testing.T) {
	address, pin, _ := server(t)
	a, _, err := Dial(t.Context(), []string{address}, pin)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, _, err := Dial(t.Context(), []string{address}, pin)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	one, err1 := Binding(a.ConnectionState())
	two, err2 := Binding(b.ConnectionState())
	if err1 != nil || err2 != nil || slices.Equal(one, two) || len(one) != 32 {
		t.Errorf("got %x %v, %x %v; want different bindings of 32 bytes and no errors", one, err1, two, err2)
	}
}

func TestIdentityIsMadeOnceAndItsSignatureIsForOnePurpose(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	store := keychain.Open(t.TempDir())
	a, err := OpenKey(store)
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenKey(store)
	if err != nil || a.ID() != b.ID() || len(a.ID()) != 16 {
		t.Errorf("got %s, %s, %v; want no error, a.ID %v and a.ID of length 16", a.ID(), b.ID(), err, b.ID())
	}
	sig := a.Sign(ForConnect, []byte("x"))
	if !Verify(a.Public(), ForConnect, []byte("x"), sig) || Verify(a.Public(), ForPairing, []byte("x"), sig) || Verify(nil, ForConnect, []byte("x"), sig) {
		t.Error("a signature holds for another purpose, or not for its own")
	}
}

func TestPairedGatewaysAreStored(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	open := func() *Peers { return OpenPeers(dir, keychain.Open(dir)) }
	pin := pinOf("tower")
	tie := PeerID{pin, protocol.RoleNode}
	if _, err := open().Find("", ""); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("empty: got %v, want error ErrNotFound", err)
	}
	_, err := open().Put(Pairing{Device: protocol.Device{ID: "d", Role: protocol.RoleNode, NodeID: "n"}, Token: "fd_1", Gateway: Gateway{Name: "Tower", Pin: pin, Addresses: []string{"a:1"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := open().AddAddresses(tie, []string{"b:2", "a:1"}); err != nil {
		t.Fatal(err)
	}
	if err := open().SetRefusal(tie, protocol.DeviceRefused{Reason: protocol.RefusedRevoked, By: "owner"}); err != nil {
		t.Fatal(err)
	}
	p, err := open().Find("tower", protocol.RoleNode)
	if err != nil || !slices.Equal(p.Addresses, []string{"b:2", "a:1"}) || p.Refusal == nil || p.Refusal.By != "owner" {
		t.Errorf(`got %+v, %v; want no error, Addresses %v and Refusal.By "owner"`, p, err, []string{"b:2", "a:1"})
	}
	if token, err := open().Token(tie); err != nil || token != "fd_1" {
		t.Errorf(`token: got %q, %v; want no error and token "fd_1"`, token, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "gateways.json"))
	if err != nil || strings.Contains(string(data), "fd_1") {
		t.Errorf(`got %s, %v; want no error and no "fd_1"`, data, err)
	}
	if err := open().Forget(tie); err != nil {
		t.Fatal(err)
	}
	if _, err := open().Get(tie); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("after forgetting: %v", err)
	}
}

func TestADeviceKeepsEachOfItsPairingsWithAGateway(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	p := OpenPeers(dir, keychain.Open(dir))
	gateway := Gateway{Name: "tower", Pin: pinOf("tower"), Addresses: []string{"a:1"}}
	for _, role := range []string{protocol.RoleNode, protocol.RoleClient, protocol.RoleNode} {
		if _, err := p.Put(Pairing{Device: protocol.Device{ID: "d", Role: role}, Token: "of the " + role, Gateway: gateway}); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := p.List(); err != nil || len(list) != 2 {
		t.Fatalf("got %+v, %v; want 2 entries and no error", list, err)
	}
	if err := p.SetRefusal(PeerID{gateway.Pin, protocol.RoleNode}, protocol.DeviceRefused{Reason: protocol.RefusedRevoked}); err != nil {
		t.Fatal(err)
	}
	if peer, err := p.Lookup(string(gateway.Pin)); err != nil || peer.Role != protocol.RoleClient || peer.Refusal != nil {
		t.Errorf("the window's: %+v, %v", peer, err)
	}
	if peer, err := p.Find("tower", ""); err != nil || peer.Pin != gateway.Pin {
		t.Errorf("by name, as whatever: %+v, %v", peer, err)
	}
	if err := p.End(PeerID{gateway.Pin, protocol.RoleNode}); err != nil {
		t.Fatal(err)
	}
	if token, err := p.Token(PeerID{gateway.Pin, protocol.RoleClient}); err != nil || token != "of the client" {
		t.Errorf(`the window's token is %q, %v; want "of the client" and no error`, token, err)
	}
	if token, err := p.Token(PeerID{gateway.Pin, protocol.RoleNode}); err != nil || token != "none" {
		t.Errorf(`the machine's token is %q, %v; want "none" and no error`, token, err)
	}
}

// TestGatewaysOfOneNameAreDistinguishedByAddress: computers often have the same name.
func TestGatewaysOfOneNameAreDistinguishedByAddress(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	dir := t.TempDir()
	p := OpenPeers(dir, keychain.Open(dir))
	for _, address := range []string{"a:1", "b:2"} {
		if _, err := p.Put(Pairing{Device: protocol.Device{ID: "d", Role: protocol.RoleClient}, Token: "x", Gateway: Gateway{Name: "vm", Pin: pinOf(address), Addresses: []string{address}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Find("vm", ""); !errors.Is(err, protocol.ErrConflict) || !strings.Contains(err.Error(), "a:1, b:2") {
		t.Errorf("by the name: %v", err)
	}
	if peer, err := p.Find("b:2", protocol.RoleClient); err != nil || peer.Pin != pinOf("b:2") {
		t.Errorf("by an address: %+v, %v", peer, err)
	}
	if _, err := p.Find("c:3", ""); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("by another address: %v", err)
	}
}

func TestAddressesAreHostAndPort(t *testing.T) {
	for a, ok := range map[string]bool{"h:1": true, "[::1]:8788": true, "1.2.3.4:65535": true, "h": false, "h:0": false, "h:65536": false, ":1": false, "h/x:1": false, "u@h:1": false} {
		t.Run(a, func(t *testing.T) {
			if err := CheckAddress(a); (err == nil) != ok {
				t.Errorf("%s: got %v; want success %v", a, err, ok)
			}
		})
	}
}

func pinOf(name string) Pin {
	sum := sha256.Sum256([]byte(name))
	return Pin(base64.StdEncoding.EncodeToString(sum[:]))
}
