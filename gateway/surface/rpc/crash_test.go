package rpc

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPanicOfAHandlerIsAnswered(t *testing.T) {
	f := newFakes()
	s := f.services()
	s.Web.Programs = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") })
	w := httptest.NewRecorder()
	New(s).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "http://127.0.0.1/api/v1/tools/whoami", nil))
	if body := w.Body.String(); w.Code != http.StatusInternalServerError || !strings.Contains(body, `{"error":{"code":"internal"`) || strings.Contains(body, "broken") {
		t.Errorf("got %d %s, want 500 with the error envelope", w.Code, body)
	}
}
