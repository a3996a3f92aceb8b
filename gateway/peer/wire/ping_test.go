package wire

import (
	"context"
	"testing"
	"time"
)

func TestPongMeasuresTheRoundTrip(t *testing.T) {
	near, far := pair(t)
	took := make(chan time.Duration, 1)
	near.SetPongHandler(func(payload string) error {
		if d, ok := RoundTrip(payload); ok {
			took <- d
		}
		return nil
	})
	go Receive(far, func() {}, nil, func([]byte) {})
	go Receive(near, func() {}, nil, func([]byte) {})
	began := time.Now()
	if err := Ping(near); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	select {
	case d := <-took:
		if d <= 0 || d > time.Since(began) {
			t.Errorf("got a round trip of %s, want it above 0 and within the call", d)
		}
	case <-ctx.Done():
		t.Fatal("no pong")
	}
	for _, odd := range []string{"", "x", "\x7f\xff\xff\xff\xff\xff\xff\xff", "\x80\x00\x00\x00\x00\x00\x00\x00"} {
		if d, ok := RoundTrip(odd); ok {
			t.Errorf("%q is a round trip of %s", odd, d)
		}
	}
}
