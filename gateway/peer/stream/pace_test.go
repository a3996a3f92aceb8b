package stream

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestTransfersShareWhatIsUnderWay(t *testing.T) {
	var p *Pace
	if p.shared() || p.each() != Window {
		t.Error("a transfer without a pace has less than its window")
	}
	p = new(Pace)
	p.running.Store(1)
	if p.shared() || p.each() != Window {
		t.Error("one alone has less than its window")
	}
	p.running.Store(10)
	if got := p.each(); got != firstShared/10 {
		t.Errorf("each of ten has %d", got)
	}
	now := time.Now()
	for range 100 { // no queue
		now = now.Add(10 * time.Millisecond)
		p.took(64<<10, 5*time.Millisecond, now)
	}
	grown := p.each()
	if grown <= firstShared/10 {
		t.Errorf("each has %d on an empty way", grown)
	}
	p.took(64<<10, 200*time.Millisecond, now)
	once := p.each()
	p.took(64<<10, 200*time.Millisecond, now.Add(time.Millisecond)) // sent before that
	if once >= grown || p.each() != once {
		t.Errorf("each has %d, then %d, then %d", grown, once, p.each())
	}
	for range 60 {
		now = now.Add(300 * time.Millisecond)
		p.took(64<<10, 200*time.Millisecond, now)
	}
	if got := p.each(); got != leastWindow {
		t.Errorf("each has %d on a full way", got)
	}
	now = now.Add(forgetEvery)
	p.took(64<<10, 200*time.Millisecond, now) // the path has changed, and this is its best time
	for range 40 {
		p.took(64<<10, 200*time.Millisecond, now)
	}
	if got := p.each(); got <= leastWindow {
		t.Errorf("each has %d on a longer way", got)
	}
}

func TestCreditTellsHowLongBytesWereUnderWay(t *testing.T) {
	var w way
	start := time.Now()
	if _, ok := w.back(Window, start); ok {
		t.Error("the first credit is no answer")
	}
	w.send(100, start)
	w.send(50, start.Add(time.Second))
	if _, ok := w.back(60, start.Add(2*time.Second)); ok {
		t.Error("a part of a frame has come back")
	}
	if took, ok := w.back(60, start.Add(3*time.Second)); !ok || took != 3*time.Second {
		t.Error(took, ok)
	}
	if took, ok := w.back(30, start.Add(4*time.Second)); !ok || took != 3*time.Second || len(w.marks) != 0 {
		t.Error(took, ok, w.marks)
	}
}

// Transfers on a congested connection have fewer and fewer bytes in flight, until the congestion
// ends.
func TestAFullWayIsNotFilledFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := new(Pace)
		p.running.Store(2)
		s := &Sender{Pace: p, news: make(chan struct{}, 1)}
		credit := func(n int) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if err := s.heard(t.Context(), recCredit, []byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), 0, 0, 0, 0}); err != nil {
				t.Error(err)
			}
			signal(s.news)
		}
		credit(Window)
		ctx, cancel := context.WithCancel(t.Context())
		queue := make(chan int, 1000) // 8 MiB per second with a latency of 10 ms
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := range queue {
				time.Sleep(time.Duration(n) * time.Second / (8 << 20))
				credit(n)
			}
		}()
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
			if err := s.spend(ctx, sharedBody); err != nil {
				t.Fatal(err)
			}
			queue <- sharedBody
		}
		s.mu.Lock()
		under := Window - s.credit
		s.mu.Unlock()
		if under > 640<<10 || under < leastWindow-sharedBody { // 20 ms at 8 MiB per second are 160 KiB, and the same again is sent before the effect is visible
			t.Errorf("%d KiB are under way", under>>10)
		}
		cancel()
		close(queue)
		<-done
	})
}
