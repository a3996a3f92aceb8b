package ask

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

func TestGuardKeepsWhatALibraryWouldLose(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Extra") != "1" {
			t.Error("our header is missing")
		}
		switch r.URL.Path {
		case "/busy":
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(529)
			io.WriteString(w, `{"error":{"message":"one of many"}}`)
		case "/cut":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "half")
		default:
			io.WriteString(w, "whole")
		}
	}))
	defer srv.Close()
	get := func(path string) (string, *Guard, error) {
		c, watch := NewGuard(llm.Options{Headers: map[string]string{"X-Extra": "1"}})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.Do(req)
		if err != nil {
			return "", watch, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), watch, err
	}

	_, watch, err := get("/busy")
	var f *Failure
	if !errors.As(err, &f) || !errors.As(watch.Err(), &f) || f.Status != 529 || f.After != 7*time.Second || !f.Again {
		t.Errorf("%v %+v", err, f)
	}
	body, watch, err := get("/cut")
	if body != "half" || err != nil || !errors.Is(watch.Err(), protocol.ErrModel) || !strings.Contains(watch.Err().Error(), "was interrupted") {
		t.Error(body, err, watch.Err())
	}
	if body, watch, err = get("/"); body != "whole" || err != nil || watch.Err() != nil {
		t.Error(body, err, watch.Err())
	}
}
