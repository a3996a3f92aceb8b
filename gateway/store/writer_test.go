package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// holdWriter occupies the writing connection until release is called.
func holdWriter(t *testing.T, s *DB) (release func()) {
	t.Helper()
	began, free := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		s.write(context.Background(), "hold", func(*gorm.DB) error {
			close(began)
			<-free
			return nil
		})
	})
	<-began
	return func() { close(free); wg.Wait() }
}

func TestFailedWriteUndoesOnlyItself(t *testing.T) {
	s := openTest(t)
	release := holdWriter(t, s)
	own := errors.New("own reason")
	do := map[string]func(db *gorm.DB) error{
		"good":  func(db *gorm.DB) error { return nil },
		"own":   func(db *gorm.DB) error { return own },
		"panic": func(db *gorm.DB) error { panic("mine") },
		"disk":  func(db *gorm.DB) error { return db.Exec("INSERT INTO settings (key) SELECT key FROM settings").Error },
	}
	var got, panics sync.Map
	var wg sync.WaitGroup
	for name, f := range do {
		for i := range 3 {
			key := fmt.Sprint(name, i)
			wg.Go(func() {
				defer func() {
					if r := recover(); r != nil {
						panics.Store(key, r)
					}
				}()
				got.Store(key, s.write(t.Context(), "test", func(db *gorm.DB) error {
					if err := db.Create(&settingRow{key, "1"}).Error; err != nil {
						return err
					}
					return f(db)
				}))
			})
		}
	}
	release()
	wg.Wait()
	all := must(s.Settings.All(t.Context()))(t)
	for i := range 3 {
		if err, _ := got.Load(fmt.Sprint("good", i)); err != nil || all[fmt.Sprint("good", i)] == nil {
			t.Errorf("a good write: got error %v, value %s, want it stored", err, all[fmt.Sprint("good", i)])
		}
		if err, _ := got.Load(fmt.Sprint("own", i)); !errors.Is(err.(error), own) {
			t.Errorf("a write that fails: got error %v, want its own", err)
		}
		if r, _ := panics.Load(fmt.Sprint("panic", i)); r != "mine" {
			t.Errorf("got panic %v, want mine", r)
		}
		if err, _ := got.Load(fmt.Sprint("disk", i)); err == nil {
			t.Error("a broken constraint was no error")
		}
	}
	if len(all) != 3 {
		t.Errorf("got %v, want the 3 good writes", all)
	}
}

func TestCancelledWriteIsNotStarted(t *testing.T) {
	s := openTest(t)
	release := holdWriter(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error)
	var ran atomic.Bool
	go func() {
		end <- s.write(ctx, "test", func(*gorm.DB) error { ran.Store(true); return nil })
	}()
	cancel()
	if err := <-end; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want the error context.Canceled", err)
	}
	release()
	if ran.Load() {
		t.Error("it was done later")
	}
}

func TestOnlyTheBeginningOfACallWithAnEffectWaitsForTheDisk(t *testing.T) {
	s := openTest(t)
	mode := func() (m string) {
		if err := s.writer.db.Raw("PRAGMA synchronous").Scan(&m).Error; err != nil {
			t.Fatal(err)
		}
		return m
	}
	for i, effect := range []protocol.Effect{protocol.EffectWrite, "", protocol.EffectExec} {
		call := Call{Info: protocol.CallInfo{CallID: protocol.CallID(fmt.Sprint(i)), Effect: effect, State: protocol.CallRunning}}
		if err := s.Calls.Put(t.Context(), call); err != nil || mode() != "2" {
			t.Errorf("%q begins: got synchronous %s, error %v, want 2", effect, mode(), err)
		}
		call.Info.State = protocol.CallDone
		if won, err := s.Calls.Finish(t.Context(), call); !won || err != nil || mode() != "1" {
			t.Errorf("%q ends: got won %v, synchronous %s, error %v, want 1", effect, won, mode(), err)
		}
	}
	must(s.Messages.Append(t.Context(), key, user("kept")))(t)
	if mode() != "2" {
		t.Error("a message did not wait for the disk")
	}
}

// BenchmarkCalls measures the journal's share of a tool call: a row before it and its end after it,
// for one caller and for 64 concurrent ones.
func BenchmarkCalls(b *testing.B) {
	for _, effect := range []protocol.Effect{protocol.EffectRead, protocol.EffectExec} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d", effect, callers), func(b *testing.B) {
				s := openTest(b)
				var n atomic.Int64
				b.SetParallelism(callers)
				b.ResetTimer()
				one := func() {
					c := Call{Info: protocol.CallInfo{CallID: protocol.CallID(fmt.Sprint(n.Add(1))), Effect: effect, State: protocol.CallRunning}}
					if err := s.Calls.Put(b.Context(), c); err != nil {
						b.Error(err)
					}
					c.Info.State = protocol.CallDone
					if _, err := s.Calls.Finish(b.Context(), c); err != nil {
						b.Error(err)
					}
				}
				if callers == 1 {
					for range b.N {
						one()
					}
					return
				}
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						one()
					}
				})
			})
		}
	}
}
