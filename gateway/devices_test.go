package gateway_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// joinByLink pairs a machine as a client over an invitation's link, which the person confirms, and
// connects it.
func (h *accessGateway) joinByLink(m *pairedMachine, text string) (*client.Client, protocol.Device) {
	h.t.Helper()
	link, _ := pake.ParseLink(text)
	joining := m.device(protocol.RoleClient)
	joining.Link = &link
	out := pair(h.t, link.Addresses, joining)
	h.allow(h.request(protocol.AskPair))
	got := <-out
	if got.err != nil {
		h.t.Fatal(got.err)
	}
	peer, err := m.peers.Put(got.done)
	if err != nil {
		h.t.Fatal(err)
	}
	c, err := m.connect(h.t, peer.ID())
	if err != nil {
		h.t.Fatal(err)
	}
	return c, got.done.Device
}

func TestADeviceMayDoOnlyWhatItWasPairedFor(t *testing.T) {
	h := newAccessGateway(t)
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeRead}})
	m := newMachine(t, "phone")
	c, _ := h.joinByLink(m, invite.Link)
	if _, err := client.Call(t.Context(), c, protocol.StatusGet, protocol.Empty{}); err != nil {
		t.Errorf("status.get: %v", err)
	}
	for _, err := range []error{
		second(client.Call(t.Context(), c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "x", RunID: "r"})),
		second(client.Call(t.Context(), c, protocol.ConfigSet, protocol.ConfigSetParams{Path: "agent.maxSteps", Value: json.RawMessage("3")})),
		second(client.Call(t.Context(), c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "x__Bash"})),
		second(client.Call(t.Context(), c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{})),
		second(client.Call(t.Context(), c, protocol.QuestionAnswer, protocol.QuestionAnswerParams{})),
	} {
		if !errors.Is(err, protocol.ErrForbidden) {
			t.Errorf("a device that may read did more: %v", err)
		}
	}
	// It unpairs itself: both sides know.
	if _, err := client.Call(t.Context(), c, protocol.DeviceLeave, protocol.Empty{}); err != nil {
		t.Errorf("device.leave: %v", err)
	}
	if d := h.list().Devices[0]; d.RevokedAt == 0 || d.RevokedBy != "the device itself" {
		t.Errorf(`got %+v; want RevokedAt other than 0 and RevokedBy "the device itself"`, d)
	}
}

func TestDeviceCannotGrantRightsItLacks(t *testing.T) {
	h := newAccessGateway(t)
	m := newMachine(t, "tablet")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeAdmin}})
	c, _ := h.joinByLink(m, invite.Link)
	all := []protocol.Scope{protocol.ScopeRead, protocol.ScopeInvoke}
	other := pair(t, invite.Addresses, newMachine(t, "accomplice").device(protocol.RoleClient))
	r := h.request(protocol.AskPair)
	for what, err := range map[string]error{
		"an invitation with every right": second(client.Call(t.Context(), c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})),
		"an invitation with one more":    second(client.Call(t.Context(), c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, Scopes: all})),
		"more for itself":                second(client.Call(t.Context(), c, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: m.id.ID(), Scopes: &all})),
		"a yes to one that gets all":     second(client.Call(t.Context(), c, protocol.QuestionAnswer, answerTo(r, protocol.DecisionAllow))),
	} {
		t.Run(what, func(t *testing.T) {
			if !errors.Is(err, protocol.ErrForbidden) {
				t.Errorf("%s: got %v; want the error protocol.ErrForbidden", what, err)
			}
		})
	}
	if _, err := client.Call(t.Context(), c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeRead}}); err != nil {
		t.Errorf("what it has: %v", err)
	}
	h.deny(r)
	<-other
}

