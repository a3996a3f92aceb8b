package mcp

import (
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

func TestStreamWithoutEventsStaysAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for kind, want := range map[string]string{"text/event-stream": "data: 1\n\n: waiting\n\n: waiting\n\n", "application/json": "data: 1\n\n"} {
			r := httptest.NewRecorder()
			w := newEventWriter(r)
			time.Sleep(2*beatTime + time.Second) // nothing is sent before the answer begins
			w.Header().Set("Content-Type", kind)
			w.Write([]byte("data: 1\n\n"))
			time.Sleep(2 * beatTime)
			w.close()
			time.Sleep(2 * beatTime)
			if got := r.Body.String(); got != want {
				t.Errorf("%s: got %q, want %q", kind, got, want)
			}
		}
	})
}
