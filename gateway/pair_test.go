package gateway_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

func TestAMachineIsPairedByLinkAndItsTokenRotatedAndRevoked(t *testing.T) {
	h := newAccessGateway(t)
	m := newMachine(t, "laptop")
	peer := h.pairByLink(m, h.nodeDevice(m, node.Confinement{}))
	stop, ended := h.node(m, peer.ID(), node.Confinement{})
	defer stop()
	h.until("the node is online", func() bool { return h.info("laptop").Online })
	h.until("its ping is measured", func() bool { return h.info("laptop").PingMs > 0 })
	first, _ := m.peers.Token(peer.ID())

	ask(h, protocol.DeviceRotate, protocol.DeviceParams{ID: m.id.ID()})
	h.until("it has a new token and is back", func() bool {
		now, _ := m.peers.Token(peer.ID())
		return now != first && h.info("laptop").Online && h.list().Devices[0].Online
	})
	if d := h.list().Devices[0]; d.RotatedAt != 0 {
		t.Errorf("got %+v; want RotatedAt 0", d)
	}

	ask(h, protocol.DeviceRevoke, protocol.DeviceParams{ID: m.id.ID()})
	select {
	case err := <-ended:
		if !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("the node ended with %v", err)
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("a revoked node goes on")
	}
	h.until("a revoked node is shown as offline", func() bool { return !h.info("laptop").Online })
	if d := h.list().Devices[0]; d.Online || d.RevokedAt == 0 {
		t.Errorf("a revoked device is shown as %+v", d)
	}
	// At the next connection the machine learns who revoked it.
	stop2, ended2 := h.node(m, peer.ID(), node.Confinement{})
	defer stop2()
	if err := <-ended2; err == nil || !strings.Contains(err.Error(), "ended by owner") {
		t.Errorf(`got %v; want an error with "ended by owner"`, err)
	}
	if p, err := m.peers.Get(peer.ID()); err != nil || p.Refusal == nil || p.Refusal.Reason != protocol.RefusedRevoked || p.Refusal.By == "" || p.Refusal.At == 0 {
		t.Errorf("the machine knows %+v, %v", p.Refusal, err)
	}
	// A revoked key fetches no new token, but it can be paired again.
	if _, err := client.Pair(t.Context(), peer.Addresses, pake.Device{Key: m.id, Pin: peer.Pin, Renew: true}); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("renewed after the revocation: %v", err)
	}
	again := h.pairByLink(m, h.nodeDevice(m, node.Confinement{}))
	stop3, _ := h.node(m, again.ID(), node.Confinement{})
	defer stop3()
	h.until("it is back after pairing again", func() bool { return h.info("laptop").Online })
}

// TestForgottenMachineLearnsThatItWasRevoked has the registry's reason arrive before the one of the
// pairing, as it can when a person removes a machine.
func TestForgottenMachineLearnsThatItWasRevoked(t *testing.T) {
	h := newAccessGateway(t)
	m := newMachine(t, "laptop")
	peer := h.pairByLink(m, h.nodeDevice(m, node.Confinement{}))
	o := client.Through(client.Options{}, m.peers, peer.ID(), m.id, nil)
	forgotten := protocol.ErrConflict.With(protocol.ForgottenReason)
	if err := o.Refused(t.Context(), forgotten); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("Forgotten, still paired: got %v, want the error that ends the connection", err)
	}
	if p, err := m.peers.Get(peer.ID()); err != nil || p.Refusal != nil {
		t.Errorf("Refusal while it is paired: got %+v, %v, want none", p.Refusal, err)
	}
	ask(h, protocol.DeviceRevoke, protocol.DeviceParams{ID: m.id.ID()})
	if err := o.Refused(t.Context(), forgotten); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("Forgotten and revoked: got %v, want a refusal", err)
	}
	if p, err := m.peers.Get(peer.ID()); err != nil || p.Refusal == nil || p.Refusal.Reason != protocol.RefusedRevoked {
		t.Errorf("Refusal: got %+v, %v, want revoked", p.Refusal, err)
	}
}

