package pairing

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/store"
)

const testPin = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// memoryStore is a Store in memory.
type memoryStore struct {
	devices map[protocol.DeviceID]store.PairedDevice
	lines   []protocol.AuditEntry
	broken  bool
	putting func() // called before a device is stored, unless nil
}

func (k *memoryStore) List(context.Context) (list []store.PairedDevice, err error) {
	for _, d := range k.devices {
		list = append(list, d)
	}
	return list, nil
}

func (k *memoryStore) Put(_ context.Context, d store.PairedDevice, lines ...protocol.AuditEntry) error {
	if k.broken {
		return protocol.ErrStorage
	}
	if k.putting != nil {
		k.putting()
	}
	k.devices[d.ID] = d
	k.lines = append(k.lines, lines...)
	return nil
}

func (k *memoryStore) Append(_ context.Context, lines ...protocol.AuditEntry) error {
	k.lines = append(k.lines, lines...)
	return nil
}

func (k *memoryStore) Delete(_ context.Context, id protocol.DeviceID, lines ...protocol.AuditEntry) error {
	delete(k.devices, id)
	k.lines = append(k.lines, lines...)
	return nil
}

type noNodes struct{}

func (noNodes) Release(protocol.NodeID)  {}
func (noNodes) Own(protocol.NodeID) bool { return false }

func (noNodes) Node(protocol.NodeID) (n protocol.NodeInfo, known bool) { return n, false }

// fakeSessions counts the devices whose transfers have ended.
type fakeSessions struct{ count int }

func (e *fakeSessions) EndDevice(protocol.Device) { e.count++ }

// closeFunc calls itself for each device whose connections are closed.
type closeFunc func(protocol.DeviceID)

func (c closeFunc) CloseDevice(id protocol.DeviceID, _ int, _ string) { c(id) }

