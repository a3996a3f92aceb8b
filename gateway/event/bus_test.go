package event

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

func delta(run protocol.RunID, offset int, text string) protocol.Change {
	return protocol.Change{Kind: protocol.ChangeDelta, Delta: &protocol.Delta{RunID: run, Step: 1, Offset: offset, Text: text}}
}

func message(seq int64) protocol.Change {
	return protocol.Change{Kind: protocol.ChangeMessage, Message: &protocol.Message{Seq: seq}}
}

func chat(run protocol.RunID, state, text string) protocol.Change {
	return protocol.Change{Kind: protocol.ChangeChat, Chat: &protocol.ChatEvent{RunID: &run, State: state, Text: text}}
}

// drain takes all queued changes.
func drain(s *Subscription) []protocol.Change {
	var list []protocol.Change
	ctx, cancel := context.WithCancel(context.Background())
	for {
		s.mu.Lock()
		empty := len(s.queue) == 0
		s.mu.Unlock()
		if empty {
			cancel()
			return list
		}
		c, err := s.Next(ctx)
		if err != nil {
			cancel()
			return list
		}
		list = append(list, c)
	}
}

func TestEverySubscriberSeesTheSameOrder(t *testing.T) {
	var b Bus
	subs := []*Subscription{b.Subscribe(), b.Subscribe(), b.Subscribe()}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 200 {
				b.Publish(message(int64(g*1000 + i)))
			}
		})
	}
	wg.Wait()
	first := drain(subs[0])
	if len(first) != 800 {
		t.Fatalf("%d changes arrived, want 800", len(first))
	}
	for _, s := range subs[1:] {
		for i, c := range drain(s) {
			if c.Message != first[i].Message {
				t.Fatalf("change %d differs", i)
			}
		}
	}
}

func TestUnreadProgressIsMerged(t *testing.T) {
	var b Bus
	s, other := b.Subscribe(), b.Subscribe()
	b.Publish(delta("r", 0, "a"))
	b.Publish(delta("r", 1, "b"))
	b.Publish(delta("r", 2, "c"))
	b.Publish(delta("q", 0, "x")) // of another run
	b.Publish(delta("q", 5, "y")) // with a gap
	b.Publish(chat("r", protocol.ChatDelta, "1"))
	b.Publish(chat("r", protocol.ChatDelta, "2"))
	b.Publish(chat("r", protocol.ChatFinal, ""))
	for _, state := range []string{protocol.CallRunning, protocol.CallRunning, protocol.CallDone} {
		b.Publish(protocol.Change{Kind: protocol.ChangeCall, Call: &protocol.CallInfo{CallID: "c", State: state}})
	}
	var got []string
	for _, c := range drain(s) {
		switch {
		case c.Delta != nil:
			got = append(got, string(c.Delta.RunID)+c.Delta.Text)
		case c.Chat != nil:
			got = append(got, c.Chat.State+c.Chat.Text)
		case c.Call != nil:
			got = append(got, c.Call.State)
		}
	}
	if want := "rabc qx qy delta12 final running done"; strings.Join(got, " ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, " "), want)
	}
	if c := drain(other)[0]; c.Delta.Text != "abc" {
		t.Errorf("merging for one subscriber changed what another gets: %q", c.Delta.Text)
	}
}

func TestPacedTextIsMergedAndDelaysNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Bus
		s := b.Subscribe()
		defer s.Close()
		s.PaceText(100 * time.Millisecond)
		began := time.Now()
		go func() {
			for i := range 33 {
				b.Publish(delta("r", i, "x"))
				time.Sleep(time.Second / 33)
			}
			b.Publish(message(1))
		}()
		pieces, text := 0, ""
		for {
			c, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if c.Kind == protocol.ChangeMessage {
				break
			}
			if pieces++; pieces == 1 && time.Since(began) > 0 {
				t.Errorf("the first piece came after %s, want at once", time.Since(began))
			}
			text += c.Delta.Text
		}
		if pieces < 8 || pieces > 12 || len(text) != 33 {
			t.Errorf("a second of 33 words: got %d pieces with %d letters, want 8 to 12 with 33", pieces, len(text))
		}
		if late := time.Since(began) - 33*(time.Second/33); late > 0 {
			t.Errorf("the message after the text was %s late, want at most 0", late)
		}
	})
}

func TestSlowSubscriberMustResync(t *testing.T) {
	var b Bus
	slow, quick := b.Subscribe(), b.Subscribe()
	for i := range MaxQueue {
		b.Publish(message(int64(i)))
	}
	drain(quick)
	b.Publish(delta("r", 0, "may be dropped"))
	if n := len(drain(quick)); n != 1 {
		t.Errorf("the quick one got %d changes, want 1", n)
	}
	b.Publish(message(MaxQueue))
	b.Publish(message(MaxQueue + 1)) // part of what it loads anew
	list := drain(slow)
	if len(list) != 1 || list[0].Kind != protocol.ChangeResync {
		t.Fatalf("the slow one got %d changes, first %+v; want length 1 and list[0].Kind ChangeResync", len(list), list[0])
	}
	b.Publish(message(7))
	if list := drain(slow); len(list) != 1 || list[0].Message.Seq != 7 {
		t.Errorf("after the resync: got %+v, want message 7 alone", list)
	}
}

func TestSubscriberGetsOnlyItsKinds(t *testing.T) {
	var b Bus
	s := b.SubscribeOnly(func(c protocol.Change) bool { return c.Kind == protocol.ChangeChat })
	for range 2 * MaxQueue {
		b.Publish(message(1))
	}
	b.Publish(chat("r", protocol.ChatDelta, "a"))
	b.Publish(delta("r", 0, "a"))
	b.Publish(chat("r", protocol.ChatDelta, "b"))
	if list := drain(s); len(list) != 1 || list[0].Chat.Text != "ab" {
		t.Errorf(`got %+v; want length 1 and list[0].Chat.Text "ab"`, list)
	}
}

func TestNextWaitsAndEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Bus
		s := b.Subscribe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		time.AfterFunc(time.Second, func() { b.Publish(message(1)) })
		if c, err := s.Next(ctx); err != nil || c.Message.Seq != 1 {
			t.Errorf("Next = %+v, %v; want no error and Message.Seq 1", c, err)
		}
		if _, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Next = %v, want error DeadlineExceeded", err)
		}
		s.Close()
		b.Publish(message(2))
		if list := drain(s); len(list) != 0 {
			t.Errorf("a closed subscription got %+v, want none", list)
		}
	})
}

func BenchmarkPublishTo50(b *testing.B) {
	var bus Bus
	ctx, cancel := context.WithCancel(b.Context())
	var wg sync.WaitGroup
	for range 50 {
		s := bus.Subscribe()
		wg.Go(func() {
			for range s.All(ctx) {
			}
		})
	}
	c := message(1)
	b.ReportAllocs()
	for b.Loop() {
		bus.Publish(c)
	}
	cancel()
	wg.Wait()
}
