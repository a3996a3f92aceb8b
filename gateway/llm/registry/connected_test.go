package registry

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAServerWithoutModelsIsNoSuccess(t *testing.T) {
	for body, want := range map[string]protocol.ModelsTestResult{
		`{"data":[]}`:                      {Message: "The server answers, but has no model. Load one there, then test again."},
		`{"data":[{"id":"a"}]}`:            {OK: true, Message: "Connected: 1 model."},
		`{"data":[{"id":"a"},{"id":"b"}]}`: {OK: true, Message: "Connected: 2 models."},
	} {
		t.Run(body, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(body)) }))
			r := New(settings{urls: map[string]string{"compatible": s.URL}}, nil)
			got := r.Test(t.Context(), "compatible", "")
			s.Close()
			if got.OK != want.OK || got.Message != want.Message {
				t.Errorf("%s: got %v %q; want OK %v and Message %v", body, got.OK, got.Message, want.OK, want.Message)
			}
		})
	}
}
