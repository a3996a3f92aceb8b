package speech

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestTranscribeSendsTheRecordingAndReadsTheText(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, h, err := r.FormFile("file")
		if err != nil {
			t.Error(err)
			return
		}
		data, _ := io.ReadAll(f)
		asked = append(asked, strings.Join([]string{r.Method, r.URL.Path, r.Header.Get("Authorization"), h.Filename, h.Header.Get("Content-Type"), r.FormValue("model"), string(data)}, " "))
		io.WriteString(w, `{"text":" Buy milk. ","x":1}`)
	}))
	defer server.Close()
	s := Server{BaseURL: server.URL + "/v1/", Key: "k", Model: "large"}
	if text, err := s.Transcribe(t.Context(), `..\a/voice "1".ogg`, "application/ogg", []byte("bytes")); err != nil || text != "Buy milk." {
		t.Errorf(`got %q %v; want no error and "Buy milk."`, text, err)
	}
	if _, err := (Server{BaseURL: server.URL}).Transcribe(t.Context(), "", "audio/mpeg", nil); err != nil {
		t.Error(err)
	}
	if asked[0] != `POST /v1/audio/transcriptions Bearer k voice "1".ogg application/ogg large bytes` || asked[1] != "POST /audio/transcriptions  recording.mp3 audio/mpeg whisper-1 " {
		t.Errorf("got %q; want the named file with the model large, then recording.mp3 with whisper-1", asked)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		is     error
		says   string
	}{
		{401, `{"error":{"message":"Bad key"}}`, protocol.ErrModelAuth, "answered 401. Bad key Check its API key."},
		{429, `{"error":"slow down"}`, protocol.ErrModelRateLimit, "answered 429. slow down"},
		{500, `<html>`, protocol.ErrModel, "answered 500."},
		{200, `<html>`, protocol.ErrModel, "not JSON"},
		// some servers answer with an error in a 200, which is not silence
		{200, `{"error":{"message":"no such model"}}`, protocol.ErrModel, "answered 200. no such model"},
		{200, `{}`, protocol.ErrModel, "answered 200."},
		{200, `null`, protocol.ErrModel, "answered 200."},
	} {
		t.Run(c.body, func(t *testing.T) {
			_, err := parseResponse(c.status, []byte(c.body))
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d: got %v; want error %v and an error with %v", c.status, err, c.is, c.says)
			}
		})
	}
	for _, base := range []string{"http://127.0.0.1:1", "://"} {
		if _, err := (Server{BaseURL: base}).Transcribe(t.Context(), "a.mp3", "audio/mpeg", nil); err == nil {
			t.Errorf("%s answers, want an error", base)
		}
	}
}

func FuzzAnswersAreReadOrRefused(f *testing.F) {
	f.Add(200, []byte(`{"text":"x"}`))
	f.Add(400, []byte(`{"error":{"message":1}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if text, err := parseResponse(status, body); err != nil && text != "" {
			t.Errorf("got %v, %v; want no error or an empty text", text, err)
		}
	})
}
