package pairing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/store"
)

// requests has the devices that wait to be paired, and the invitations that they use. A request
// changes only while the caller holds Manager.changing.
type requests struct {
	bus       *event.Bus
	questions *question.Queue
	widening  sync.Mutex // held while the question about a machine's offer is replaced

	mu      sync.Mutex // guards the fields below
	pending map[protocol.QuestionID]*request
	invites map[string]*invite
	widened map[protocol.DeviceID]protocol.QuestionID // the question about what a machine offers
	refused map[protocol.DeviceID]string              // fingerprint of what a node offered and the person refused
}

// request is a device that waits to be paired.
type request struct {
	id     protocol.QuestionID
	device protocol.Device
	words  []string
	invite string // ID of the invitation that was used
	end    deadline
	key    []byte

	done     identity.Pairing // once the person has allowed it
	replaced bool             // the device asked again
}

// question returns the question that the person answers.
func (r *request) question() protocol.Question {
	return protocol.Question{
		ID: r.id, Kind: protocol.AskPair, Node: r.device.NodeID, AskedBy: protocol.AskedBy{Kind: protocol.AskedByDevice, Name: r.device.Name},
		Pairing: &protocol.PairingSubject{Device: r.device, Words: r.words, Invite: r.invite},
	}
}

// deadline is an expiry by the wall clock and by the monotonic clock, whichever comes first:
// setting back the machine's clock, or sleep, must not extend the life of a code.
type deadline struct {
	wall int64     // Unix milliseconds
	at   time.Time // used for its monotonic reading
}

func after(now time.Time, life time.Duration) deadline {
	at := now.Add(life)
	return deadline{at.UnixMilli(), at}
}

func (d deadline) hasPassed(now time.Time) bool {
	return !now.Before(d.at) || now.UnixMilli() >= d.wall
}

// listInvites returns the invitations for display, without their secrets.
func (q *requests) listInvites() []protocol.DeviceInvite {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expireLocked(time.Now())
	invites := []protocol.DeviceInvite{}
	for _, i := range q.invites {
		shown := i.DeviceInvite
		shown.Link, shown.Code, shown.Install, shown.InstallWindows, shown.InstallCmd = "", "", "", "", ""
		invites = append(invites, shown)
	}
	slices.SortFunc(invites, func(a, b protocol.DeviceInvite) int { return int(a.CreatedAt - b.CreatedAt) })
	return invites
}

// add adds a request to pair. It returns the earlier ones of the same device, which the caller
// withdraws.
func (q *requests) add(r *request, invitation *invite) (replaced []protocol.QuestionID, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if invitation != nil {
		if q.invites[invitation.ID] == nil || invitation.usedBy != "" && invitation.usedBy != r.device.Fingerprint {
			return nil, errInviteUsed
		}
		invitation.usedBy, r.invite = r.device.Fingerprint, invitation.ID
	}
	for id, other := range q.pending {
		if bytes.Equal(other.key, r.key) {
			other.replaced = true
			replaced = append(replaced, id)
		}
	}
	q.pending[r.id] = r
	return replaced, nil
}

// remove removes a request, and with spent its invitation; otherwise the same device may use it
// again.
func (q *requests) remove(r *request, spent bool) {
	q.mu.Lock()
	delete(q.pending, r.id)
	if spent {
		delete(q.invites, r.invite)
	}
	q.mu.Unlock()
	publishChange(q.bus)
}

// forgetDevice removes all that is known of a device whose pairing has ended, and returns the
// question about what it offers, or "".
func (q *requests) forgetDevice(id protocol.DeviceID) (widened protocol.QuestionID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	widened = q.widened[id]
	delete(q.widened, id)
	delete(q.refused, id)
	return widened
}

// answerPairing returns what an answer to a request to pair does.
func (m *Manager) answerPairing(r *request) question.Apply {
	return func(ctx context.Context, who auth.Principal, q *protocol.Question, p protocol.QuestionAnswerParams) error {
		m.changing.Lock()
		defer m.changing.Unlock()
		if r.end.hasPassed(time.Now()) {
			return protocol.ErrNotFound.With("this request is no longer pending")
		}
		defer publishChange(m.o.Bus)
		if p.Decision != protocol.DecisionAllow {
			if err := m.o.Audit.Append(ctx, auditAnswer(who, q, "refused", r.device)); err != nil {
				return err
			}
			m.requests.remove(r, true)
			return nil
		}
		if r.device.Role == protocol.RoleClient {
			if err := MayGive(who, r.device.Scopes); err != nil {
				return err
			}
			if err := MayLast(m.devices.list(), who, "", r.device.ExpiresAt); err != nil {
				return err
			}
		}
		d, err := m.pairDevice(ctx, r, p.Name, auditAnswer(who, q, "paired", r.device))
		if err == nil {
			shown := *q.Pairing
			shown.Device, q.Pairing = d, &shown
		}
		return err
	}
}

