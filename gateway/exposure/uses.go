package exposure

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
)

// UseStore stores when things were last used, in Unix milliseconds by their IDs.
type UseStore interface {
	All(ctx context.Context) (map[string]int64, error)
	Put(ctx context.Context, uses map[string]int64) error
}

// saveEvery is the interval at which uses are stored; a crash loses those since.
const saveEvery = time.Minute

// Uses records when things were last used that have no place of their own for it. It is safe for
// concurrent use.
type Uses struct {
	store UseStore

	mu    sync.Mutex // guards the fields below; never held during a write to the store
	last  map[string]int64
	dirty map[string]bool // not stored yet
}

// OpenUses loads the uses.
func OpenUses(ctx context.Context, s UseStore) (*Uses, error) {
	last, err := s.All(ctx)
	return &Uses{store: s, last: last, dirty: make(map[string]bool)}, err
}

// Record records that a thing is used now. It does not block.
func (u *Uses) Record(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last[id], u.dirty[id] = time.Now().UnixMilli(), true
}

// Last returns when a thing was last used; 0 means never.
func (u *Uses) Last(id string) int64 {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last[id]
}

// Run stores the uses once a minute, and when ctx ends.
func (u *Uses) Run(ctx context.Context) {
	wake.Every(ctx, saveEvery, u.save)
	u.save()
}

func (u *Uses) save() {
	u.mu.Lock()
	changed := make(map[string]int64, len(u.dirty))
	for id := range u.dirty {
		changed[id] = u.last[id]
	}
	clear(u.dirty)
	u.mu.Unlock()
	if len(changed) == 0 {
		return
	}
	if err := crash.Call("uses", func() error { return u.store.Put(context.Background(), changed) }); err != nil {
		slog.Warn("The times of last uses cannot be stored", "err", err)
		u.mu.Lock()
		defer u.mu.Unlock()
		for id := range changed {
			u.dirty[id] = true
		}
	}
}

// Listen returns a listener each of whose connections is a use of the thing.
func (u *Uses) Listen(l net.Listener, id string) net.Listener { return usedListener{l, u, id} }

type usedListener struct {
	net.Listener
	uses *Uses
	id   string
}

// Accept implements net.Listener.
func (l usedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.uses.Record(l.id)
	}
	return c, err
}
