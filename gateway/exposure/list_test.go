package exposure

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// stated are ways in, or the failure to state them.
type stated struct {
	list []protocol.Exposure
	err  error
}

func (s stated) Exposures(context.Context) ([]protocol.Exposure, error) { return s.list, s.err }

func TestExposuresAreWarnedAbout(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(days int) int64 { return now.AddDate(0, 0, -days).UnixMilli() }
	for name, c := range map[string]struct {
		e    protocol.Exposure
		want []string
	}{
		"nothing to warn about":   {protocol.Exposure{CreatedAt: ago(90), LastUsedAt: ago(29)}, []string{}},
		"not used for 30 days":    {protocol.Exposure{CreatedAt: ago(90), LastUsedAt: ago(30)}, []string{protocol.WarnUnused}},
		"never used, but new":     {protocol.Exposure{CreatedAt: ago(29)}, []string{}},
		"never used in 30 days":   {protocol.Exposure{CreatedAt: ago(30)}, []string{protocol.WarnUnused}},
		"never used, unknown age": {protocol.Exposure{}, []string{}},
		"in use for 30 days":      {protocol.Exposure{CreatedAt: ago(90), LastUsedAt: ago(60), IsInUse: true}, []string{}},
		"everything": {
			protocol.Exposure{IsPublic: true, CreatedAt: ago(90), Warnings: []string{protocol.WarnNoExpiry, protocol.WarnNetwork}},
			[]string{protocol.WarnPublic, protocol.WarnNetwork, protocol.WarnUnused, protocol.WarnNoExpiry},
		},
	} {
		if got := warnings(c.e, now); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestTheGravestComesFirstInEachKind(t *testing.T) {
	entry := func(kind, id string, isPublic bool) protocol.Exposure {
		return protocol.Exposure{ID: id, Kind: kind, Title: id, IsPublic: isPublic}
	}
	l := List{
		stated{list: []protocol.Exposure{entry(protocol.ExposureGrant, "g", false)}},
		stated{list: []protocol.Exposure{entry(protocol.ExposureService, "b", false), entry(protocol.ExposureService, "A", false), entry(protocol.ExposureService, "z", true)}},
	}
	r, err := l.All(t.Context())
	var got []string
	for _, e := range r.Exposures {
		got = append(got, e.ID)
	}
	if want := []string{"z", "A", "b", "g"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	if _, err := append(l, stated{err: errors.New("no disk")}).All(t.Context()); err == nil {
		t.Error("got no error, want that of the source: a list that lacks something would calm wrongly")
	}
}

// memory stores uses, and counts the writes.
type memory struct {
	mu     sync.Mutex // guards the fields below
	all    map[string]int64
	writes int
	err    error
}

func (m *memory) All(context.Context) (map[string]int64, error) { return m.all, nil }

func (m *memory) Put(_ context.Context, uses map[string]int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	if m.err != nil {
		return m.err
	}
	for id, at := range uses {
		m.all[id] = at
	}
	return nil
}

func TestUsesAreStoredOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{all: map[string]int64{}, err: errors.New("no disk")}
		u, err := OpenUses(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			u.Run(ctx)
		}()
		for range 1000 {
			u.Record("x")
		}
		used := u.Last("x")
		time.Sleep(saveEvery + time.Second)
		m.mu.Lock()
		m.err = nil
		m.mu.Unlock()
		time.Sleep(saveEvery)
		m.mu.Lock()
		if m.writes != 2 || m.all["x"] != used || used == 0 {
			t.Errorf("got %d writes and the use %d, want a failed and a second one with %d", m.writes, m.all["x"], used)
		}
		m.mu.Unlock()
		time.Sleep(10 * saveEvery)
		m.mu.Lock()
		if m.writes != 2 {
			t.Errorf("got %d writes without a use, want none", m.writes-2)
		}
		m.mu.Unlock()
		u.Record("y")
		stop()
		<-done
		again, err := OpenUses(context.Background(), m)
		if err != nil || again.Last("y") == 0 || again.Last("x") != used || again.Last("z") != 0 {
			t.Errorf("after a restart: got %v, %v; want the uses of x and y", m.all, err)
		}
	})
}