// TestDeviceCannotExtendItsOwnPairing: with the scope to change pairings, a device could otherwise
// extend its own, or pair another one that extends it.
func TestDeviceCannotExtendItsOwnPairing(t *testing.T) {
	h := newAccessGateway(t)
	pairFor := func(name string, days int) (*pairedMachine, *client.Client, protocol.Device) {
		t.Helper()
		invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, PairedFor: days})
		m := newMachine(t, name)
		c, d := h.joinByLink(m, invite.Link)
		return m, c, d
	}
	_, guest, is := pairFor("guest", 7)
	_, _, other := pairFor("tablet", 3)
	asks := pair(t, h.list().Network.Addresses, newMachine(t, "accomplice").device(protocol.RoleClient))
	r := h.request(protocol.AskPair)
	never, later, sooner := int64(0), is.ExpiresAt+1, is.ExpiresAt-1000
	set := func(id protocol.DeviceID, end *int64) error {
		return second(client.Call(t.Context(), guest, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: id, ExpiresAt: end}))
	}
	for what, err := range map[string]error{
		"no end of its own":        set(is.ID, &never),
		"a later end of its own":   set(is.ID, &later),
		"another one's later end":  set(other.ID, &later),
		"an invitation for good":   second(client.Call(t.Context(), guest, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})),
		"an invitation for longer": second(client.Call(t.Context(), guest, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, PairedFor: 8})),
		"a token of its choice":    second(client.Call(t.Context(), guest, protocol.ConfigSet, protocol.ConfigSetParams{Path: "auth.token", Value: json.RawMessage(`"chosen by a guest"`)})),
		"the same, more broadly":   second(client.Call(t.Context(), guest, protocol.ConfigSet, protocol.ConfigSetParams{Path: "auth", Value: json.RawMessage(`{"token":"chosen by a guest"}`)})),
		"a yes for good":           second(client.Call(t.Context(), guest, protocol.QuestionAnswer, answerTo(r, protocol.DecisionAllow))),
	} {
		t.Run(what, func(t *testing.T) {
			if !errors.Is(err, protocol.ErrForbidden) {
				t.Errorf("%s: got %v; want the error protocol.ErrForbidden", what, err)
			}
		})
	}
	for what, err := range map[string]error{
		"another one's end":              set(other.ID, &sooner),
		"an invitation for less":         second(client.Call(t.Context(), guest, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, PairedFor: 6})),
		"an invitation for a machine":    second(client.Call(t.Context(), guest, protocol.DeviceInviteTo, protocol.DeviceInviteParams{})),
		"an earlier end of its own":      set(is.ID, &sooner),
		"another name, and nothing more": second(client.Call(t.Context(), guest, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: is.ID, Name: &r.Pairing.Device.Name})),
	} {
		t.Run(what, func(t *testing.T) {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	ask(h, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: is.ID, ExpiresAt: &never}) // the owner may
	if err := set(other.ID, &never); err != nil {
		t.Errorf("one that has no end: %v", err)
	}
	h.deny(r)
	<-asks
}

func second[T any](_ T, err error) error { return err }

func TestNetworkAdmitsOnlyDevices(t *testing.T) {
	h := newAccessGateway(t)
	m, thief := newMachine(t, "laptop"), newMachine(t, "thief")
	peer := h.pairByLink(m, h.nodeDevice(m, node.Confinement{}))
	token, _ := m.peers.Token(peer.ID())
	shake := func(a *protocol.Auth, p protocol.ConnectParams, sign *identity.Key) error {
		o := client.Options{
			URL: "ws://fairlead/ws", Connect: func() protocol.ConnectParams { return p },
			Dial: func(ctx context.Context) (net.Conn, error) {
				c, _, err := identity.Dial(ctx, peer.Addresses, peer.Pin)
				return c, err
			},
			Auth: func(c net.Conn) (*protocol.Auth, error) {
				if sign != nil {
					binding, err := identity.Binding(c.(*tls.Conn).ConnectionState())
					if err != nil {
						return nil, err
					}
					a.Device = &protocol.DeviceProof{ID: m.id.ID(), Signature: sign.Sign(identity.ForConnect, binding)}
				}
				return a, nil
			},
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		o.OnUp = func(context.Context, protocol.ConnectResult) { cancel() }
		return client.New(o).Run(ctx)
	}
	window := gateway.ClientParams("window")
	for name, err := range map[string]error{
		"the gateway's own token":     shake(&protocol.Auth{Token: "gateway-token-of-the-test"}, window, nil),
		"a stolen token":              shake(&protocol.Auth{Token: token}, window, nil),
		"a stolen token, another key": shake(&protocol.Auth{Token: token}, window, &thief.id),
		"no token":                    shake(&protocol.Auth{}, window, &m.id),
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(err, protocol.ErrUnauthorized) {
				t.Errorf("%s: got %v; want the error protocol.ErrUnauthorized", name, err)
			}
		})
	}
	if err := shake(&protocol.Auth{Token: token}, window, &m.id); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("a node as a window: %v", err)
	}
	other := window
	other.Client.Mode, other.Client.ID = protocol.ModeNode, "tower"
	if err := shake(&protocol.Auth{Token: token}, other, &m.id); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("a node under another name: %v", err)
	}
	// A device's token is not valid on the loopback listener.
	c := client.New(client.Options{URL: h.gw.URL(), Token: token, Connect: func() protocol.ConnectParams { return window }})
	if err := c.Run(t.Context()); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("on loopback: %v", err)
	}
	// No web page, no older TLS.
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	req, _ := http.NewRequest(http.MethodGet, "https://"+peer.Addresses[0]+"/health", nil)
	req.Header.Set("Origin", "https://"+peer.Addresses[0])
	if res, err := hc.Do(req); err != nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("a page: got %v, %v; want no error and StatusCode StatusForbidden", res, err)
	}
	if _, err := tls.Dial("tcp", peer.Addresses[0], &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}); err == nil {
		t.Error("TLS 1.2 is served")
	}
	// Turning the network off takes effect at once.
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "network.enabled", Value: json.RawMessage(`false`)})
	h.until("nobody listens", func() bool {
		c, err := net.Dial("tcp", peer.Addresses[0])
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}

func TestAMachineThatOffersMoreWaitsForTheOwner(t *testing.T) {
	h := newAccessGateway(t)
	m := newMachine(t, "laptop")
	narrow := node.Confinement{Mode: "read-only"}
	peer := h.pairByLink(m, h.nodeDevice(m, narrow))
	stop, ended := h.node(m, peer.ID(), narrow)
	h.until("the node is online", func() bool { return h.info("laptop").Online })
	if n := h.info("laptop"); len(n.Held) > 0 {
		t.Errorf("held although nothing changed: %v, %+v", n.Held, h.requests())
	}
	if host, key := h.info("laptop").Host, identity.KeyWords(m.id.Public()); !slices.Equal(host.Words, key) || host.Address == "" {
		t.Errorf("the machine is at %q with the words %v, want those of its key, %v", host.Address, host.Words, key)
	}
	stop()
	<-ended
	h.until("it is offline", func() bool { return !h.info("laptop").Online })
	stop, ended = h.node(m, peer.ID(), node.Confinement{Mode: "full", Network: "allowed"})
	r := h.request(protocol.AskWiden)
	if text := strings.Join(r.Pairing.Wider, "; "); !strings.Contains(text, "full access instead of reading only") || !strings.Contains(text, "network") {
		t.Errorf("the owner reads %q, want the wider access and the network", text)
	}
	h.until("all its tools are held", func() bool { n := h.info("laptop"); return n.Online && len(n.Held) == len(n.Tools) })
	if _, err := client.Call(t.Context(), h.owner, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "laptop__Glob", Args: json.RawMessage(`{"pattern":"*"}`)}); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("a held tool was called: %v", err)
	}
	h.allow(r)
	h.until("they are free", func() bool { return len(h.info("laptop").Held) == 0 })
	if _, err := client.Call(t.Context(), h.owner, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "laptop__Glob", Args: json.RawMessage(`{"pattern":"*"}`)}); err != nil {
		t.Errorf("after the yes: %v", err)
	}
	stop()
	<-ended
	h.until("it is offline", func() bool { return !h.info("laptop").Online })
	stop, ended = h.node(m, peer.ID(), narrow)
	h.until("less is no question", func() bool { n := h.info("laptop"); return n.Online && len(n.Held) == 0 })
	if n := len(h.requests()); n != 0 {
		t.Errorf("got %d requests, want 0", n)
	}
	stop()
	<-ended
}