func TestInvitationIsValidOnce(t *testing.T) {
	h := newAccessGateway(t)
	a, b := newMachine(t, "phone"), newMachine(t, "mallory")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	link, _ := pake.ParseLink(invite.Link)
	code, err := pake.ParseCode(invite.Code)
	if err != nil {
		t.Fatal(err)
	}
	first := a.device(protocol.RoleClient)
	first.Code = &code
	out := pair(t, link.Addresses, first)
	r := h.request(protocol.AskPair)
	// While the request is pending, and after the invitation was used, nobody else can pair by link
	// or code.
	try := func(when string) {
		t.Helper()
		byLink, byCode := b.device(protocol.RoleClient), b.device(protocol.RoleClient)
		byLink.Link, byCode.Code = &link, &code
		for door, joining := range map[string]pake.Device{"link": byLink, "code": byCode} {
			if _, err := client.Pair(t.Context(), link.Addresses, joining); !errors.Is(err, protocol.ErrNotFound) {
				t.Errorf("%s, by %s: %v; want error ErrNotFound", when, door, err)
			}
		}
	}
	try("while it is taken")
	named := answerTo(r, protocol.DecisionAllow)
	named.Name = "Anna's phone"
	h.answer(named)
	if got := <-out; got.err != nil || got.done.Device.Name != "Anna's phone" {
		t.Fatalf(`got %+v; want no error and done.Device.Name "Anna's phone"`, got)
	}
	try("after it was spent")
	if again := ask(h, protocol.QuestionAnswer, answerTo(r, protocol.DecisionAllow)); again.Won {
		t.Errorf("approved twice: %+v", again)
	}
	if n := len(h.list().Devices); n != 1 {
		t.Errorf("got %d devices, want 1", n)
	}
}

func TestThreeWrongCodesWithdrawTheInvitation(t *testing.T) {
	h := newAccessGateway(t)
	m := newMachine(t, "mallory")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	code, _ := pake.ParseCode(invite.Code)
	wrong := pake.Code{Number: code.Number, Words: []string{"acorn", "acorn", "zebra"}}
	for i := range 3 {
		joining := m.device(protocol.RoleClient)
		joining.Code = &wrong
		if _, err := client.Pair(t.Context(), invite.Addresses, joining); !errors.Is(err, protocol.ErrForbidden) {
			t.Errorf("guess %d: %v, want error ErrForbidden", i+1, err)
		}
	}
	joining := m.device(protocol.RoleClient)
	joining.Code = &code
	if _, err := client.Pair(t.Context(), invite.Addresses, joining); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("the right code after three guesses: %v", err)
	}
	for {
		select {
		case c := <-h.changes:
			if c.Notice != nil && strings.Contains(c.Notice.Text, "wrong pairing code") {
				return
			}
			continue
		case <-time.After(3 * time.Minute):
			t.Fatal("the owner was not told")
		}
	}
}

func TestPairingNeedsTheOwnersApproval(t *testing.T) {
	h := newAccessGateway(t)
	m := newMachine(t, "laptop")
	at := h.list().Network.Addresses
	out := pair(t, at, m.device(protocol.RoleNode))
	r := h.request(protocol.AskPair)
	// A request for something else is another request: an answer to the one that was displayed does
	// not apply.
	more := m.device(protocol.RoleClient)
	second := pair(t, at, more)
	if got := <-out; !errors.Is(got.err, protocol.ErrConflict) {
		t.Errorf("the first question: got %+v, want a conflict", got)
	}
	if again := ask(h, protocol.QuestionAnswer, answerTo(r, protocol.DecisionAllow)); again.Won {
		t.Errorf("a swapped request was approved: %+v", again)
	}
	r = h.request(protocol.AskPair)
	h.deny(r)
	if got := <-second; !errors.Is(got.err, protocol.ErrForbidden) || got.done.Token != "" {
		t.Errorf("got %+v; want error ErrForbidden and an empty done.Token", got)
	}
	if l, open := h.list(), h.requests(); len(l.Devices) != 0 || len(open) != 0 {
		t.Errorf("got %+v and %+v, want neither devices nor questions", l, open)
	}
	// A device that disconnects is no longer pending.
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := client.Pair(ctx, at, m.device(protocol.RoleNode))
		left <- err
	}()
	h.request(protocol.AskPair)
	cancel()
	<-left
	h.until("the request is gone", func() bool { return len(h.requests()) == 0 })
}

