package oauth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/apps"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/store"
)

// noStore stores nothing, for tests of time, in whose bubble SQLite cannot run.
type noStore struct{}

func (noStore) List(context.Context) ([]protocol.App, []store.AppToken, error) { return nil, nil, nil }
func (noStore) Apply(context.Context, store.AppChange) error                   { return nil }

func TestBrowserReturnsWhenNobodyAnswersForTwoMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		access, err := apps.Open(t.Context(), noStore{}, new(event.Bus), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		p, _ := publish(time.Hour)
		p.answer[editor] = `{"client_id":"` + editor + `","redirect_uris":["` + callback + `"]}`
		a := apps.New(apps.Options{Access: access, Questions: question.New(questiontest.NewStore(), nil, new(event.Bus))})
		h := New(Options{Apps: a, Base: func(*http.Request) string { return "http://gateway" }, Path: "/mcp", Fetch: p.fetch})
		get := func(path string) (int, *url.URL) {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			to, _ := url.Parse(w.Header().Get("Location"))
			return w.Code, to
		}
		_, wait := get(authorizePath + "?" + query().Encode())
		time.Sleep(2*time.Minute - time.Second)
		if status, to := get(wait.String()); status != http.StatusOK {
			t.Errorf("a second before the end: got %d, %v, want the page that waits", status, to)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if status, to := get(wait.String()); status != http.StatusFound || to.Query().Get("error") != "access_denied" || to.Query().Get("state") != "s 1" {
			t.Errorf("after two minutes: got %d, %v, want access_denied", status, to)
		}
	})
}
