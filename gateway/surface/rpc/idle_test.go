package rpc

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdleConnectionEnds: a connection that had once requested /health, or sent half a
// body, used to stay open for as long as its sender wanted.
func TestIdleConnectionEnds(t *testing.T) {
	for name, ask := range map[string]string{
		"nothing":     "",
		"half a line": "GET /hea",
		"one request": "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"half a body": "POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf",
	} {
		synctest.Test(t, func(t *testing.T) {
			b, stop := openWith(newFakes().services())
			defer stop()
			c, err := b.public(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			began := time.Now()
			go io.WriteString(c, ask)
			said, err := io.ReadAll(c)
			if err != nil || time.Since(began) > time.Minute {
				t.Errorf("%s: got the end after %s, error %v, want it within a minute", name, time.Since(began), err)
			}
			if asked := strings.HasPrefix(ask, "GET /health HTTP"); asked != strings.Contains(string(said), "healthy") {
				t.Errorf("%s: got %s, want the health for a health request alone", name, said)
			}
		})
	}
}

// TestWebSocketOutlivesRequestTimeouts checks that those limits end with the request.
func TestWebSocketOutlivesRequestTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := openWith(newFakes().services())
		defer stop()
		m, err := b.dial("client")
		if err != nil {
			t.Fatal(err)
		}
		defer m.ws.Close()
		sendLine(t, m, `{"type":"req","id":"1","method":"connect","params":{"minProtocol":1,"client":{"id":"c","mode":"client"},"auth":{"token":"right"}}}`)
		time.Sleep(2 * responseLimit)
		sendLine(t, m, `{"type":"req","id":"2","method":"status.get"}`)
		synctest.Wait()
		if said := m.takeReceived(); !strings.Contains(said[len(said)-1], `"id":"2","ok":true`) {
			t.Errorf("got %s, want the answer 2 last", said)
		}
	})
}
