package pairing

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

// requests has the pending requests, and the invitations that they use. A request changes only
// while the caller holds Manager.changing.
type requests struct {
	bus *event.Bus

	mu      sync.Mutex // guards the fields below
	pending map[string]*request
	invites map[string]*invite
	refused map[protocol.DeviceID]string // fingerprint of what a node offered and the person refused
}

// request is a pending request.
type request struct {
	protocol.DeviceRequest
	end    deadline
	key    []byte
	answer chan answer // capacity one
}

type answer struct {
	done identity.Pairing
	err  error
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

// list returns the requests and the invitations for display, without the secrets of invitations.
func (q *requests) list() ([]protocol.DeviceRequest, []protocol.DeviceInvite) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expireLocked(time.Now())
	pending, invites := []protocol.DeviceRequest{}, []protocol.DeviceInvite{}
	for _, r := range q.pending {
		pending = append(pending, r.DeviceRequest)
	}
	for _, i := range q.invites {
		shown := i.DeviceInvite
		shown.Link, shown.Code, shown.Install, shown.InstallWindows = "", "", "", ""
		invites = append(invites, shown)
	}
	slices.SortFunc(pending, func(a, b protocol.DeviceRequest) int { return int(a.CreatedAt - b.CreatedAt) })
	slices.SortFunc(invites, func(a, b protocol.DeviceInvite) int { return int(a.CreatedAt - b.CreatedAt) })
	return pending, invites
}

// get returns a pending request, or nil.
func (q *requests) get(id string) *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.pending[id]
}

// add adds a request to pair, which replaces an earlier one of the same device.
func (q *requests) add(r *request, invitation *invite) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting := 0
	for _, other := range q.pending {
		if other.Kind == protocol.RequestPair && bytes.Equal(other.key, r.key) {
			q.finishLocked(other, answer{err: protocol.ErrConflict.With("the device asked again")})
		} else if other.Kind == protocol.RequestPair {
			waiting++
		}
	}
	if waiting >= maxRequests {
		return protocol.ErrUnavailable.With("too many devices are waiting for approval at the gateway")
	}
	if invitation != nil {
		if q.invites[invitation.ID] == nil || invitation.usedBy != "" && invitation.usedBy != r.Device.Fingerprint {
			return errInviteUsed
		}
		invitation.usedBy, r.Invite = r.Device.Fingerprint, invitation.ID
	}
	q.pending[r.ID] = r
	return nil
}

// widen replaces the request of a node that offers what words describe beyond its pairing, unless
// the person has refused that. Without words it only removes an earlier request.
func (q *requests) widen(d protocol.Device, words []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.removeWideningLocked(d.ID) // a new offer needs a new ID
	if len(words) > 0 && q.refused[d.ID] != fingerprint(d.Reach) {
		r := protocol.DeviceRequest{ID: protocol.NewID(), Kind: protocol.RequestWiden, Device: d, Wider: words, CreatedAt: time.Now().UnixMilli()}
		q.pending[r.ID] = &request{DeviceRequest: r}
	}
}

func (q *requests) removeWideningLocked(id protocol.DeviceID) {
	maps.DeleteFunc(q.pending, func(_ string, r *request) bool {
		return r.Kind == protocol.RequestWiden && r.Device.ID == id
	})
}

// forgetDevice removes all that is known of a device whose pairing has ended.
func (q *requests) forgetDevice(id protocol.DeviceID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.removeWideningLocked(id)
	delete(q.refused, id)
}

// finish answers a request, and deletes its invitation.
func (q *requests) finish(r *request, a answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if r.Kind == protocol.RequestWiden && a.err != nil {
		q.refused[r.Device.ID] = fingerprint(r.Device.Reach)
	}
	delete(q.invites, r.Invite)
	q.finishLocked(r, a)
}

// finishLocked answers a request once.
func (q *requests) finishLocked(r *request, a answer) {
	delete(q.pending, r.ID)
	if r.answer != nil {
		r.answer <- a // does not block: a request is settled once
	}
}

// drop deletes a request without an answer. If spent is set it also deletes the request's
// invitation; otherwise the same device may use it again.
func (q *requests) drop(r *request, spent bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.pending, r.ID)
	if spent {
		delete(q.invites, r.Invite)
	}
}