func open(t *testing.T, k *memoryStore) *Manager {
	t.Helper()
	if k.devices == nil {
		k.devices = make(map[protocol.DeviceID]store.PairedDevice)
	}
	m, err := Open(t.Context(), Options{Store: k, Audit: k, Bus: new(event.Bus), Questions: question.New(questiontest.NewStore(), nil, new(event.Bus)), Nodes: noNodes{}, Name: "tower", Transfers: new(fakeSessions), Connections: closeFunc(func(protocol.DeviceID) {}), Network: func() protocol.NetworkStatus {
		return protocol.NetworkStatus{Enabled: true, Listening: true, Addresses: []string{"10.0.0.1:8788"}, Pin: testPin}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// pendingRequests returns the pending questions about devices.
func pendingRequests(t *testing.T, m *Manager) []protocol.Question {
	t.Helper()
	list, err := m.o.Questions.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// answer answers a question as a person in a window. One that was answered or has ended before is
// protocol.ErrNotFound.
func answer(m *Manager, q protocol.Question, decision string) error {
	r, err := m.o.Questions.Answer(context.Background(), auth.Owner("window"), protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: decision})
	if err == nil && !r.Won {
		err = protocol.ErrNotFound
	}
	return err
}

// pipeConn is one end of a conversation in memory.
type pipeConn struct {
	in, out chan pake.Message
	gone    context.Context
}

func (w pipeConn) Send(m pake.Message) error {
	select {
	case w.out <- m:
		return nil
	case <-w.gone.Done():
		return context.Cause(w.gone)
	}
}

func (w pipeConn) Receive() (pake.Message, error) {
	select {
	case m := <-w.in:
		return m, nil
	case <-w.gone.Done():
		return pake.Message{}, context.Cause(w.gone)
	}
}

type outcome struct {
	done identity.Pairing
	err  error
}

// startPairing conducts a device's pairing with m; hangUp closes its connection.
func startPairing(t *testing.T, m *Manager, applicant pake.Device) (out chan outcome, hangUp func()) {
	a, b := make(chan pake.Message), make(chan pake.Message)
	gone, cancel := context.WithCancel(t.Context())
	out = make(chan outcome, 1)
	applicant.Pin = testPin
	go m.Pair(t.Context(), gone, pipeConn{a, b, gone}, "10.0.0.7")
	go func() {
		done, err := applicant.Run(pipeConn{b, a, gone})
		out <- outcome{done, err}
	}()
	return out, cancel
}

// pairPhone pairs a new phone with the code of an invitation, for a number of days; 0: for good.
func pairPhone(t *testing.T, m *Manager, days int) (identity.Key, outcome) {
	t.Helper()
	invite, err := m.Invite(t.Context(), "owner", protocol.DeviceInviteParams{Role: protocol.RoleClient, PairedFor: days})
	if err != nil {
		t.Fatal(err)
	}
	code, _ := pake.ParseCode(invite.Code)
	id := identity.NewKey()
	applicant := phone(id)
	applicant.Code = &code
	out, hangUp := startPairing(t, m, applicant)
	defer hangUp()
	synctest.Wait()
	if err := answer(m, pendingRequests(t, m)[0], protocol.DecisionAllow); err != nil {
		t.Fatal(err)
	}
	return id, <-out
}

func phone(id identity.Key) pake.Device {
	return pake.Device{Key: id, Applicant: pake.Applicant{Role: protocol.RoleClient, Name: "phone\n\u202epc"}}
}

func TestATakenInvitationThatNobodyConfirmsIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &memoryStore{}
		m := open(t, k)
		invite, err := m.Invite(t.Context(), "owner window", protocol.DeviceInviteParams{Role: protocol.RoleClient})
		if err != nil {
			t.Fatal(err)
		}
		link, _ := pake.ParseLink(invite.Link)
		applicant := phone(identity.NewKey())
		applicant.Link = &link
		began := time.Now()
		out, hangUp := startPairing(t, m, applicant)
		defer hangUp()
		synctest.Wait()
		if waiting := pendingRequests(t, m); len(waiting) != 1 || waiting[0].Pairing.Device.Name != "phone pc" || waiting[0].Pairing.Device.Address != "10.0.0.7" {
			t.Fatalf("got %+v, want the phone with its name and address", waiting)
		}
		if got := <-out; !errors.Is(got.err, protocol.ErrTimeout) || time.Since(began) != confirmLife {
			t.Errorf("got error %v after %s, want a timeout after %s", got.err, time.Since(began), confirmLife)
		}
		synctest.Wait()
		if l, _ := m.List(t.Context()); len(pendingRequests(t, m))+len(l.Invites)+len(l.Devices) != 0 {
			t.Errorf("got %+v, want nothing left", l)
		}
	})
}

func TestInvitationsExpireAfterTenMinutesAndAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, &memoryStore{})
		numbers := make(map[string]bool)
		var first protocol.DeviceInvite
		for i := range maxInvites {
			in, err := m.Invite(t.Context(), "owner", protocol.DeviceInviteParams{})
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				first = in
			}
			number, _, _ := strings.Cut(in.Code, "-")
			numbers[number] = true
		}
		if len(numbers) != maxInvites {
			t.Errorf("numbers %v are not all different", numbers)
		}
		if _, err := m.Invite(t.Context(), "owner", protocol.DeviceInviteParams{}); !errors.Is(err, protocol.ErrConflict) {
			t.Errorf("one more: %v", err)
		}
		time.Sleep(inviteLife)
		link, _ := pake.ParseLink(first.Link)
		applicant := pake.Device{Key: identity.NewKey(), Link: &link, Applicant: pake.Applicant{Role: protocol.RoleNode, NodeID: "n"}}
		out, hangUp := startPairing(t, m, applicant)
		defer hangUp()
		if got := <-out; !errors.Is(got.err, protocol.ErrNotFound) {
			t.Errorf("after its time: got %+v, want %v", got, protocol.ErrNotFound)
		}
	})
}

func TestADeviceFetchesItsTokenAfterALostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &memoryStore{}
		m := open(t, k)
		id := identity.NewKey()
		out, hangUp := startPairing(t, m, phone(id))
		synctest.Wait()
		waiting := pendingRequests(t, m)
		k.putting = hangUp
		if err := answer(m, waiting[0], protocol.DecisionAllow); err != nil {
			t.Fatal(err)
		}
		if got := <-out; got.err == nil {
			t.Fatalf("got %+v, want a lost connection", got)
		}
		m = open(t, k) // and the gateway is restarted
		again := phone(id)
		again.Renew = true
		out, hangUp = startPairing(t, m, again)
		defer hangUp()
		got := <-out
		if got.err != nil || got.done.Token == "" {
			t.Fatalf("got %+v, want a token", got)
		}
		binding := []byte("a session")
		proof := func(by identity.Key) *protocol.Auth {
			return &protocol.Auth{Token: got.done.Token, Device: &protocol.DeviceProof{ID: id.ID(), Signature: by.Sign(identity.ForConnect, binding)}}
		}
		if p, err := m.Authenticate(t.Context(), proof(id), protocol.RoleClient, binding); err != nil || p.Device != id.ID() || !p.Has(protocol.ScopeAdmin) {
			t.Errorf("got %+v, error %v, want the device with all rights", p, err)
		}
		if _, err := m.Authenticate(t.Context(), proof(id), protocol.RoleClient, []byte("another session")); !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("a proof of another session: %v", err)
		}
		// A stranger's key cannot fetch a token.
		stranger := phone(identity.NewKey())
		stranger.Renew = true
		other, end := startPairing(t, m, stranger)
		defer end()
		if got := <-other; !errors.Is(got.err, protocol.ErrUnauthorized) {
			t.Errorf("a stranger: got %+v, want %v", got, protocol.ErrUnauthorized)
		}
	})
}

func TestUnstoredDeviceIsNotPaired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &memoryStore{}
		m := open(t, k)
		out, hangUp := startPairing(t, m, phone(identity.NewKey()))
		synctest.Wait()
		waiting := pendingRequests(t, m)
		k.broken = true
		if err := answer(m, waiting[0], protocol.DecisionAllow); !errors.Is(err, protocol.ErrStorage) {
			t.Errorf("got error %v, want %v", err, protocol.ErrStorage)
		}
		if l, _ := m.List(t.Context()); len(l.Devices) != 0 || len(pendingRequests(t, m)) != 1 {
			t.Errorf("got %+v, want no device, and the question again", l)
		}
		hangUp()
		<-out
		synctest.Wait()
		// The time of a device that was approved in advance, by its key, also expires.
		id := identity.NewKey()
		invite, err := m.Invite(t.Context(), "owner", protocol.DeviceInviteParams{Role: protocol.RoleClient, Device: identity.Fingerprint(id.Public())})
		if err != nil {
			t.Fatal(err)
		}
		link, _ := pake.ParseLink(invite.Link)
		applicant := phone(id)
		applicant.Link = &link
		for _, broken := range []bool{true, false} {
			k.broken = broken
			out, hangUp := startPairing(t, m, applicant)
			if got := <-out; broken != errors.Is(got.err, protocol.ErrStorage) || !broken && got.err != nil {
				t.Errorf("got error %v, want a storage error: %v", got.err, broken)
			}
			hangUp()
			synctest.Wait()
			if waiting := pendingRequests(t, m); len(waiting) != 0 {
				t.Errorf("got %+v, want no questions", waiting)
			}
		}
	})
}

func TestEveryAnswerIsInTheAuditLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &memoryStore{}
		m := open(t, k)
		id := identity.NewKey()
		var asked []protocol.QuestionID
		for _, yes := range []bool{false, true} {
			out, hangUp := startPairing(t, m, phone(id))
			synctest.Wait()
			waiting := pendingRequests(t, m)
			asked = append(asked, waiting[0].ID)
			if yes {
				if err := answer(m, waiting[0], protocol.DecisionAllow); err != nil {
					t.Fatal(err)
				}
			} else if err := answer(m, waiting[0], protocol.DecisionDeny); err != nil {
				t.Fatal(err)
			}
			<-out
			hangUp()
		}
		m.Rotate(t.Context(), "owner window", id.ID())
		m.Revoke(t.Context(), "owner window", id.ID())
		m.Forget(t.Context(), "owner window", id.ID())
		var said []string
		for _, l := range k.lines {
			if l.Kind != protocol.AuditDevice || l.By != "owner window" || l.At == 0 {
				t.Errorf("got %+v, want a device's entry by the window, with its time", l)
			}
			said = append(said, strings.Fields(l.What)[0])
		}
		if got := strings.Join(said, " "); got != "refused paired rotated revoked forgot" {
			t.Errorf("got %s, want refused paired rotated revoked forgot", got)
		}
		for i, id := range asked {
			if k.lines[i].Approval != id {
				t.Errorf("the line %q is about the question %q, want %q", k.lines[i].What, k.lines[i].Approval, id)
			}
		}
	})
}

func TestRefusedOfferIsNotRepeated(t *testing.T) {
	k := &memoryStore{devices: map[protocol.DeviceID]store.PairedDevice{"d": {Device: protocol.Device{ID: "d", Role: protocol.RoleNode, NodeID: "n", Reach: &protocol.Reach{Tools: []string{"Read"}}}}}}
	m := open(t, k)
	who := auth.Device(k.devices["d"].Device)
	offer := func(tools ...string) (held []string, asked []protocol.Question) {
		p := protocol.ConnectParams{Host: &protocol.HostInfo{Enforcement: &protocol.Enforcement{Mode: "read-only", Network: "blocked"}}}
		for _, tool := range tools {
			p.Tools = append(p.Tools, protocol.ToolSpec{Name: tool})
		}
		e := m.Admit(t.Context(), who, p)
		return e.Unapproved, pendingRequests(t, m)
	}
	k.devices["d"].Reach.Sandbox, k.devices["d"].Reach.Network = "read-only", "blocked"
	held, asked := offer("Read", "Bash")
	if len(held) != 1 || held[0] != "Bash" || len(asked) != 1 {
		t.Fatalf("got held %v, questions %+v, want Bash, one question", held, asked)
	}
	if err := answer(m, asked[0], protocol.DecisionDeny); err != nil {
		t.Fatal(err)
	}
	if held, asked := offer("Read", "Bash"); len(held) != 1 || len(asked) != 0 {
		t.Errorf("the same once more: got held %v, questions %+v, want one, none", held, asked)
	}
	if held, asked := offer("Read", "Write"); len(held) != 1 || len(asked) != 1 {
		t.Errorf("something else: got held %v, questions %+v, want one, one", held, asked)
	}
}