// TestAManInTheMiddleGetsNothing: the attacker terminates TLS with his own certificate and forwards
// the data.
func TestAManInTheMiddleGetsNothing(t *testing.T) {
	h := newAccessGateway(t)
	his, _, err := auth.OpenCertificate(keychain.Open(t.TempDir()), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	real := h.list().Network
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{his}, MinVersion: tls.VersionTLS13})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var mu sync.Mutex
	var heard strings.Builder
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				up, err := tls.Dial("tcp", real.Addresses[0], &tls.Config{InsecureSkipVerify: true})
				if err != nil {
					return
				}
				defer up.Close()
				go io.Copy(c, up)
				buf := make([]byte, 4096)
				for {
					n, err := c.Read(buf)
					mu.Lock()
					heard.Write(buf[:n])
					mu.Unlock()
					if err != nil {
						return
					}
					up.Write(buf[:n])
				}
			}()
		}
	}()
	between := []string{l.Addr().String()}
	m := newMachine(t, "phone")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	link, _ := pake.ParseLink(invite.Link)
	code, _ := pake.ParseCode(invite.Code)
	byLink, byCode := m.device(protocol.RoleClient), m.device(protocol.RoleClient)
	byLink.Link, byCode.Code = &link, &code
	if _, err := client.Pair(t.Context(), between, byLink); !errors.Is(err, identity.ErrWrongPin) {
		t.Errorf("link: got %v, want error ErrWrongPin", err)
	}
	mu.Lock()
	if heard.Len() > 0 {
		t.Errorf("he heard %q, want nothing", heard.String())
	}
	mu.Unlock()
	if _, err := client.Pair(t.Context(), between, byCode); err == nil {
		t.Error("a code was paired through him")
	}
	if n := len(h.requests()); n != 0 {
		t.Errorf("%d requests are before the owner, want 0", n)
	}
	// Without a secret, the two ends show different words.
	var shown []string
	asks := m.device(protocol.RoleClient)
	asks.OnWaiting = func(words []string, _ int) { mu.Lock(); shown = words; mu.Unlock() }
	out := pair(t, between, asks)
	h.until("either end gives up or shows words", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return shown != nil || len(out) > 0
	})
	if open := h.requests(); len(open) > 0 && slices.Equal(open[0].Pairing.Words, shown) {
		t.Errorf("both ends show %v through a man in the middle", shown)
	}
	for _, r := range h.requests() {
		h.deny(r)
	}
	<-out
	// A paired device sends the attacker nothing either.
	mu.Lock()
	heard.Reset()
	mu.Unlock()
	if _, _, err := identity.Dial(t.Context(), between, identity.Pin(real.Pin)); !errors.Is(err, identity.ErrWrongPin) {
		t.Errorf("a paired device: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if heard.Len() > 0 {
		t.Errorf("he heard %q, want nothing", heard.String())
	}
}

