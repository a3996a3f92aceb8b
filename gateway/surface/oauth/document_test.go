package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// publishers answer for the documents of programs, and count how often each is read.
type publishers struct {
	mu      sync.Mutex // guards the fields below
	reads   map[string]int
	answer  map[string]string // instead of a valid document; "error" fails
	lasting time.Duration
}

func (p *publishers) fetch(_ context.Context, id string) (Document, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reads[id]++
	switch text := p.answer[id]; text {
	case "":
		return Document{[]byte(`{"client_id":"` + id + `","client_name":"Editor","redirect_uris":["http://127.0.0.1/"]}`), p.lasting}, nil
	case "error":
		return Document{}, errors.New("unreachable")
	default:
		return Document{[]byte(text), p.lasting}, nil
	}
}

func publish(lasting time.Duration) (*publishers, *handler) {
	p := &publishers{reads: make(map[string]int), answer: make(map[string]string), lasting: lasting}
	return p, &handler{Options: Options{Fetch: p.fetch}, documents: documentCache{all: make(map[string]cachedProgram)}}
}

func TestDocumentIsReadOnceUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for lasting, want := range map[time.Duration]time.Duration{time.Minute: time.Minute, 24 * time.Hour: maxCacheTime} {
			p, h := publish(lasting)
			find := func() {
				t.Helper()
				if found, err := h.find(t.Context(), editor); err != nil || found.name != "Editor" || found.host != "editor.example" || !found.allows("http://127.0.0.1:1/") {
					t.Errorf("got %+v, %v, want the editor", found, err)
				}
			}
			find()
			time.Sleep(want - time.Second)
			if find(); p.reads[editor] != 1 {
				t.Errorf("after %v: got %d reads, want 1", want-time.Second, p.reads[editor])
			}
			time.Sleep(time.Second)
			if find(); p.reads[editor] != 2 {
				t.Errorf("after %v: got %d reads, want 2", want, p.reads[editor])
			}
		}
	})
}

func TestErrorsAndInvalidDocumentsAreNotCached(t *testing.T) {
	for name, text := range map[string]string{
		"error": "error", "not JSON": "x", "another client": `{"client_id":"https://other.example/c"}`, "no redirects": `{"client_id":"` + editor + `"}`,
	} {
		p, h := publish(time.Hour)
		p.answer[editor] = text
		for range 2 {
			if _, err := h.find(t.Context(), editor); err == nil {
				t.Errorf("%s: got no error, want one", name)
			}
		}
		delete(p.answer, editor)
		if _, err := h.find(t.Context(), editor); err != nil || p.reads[editor] != 3 {
			t.Errorf("%s: got %d reads and %v, want 3 and success", name, p.reads[editor], err)
		}
	}
}

func TestDocumentThatMayNotBeCachedIsReadEachTime(t *testing.T) {
	p, h := publish(0)
	for range 2 {
		h.find(t.Context(), editor)
	}
	if p.reads[editor] != 2 {
		t.Errorf("got %d reads, want 2", p.reads[editor])
	}
}

func TestFullCacheRemovesTheDocumentThatExpiresFirst(t *testing.T) {
	p, h := publish(time.Hour)
	id := func(i int) string { return fmt.Sprintf("https://editor.example/%d", i) }
	for i := range maxCached + 1 {
		if p.lasting = time.Hour; i == 7 {
			p.lasting = time.Minute
		}
		h.find(t.Context(), id(i))
	}
	for i := range maxCached + 1 {
		if _, ok := h.documents.get(id(i)); ok != (i != 7) {
			t.Errorf("document %d: got cached %t, want %t", i, ok, i != 7)
		}
	}
}

// A document that is read slowly delays nobody else.
func TestSlowDocumentDoesNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, h := publish(time.Hour)
		release := make(chan struct{})
		h.Fetch = func(ctx context.Context, id string) (Document, error) {
			if id == "https://slow.example/c" {
				<-release
			}
			return p.fetch(ctx, id)
		}
		var slow sync.WaitGroup
		for range 2 {
			slow.Go(func() { h.find(t.Context(), "https://slow.example/c") })
		}
		synctest.Wait()
		for range 2 {
			if _, err := h.find(t.Context(), editor); err != nil {
				t.Errorf("got %v, want no error", err)
			}
		}
		close(release)
		slow.Wait()
		if _, ok := h.documents.get("https://slow.example/c"); !ok {
			t.Error("got nothing cached, want the slow document")
		}
	})
}

func TestCacheHeadersOfADocumentAreRespected(t *testing.T) {
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, defaultCacheTime},
		{http.Header{"Cache-Control": {"public, Max-Age=60"}}, time.Minute},
		{http.Header{"Cache-Control": {"public", "max-age=60"}, "Age": {"20"}}, 40 * time.Second},
		{http.Header{"Cache-Control": {"max-age=60"}, "Age": {"90"}}, 0},
		{http.Header{"Cache-Control": {"max-age=0"}}, 0},
		{http.Header{"Cache-Control": {"max-age=soon"}}, 0},
		{http.Header{"Cache-Control": {"max-age=-1"}}, 0},
		{http.Header{"Cache-Control": {"max-age=9000000000000000000"}}, 24 * time.Hour},
		{http.Header{"Cache-Control": {"max-age=60, no-store"}}, 0},
		{http.Header{"Cache-Control": {"no-cache", "max-age=60"}}, 0},
	} {
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for name, values := range c.header {
				w.Header()[name] = values
			}
		}))
		found, err := fetchDocument(t.Context(), s.Client().Transport, s.URL)
		if s.Close(); err != nil || found.CacheTime != c.want {
			t.Errorf("%v: got %v, %v, want %v", c.header, found.CacheTime, err, c.want)
		}
	}
}