// pairDevice pairs the device of a request, which then has its token. line is the line of the audit
// log about it. The caller must hold m.changing.
func (m *Manager) pairDevice(ctx context.Context, r *request, name string, line protocol.AuditEntry) (protocol.Device, error) {
	d := store.PairedDevice{Device: r.device, Key: r.key}
	if name != "" {
		d.Name = format.Line(name, maxName)
	}
	d.PairedBy, d.PairedAt = displayName(line.By), time.Now().UnixMilli()
	token, hash := newToken(d.ID)
	d.TokenHash = hash
	out, err := m.devices.put(ctx, d, line)
	if err != nil {
		return protocol.Device{}, err
	}
	m.o.Connections.CloseDevice(d.ID, closeRotated, "Paired again") // a connection of an earlier pairing has other permissions or another role
	m.requests.remove(r, true)
	r.done = identity.Pairing{Device: d.Device, Token: token, Gateway: gateway(m.o.Name, m.o.Network())}
	return out, nil
}

// widen asks about a machine that offers what words describe beyond its pairing, unless the person
// has refused that. An earlier question about the machine is withdrawn.
func (q *requests) widen(ctx context.Context, d protocol.Device, words []string, apply question.Apply) error {
	q.widening.Lock() // a machine that connects twice opens one question
	defer q.widening.Unlock()
	id := protocol.QuestionID(protocol.NewID())
	q.mu.Lock()
	was, isRefused := q.widened[d.ID], q.refused[d.ID] == fingerprint(d.Reach)
	q.widened[d.ID] = id
	q.mu.Unlock()
	if err := q.withdraw(ctx, was); err != nil {
		return err
	}
	if len(words) == 0 || isRefused {
		q.forgetQuestion(d.ID)
		return nil
	}
	_, err := q.questions.Open(ctx, protocol.Question{
		ID: id, Kind: protocol.AskWiden, Node: d.NodeID, AskedBy: protocol.AskedBy{Kind: protocol.AskedByDevice, Name: d.Name},
		Pairing: &protocol.PairingSubject{Device: d, Wider: words},
	}, question.Terms{Apply: apply})
	return err
}

// withdraw withdraws questions, unless they have ended. The caller must not hold
// Manager.changing, which an answer that is being carried out may wait for.
func (q *requests) withdraw(ctx context.Context, ids ...protocol.QuestionID) error {
	var errs []error
	for _, id := range ids {
		if err := q.questions.Withdraw(ctx, id); !errors.Is(err, protocol.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// answerWidening returns what an answer does about a machine that offers more: a no leaves it what
// was allowed before.
func (m *Manager) answerWidening(offer protocol.Device) question.Apply {
	return func(ctx context.Context, who auth.Principal, q *protocol.Question, p protocol.QuestionAnswerParams) error {
		m.changing.Lock()
		defer m.changing.Unlock()
		defer publishChange(m.o.Bus)
		if p.Decision != protocol.DecisionAllow {
			err := m.o.Audit.Append(ctx, auditAnswer(who, q, "refused", offer))
			if err == nil {
				m.requests.refuse(offer)
			}
			return err
		}
		d := m.devices.get(offer.ID)
		if d == nil || d.RevokedAt > 0 {
			return noDevice(offer.ID)
		}
		d.Reach = offer.Reach
		if _, err := m.devices.put(ctx, *d, auditAnswer(who, q, "allowed more to", d.Device)); err != nil {
			return err
		}
		m.requests.forgetQuestion(offer.ID)
		m.o.Nodes.Release(d.NodeID)
		return nil
	}
}

func (q *requests) forgetQuestion(id protocol.DeviceID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.widened, id)
}

// refuse remembers that the person refused what a machine offers.
func (q *requests) refuse(offer protocol.Device) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.widened, offer.ID)
	q.refused[offer.ID] = fingerprint(offer.Reach)
}

// MayGive refuses a device that would give a client scopes that it does not have itself. No scopes
// means all.
func MayGive(who auth.Principal, scopes []protocol.Scope) error {
	if who.Device == "" {
		return nil
	}
	if len(scopes) == 0 {
		scopes = protocol.ClientScopes
	}
	for _, scope := range scopes {
		if !who.Has(scope) {
			return protocol.ErrForbidden.With(fmt.Sprintf("this device may not give the right to %s: it does not have it", scope))
		}
	}
	return nil
}

// MayLast refuses one of the devices that would give a client, a new one or the one with the given
// ID, a later expiry than its own; 0 means no expiry. Otherwise it could stay for good, by itself or
// through a client that it adds. Nodes have no rights of a person, so they are not limited.
func MayLast(devices []protocol.Device, who auth.Principal, id protocol.DeviceID, until int64) (err error) {
	for _, d := range devices {
		switch {
		case d.ID == id && d.Role == protocol.RoleNode:
			return nil
		case who.Device != "" && d.ID == who.Device && d.ExpiresAt > 0 && (until == 0 || until > d.ExpiresAt):
			err = protocol.ErrForbidden.With(fmt.Sprintf("this device is paired until %s, and may let nobody in for longer, itself neither: the gateway's owner can",
				time.UnixMilli(d.ExpiresAt).UTC().Format("2006-01-02 15:04 UTC")))
		}
	}
	return err
}