// A transfer to a machine does not go to another one that gets its name after its pairing has
// ended.
func TestNothingWaitsForAMachineThatIsNotPairedAnyMore(t *testing.T) {
	for what, end := range map[string]func(h *accessGateway, id protocol.DeviceID){
		"revoked": func(h *accessGateway, id protocol.DeviceID) {
			ask(h, protocol.DeviceRevoke, protocol.DeviceParams{ID: id})
		},
		"forgotten": func(h *accessGateway, id protocol.DeviceID) {
			ask(h, protocol.DeviceForget, protocol.DeviceParams{ID: id})
		},
	} {
		t.Run(what, func(t *testing.T) {
			h := newAccessGateway(t)
			m := newMachine(t, "laptop")
			peer := h.pairByLink(m, h.nodeDevice(m, node.Confinement{}))
			stop, ended := h.node(m, peer.ID(), node.Confinement{})
			h.until("the node is online", func() bool { return h.info("laptop").Online })
			stop()
			<-ended
			h.until("the node is offline", func() bool { return !h.info("laptop").Online })
			start := protocol.TransferStartParams{Sources: []string{"gsv:notes.txt"}, Destination: "laptop:notes.txt", Later: true}
			tr, paused := ask(h, protocol.TransferStart, start), ask(h, protocol.TransferStart, start)
			ask(h, protocol.TransferPause, protocol.TransferParams{ID: paused.ID})
			start.Destination = "tower:notes.txt"
			other := ask(h, protocol.TransferStart, start)
			end(h, m.id.ID())
			for _, id := range []protocol.TransferID{tr.ID, paused.ID} {
				if now := ask(h, protocol.TransferGet, protocol.TransferParams{ID: id}); now.State != protocol.TransferFailed || now.Error != "laptop is no longer paired" {
					t.Errorf(`%s: got %s; want State TransferFailed and Error "laptop is no longer paired"`, now.State, now.Error)
				}
			}
			if now := ask(h, protocol.TransferGet, protocol.TransferParams{ID: other.ID}); now.State != protocol.TransferWaiting {
				t.Errorf("another machine's: %s: %s", now.State, now.Error)
			}
		})
	}
}

// Each gateway numbers its invitations from one: the number alone does not identify the gateway.
func TestACodeFindsItsGatewayAmongOthersThatInvite(t *testing.T) {
	h, neighbour := newAccessGateway(t), newAccessGateway(t)
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	others := ask(neighbour, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	if number := func(code string) string { n, _, _ := strings.Cut(code, "-"); return n }; number(invite.Code) != number(others.Code) {
		t.Fatalf("the codes are %s and %s, want the same number", invite.Code, others.Code)
	}
	m := newMachine(t, "phone")
	out := make(chan error, 1)
	go func() {
		_, err := client.Join{
			Key: m.id, Peers: m.peers, Applicant: m.device(protocol.RoleClient).Applicant, Invitation: invite.Code,
			Gateways: append(others.Addresses, invite.Addresses...),
		}.Run(t.Context())
		out <- err
	}()
	h.allow(h.request(protocol.AskPair))
	if err := <-out; err != nil {
		t.Error(err)
	}
	if n := len(neighbour.requests()); n != 0 {
		t.Errorf("%d requests are before the neighbour, want 0", n)
	}
}

// A gateway counts wrong codes: one wrong code counts once, however many addresses the gateway has.
func TestACodeIsTriedOnceWithEachGateway(t *testing.T) {
	h := newAccessGateway(t)
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	wrong := invite.Code[:strings.LastIndex(invite.Code, "-")+1] + "maple"
	if wrong == invite.Code {
		wrong = strings.TrimSuffix(wrong, "maple") + "otter"
	}
	m := newMachine(t, "phone")
	join := client.Join{
		Key: m.id, Peers: m.peers, Applicant: m.device(protocol.RoleClient).Applicant, Invitation: wrong,
		Gateways: slices.Repeat(invite.Addresses, 5),
	}
	if _, err := join.Run(t.Context()); err == nil {
		t.Fatal("a wrong code was taken")
	}
	out := make(chan error, 1)
	go func() {
		join.Invitation = invite.Code
		_, err := join.Run(t.Context())
		out <- err
	}()
	h.allow(h.request(protocol.AskPair))
	if err := <-out; err != nil {
		t.Error(err)
	}
}