func TestAnInvitationOverSSHIsForOneKey(t *testing.T) {
	h := newAccessGateway(t)
	m, other := newMachine(t, "server"), newMachine(t, "mallory")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Device: identity.Fingerprint(m.id.Public())})
	link, _ := pake.ParseLink(invite.Link)
	wrong := other.device(protocol.RoleNode)
	wrong.Link = &link
	if _, err := client.Pair(t.Context(), link.Addresses, wrong); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("another key: %v", err)
	}
	right := m.device(protocol.RoleNode)
	right.Link = &link
	done, err := client.Pair(t.Context(), link.Addresses, right)
	if err != nil || done.Device.Method != protocol.PairedBySSH {
		t.Errorf("got %+v, %v; want no error and Device.Method PairedBySSH", done.Device, err)
	}
}

// TestCurlChecksThePinThatTheInvitationNames: the command that installs a node on another machine
// begins with this check.
func TestCurlChecksThePinThatTheInvitationNames(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl:", err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h := newAccessGateway(t)
	n := h.list().Network
	if i := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{}); i.Install != "" {
		t.Errorf("a line for what is not there: %s", i.Install)
	}
	nodes := filepath.Join(filepath.Dir(exe), "nodes")
	if err := os.Mkdir(nodes, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(nodes) })
	if err := os.WriteFile(filepath.Join(nodes, "fairlead-node-plan9-amd64"), []byte("node"), 0o755); err != nil {
		t.Fatal(err)
	}
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{})
	if !strings.Contains(invite.Install, "; curl -fsSk --pinnedpubkey 'sha256//"+n.Pin+"' https://"+n.Addresses[0]+"/install.sh") || invite.InstallWindows != "" {
		t.Errorf("the lines are %s and %s, want curl with the pin for this address, and none for Windows", invite.Install, invite.InstallWindows)
	}
	if i := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient}); i.Install != "" {
		t.Errorf("a line that installs a node, for a window: %s, want none", i.Install)
	}
	if err := os.WriteFile(filepath.Join(nodes, "fairlead-node-windows-amd64.exe"), []byte("node"), 0o755); err != nil {
		t.Fatal(err)
	}
	if i := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{}); !strings.Contains(i.InstallWindows, "; curl.exe -fsSk --pinnedpubkey 'sha256//"+n.Pin+"' https://"+n.Addresses[0]+"/install.ps1 | ") {
		t.Errorf("the line for Windows is %s, want %q in it", i.InstallWindows, "curl.exe -fsSk --pinnedpubkey 'sha256//"+n.Pin+"' https://"+n.Addresses[0]+"/install.ps1 | ")
	}
	get := func(pin, path string) (string, error) {
		out, err := exec.Command(curl, "--noproxy", "*", "-sSk", "--pinnedpubkey", "sha256//"+pin, "https://"+n.Addresses[0]+path).CombinedOutput()
		return string(out), err
	}
	if out, err := get(n.Pin, "/install.sh"); err != nil || !strings.Contains(out, "plan9-amd64") {
		t.Errorf(`got %s, %v; want no error and "plan9-amd64" in it`, out, err)
	}
	if out, err := get(string(identity.Pin(base64.StdEncoding.EncodeToString(make([]byte, 32)))), "/install.sh"); err == nil {
		t.Errorf("another pin was accepted: %s", out)
	}
}