// The wall clock is set while a code is valid, and while a device waits for confirmation. This is
// simulated by changing the stored time.
func TestCodeLastsTenMinutesOnAWrongClock(t *testing.T) {
	for _, jump := range []time.Duration{time.Hour, 24 * time.Hour, 10 * 365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			m := open(t, &memoryStore{})
			put := func(by time.Duration) {
				m.requests.mu.Lock()
				defer m.requests.mu.Unlock()
				for _, i := range m.requests.invites {
					i.end.wall, i.ExpiresAt = i.end.wall-by.Milliseconds(), i.ExpiresAt-by.Milliseconds()
				}
				for _, r := range m.requests.pending {
					r.end.wall -= by.Milliseconds()
				}
			}
			invite := func() pake.Device {
				i, err := m.Invite(t.Context(), "owner", protocol.DeviceInviteParams{Role: protocol.RoleClient})
				if err != nil {
					t.Fatal(err)
				}
				code, _ := pake.ParseCode(i.Code)
				applicant := phone(identity.NewKey())
				applicant.Code = &code
				return applicant
			}
			// Setting the clock back does not extend the code's life.
			applicant := invite()
			time.Sleep(time.Minute)
			put(-jump)
			time.Sleep(inviteLife - 2*time.Minute)
			if l, _ := m.List(t.Context()); len(l.Invites) != 1 {
				t.Errorf("%s back: got %d invitations, want one until its time", jump, len(l.Invites))
			}
			time.Sleep(2 * time.Minute)
			out, hangUp := startPairing(t, m, applicant)
			if got := <-out; !errors.Is(got.err, protocol.ErrNotFound) {
				t.Errorf("%s back: a code of eleven minutes: %v", jump, got.err)
			}
			hangUp()
			// Nor does it extend the request's life.
			out, hangUp = startPairing(t, m, invite())
			synctest.Wait()
			waiting := pendingRequests(t, m)
			put(-jump)
			time.Sleep(confirmLife + time.Second)
			if err := answer(m, waiting[0], protocol.DecisionAllow); !errors.Is(err, protocol.ErrNotFound) {
				t.Errorf("%s back: a yes after the question's time: %v", jump, err)
			}
			if got := <-out; !errors.Is(got.err, protocol.ErrTimeout) {
				t.Errorf("%s back: %v, want error ErrTimeout", jump, got.err)
			}
			hangUp()
			// Setting it forward expires the code and the request; sleep has the same effect.
			applicant = invite()
			put(jump)
			out, hangUp = startPairing(t, m, applicant)
			if got := <-out; !errors.Is(got.err, protocol.ErrNotFound) || !strings.Contains(got.err.Error(), "ask for a new one") {
				t.Errorf(`%s forward: %v; want error ErrNotFound and "ask for a new one" in the error`, jump, got.err)
			}
			hangUp()
			out, hangUp = startPairing(t, m, invite())
			defer hangUp()
			synctest.Wait()
			waiting = pendingRequests(t, m)
			put(jump)
			if err := answer(m, waiting[0], protocol.DecisionAllow); !errors.Is(err, protocol.ErrNotFound) {
				t.Errorf("%s forward: %v, want error ErrNotFound", jump, err)
			}
			if got := <-out; !errors.Is(got.err, protocol.ErrTimeout) {
				t.Errorf("%s forward: got error %v, want a timeout", jump, got.err)
			}
		})
	}
}

func TestEveryPairedDeviceHasAReadableName(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ab ", 10_000)
	for _, c := range []struct{ title, given, invited, role, want string }{
		{"no name", "", "", protocol.RoleClient, "device "},
		{"nothing visible", "\x1b\u202e\u200b \n", "", protocol.RoleClient, "device "},
		{"a node without a name", "", "", protocol.RoleNode, "box"},
		{"control and bidirectional characters", "a\x1b]52;c;x\a\u202eb", "", protocol.RoleClient, "ab"},
		{"too long", long, "", protocol.RoleClient, format.Line(long, 60)},
		{"control characters in the name that the inviter chose", "phone", "my\x1b[31m\nphone", protocol.RoleClient, "my phone"},
		{"too long a name that the inviter chose", "phone", long, protocol.RoleClient, format.Line(long, 60)},
	} {
		t.Run(c.title, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				m := open(t, &memoryStore{})
				invite, err := m.Invite(t.Context(), "owner window", protocol.DeviceInviteParams{Role: c.role, Name: c.invited})
				if err != nil {
					t.Fatal(err)
				}
				link, _ := pake.ParseLink(invite.Link)
				id := identity.NewKey()
				out, hangUp := startPairing(t, m, pake.Device{Key: id, Applicant: pake.Applicant{Role: c.role, NodeID: "box", Name: c.given}, Link: &link})
				defer hangUp()
				synctest.Wait()
				waiting := pendingRequests(t, m)
				if len(waiting) != 1 {
					t.Fatalf("got %d requests, want 1", len(waiting))
				}
				if err := answer(m, waiting[0], protocol.DecisionAllow); err != nil {
					t.Fatal(err)
				}
				got := <-out
				if got.err != nil {
					t.Fatal(got.err)
				}
				d := got.done.Device
				want := c.want
				if want == "device " {
					want += string(identity.DeviceID(id.Public())[:6])
				}
				if d.Name != want {
					t.Errorf("got name %q, want %q", d.Name, want)
				}
			})
		})
	}
}

func TestControllersOfOneNameGetANumber(t *testing.T) {
	for name, want := range map[string]string{"vm": "vm (3)", "Tower": "Tower (2)"} { // the gateway is tower
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := open(t, &memoryStore{devices: map[protocol.DeviceID]store.PairedDevice{
					"a": {Device: protocol.Device{ID: "a", Name: "vm"}}, "b": {Device: protocol.Device{ID: "b", Name: "VM (2)"}},
					"c": {Device: protocol.Device{ID: "c", Name: "vm (3)", RevokedAt: 1}},
				}})
				_, hangUp := startPairing(t, m, pake.Device{Key: identity.NewKey(), Applicant: pake.Applicant{Role: protocol.RoleClient, Name: name}})
				defer hangUp()
				synctest.Wait()
				if waiting := pendingRequests(t, m); len(waiting) != 1 || waiting[0].Pairing.Device.Name != want {
					t.Errorf("got %+v, want one request of %s", waiting, want)
				}
			})
		})
	}
}

// ownVM is a gateway whose own node is called vm.
type ownVM struct{ noNodes }

func (ownVM) Own(id protocol.NodeID) bool { return id == "vm" }

// otherDeviceNodes has another device under every name.
type otherDeviceNodes struct{ noNodes }

func (otherDeviceNodes) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	return protocol.NodeInfo{ID: id, Device: "another"}, true
}

func TestTransfersOfAnotherMachineWithTheNameGoOn(t *testing.T) {
	for _, c := range []struct {
		name  string
		nodes Nodes
		want  int
	}{{"its own name", noNodes{}, 1}, {"another machine has it", otherDeviceNodes{}, 0}} {
		t.Run(c.name, func(t *testing.T) {
			m := open(t, &memoryStore{devices: map[protocol.DeviceID]store.PairedDevice{"d": {Device: protocol.Device{ID: "d", NodeID: "vm"}}}})
			ended := new(fakeSessions)
			m.o.Nodes, m.o.Transfers = c.nodes, ended
			if err := m.Forget(t.Context(), "ann", "d"); err != nil || ended.count != c.want {
				t.Errorf("devices whose transfers ended: got %d, %v, want %d", ended.count, err, c.want)
			}
		})
	}
}

func TestTakenNameSuggestsAFreeOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := open(t, &memoryStore{devices: map[protocol.DeviceID]store.PairedDevice{"other": {Device: protocol.Device{ID: "other", NodeID: "vm-2"}}}})
		m.o.Nodes = ownVM{}
		id := identity.NewKey()
		ask := func(name protocol.NodeID) error {
			d := pake.Device{Key: id, Applicant: pake.Applicant{Role: protocol.RoleNode, NodeID: name, Name: string(name)}}
			out, hangUp := startPairing(t, m, d)
			defer hangUp()
			synctest.Wait()
			select {
			case r := <-out:
				return r.err
			default: // it waits for the person
				return nil
			}
		}
		var taken protocol.NameTaken
		refused, ok := errors.AsType[*protocol.Error](ask("vm"))
		if !ok || json.Unmarshal(refused.Details, &taken) != nil || taken.Free != "vm-3" {
			t.Fatalf("got %v with %+v, want vm-3", refused, taken)
		}
		if strings.Contains(refused.Message, "--") {
			t.Errorf("got %s, want a message without flags", refused.Message)
		}
		if err := ask(taken.Free); err != nil {
			t.Errorf("the suggested name: %v", err)
		}
	})
}
