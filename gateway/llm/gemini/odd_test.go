package gemini

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
)

// odd are chunks that no server should send.
var odd = []string{
	`null`, `[]`, `1`, `"x"`, `{}`, `{"candidates":"x"}`, `{"candidates":{}}`, `{"candidates":[1]}`, `{"candidates":[null]}`, `{"candidates":[{"content":1}]}`,
	`{"candidates":[{"content":{"parts":{}}}]}`, `{"candidates":[{"content":{"parts":[null]}}]}`, `{"candidates":[{"content":{"parts":[{"functionCall":[]}]}}]}`,
	`{"candidates":[{"content":{"parts":[{"functionCall":{"args":"{}"}}]}}]}`, `{"candidates":[{"content":{"parts":[{"inlineData":{"data":"%"}}]}}]}`,
	`{"usageMetadata":[]}`, `{"promptFeedback":"x"}`, `{"error":"x"}`, `{"error":null}`, `{"error":{}}`,
}

func TestOddChunksNeverPanic(t *testing.T) {
	for _, data := range odd {
		synctest.Test(t, func(t *testing.T) { checkEnds(t, "data: "+data+"\n\n") })
	}
}

func FuzzStreamNeverPanics(f *testing.F) {
	f.Add(whole)
	for _, data := range odd {
		f.Add("data: " + data + "\n\n")
	}
	f.Fuzz(func(t *testing.T, body string) {
		synctest.Test(t, func(t *testing.T) { checkEnds(t, body) })
	})
}

// checkEnds checks that an answer with the body ends in an error or regularly, and that no
// connection stays open.
func checkEnds(t *testing.T, body string) {
	t.Helper()
	w := llmtest.NewWire(llmtest.Reply{Body: body})
	a := llmtest.Collect(t.Context(), New(options(w)), hello)
	if (a.Err == nil) == (a.Stop == "") || w.Open() != 0 {
		t.Errorf("%q: got %+v, %d open; want an error or a stop reason, and no open stream", body, a, w.Open())
	}
	if len(a.Calls) > 0 && a.Err == nil && a.Stop != llm.StopToolUse && a.Stop != llm.StopMaxTokens && a.Stop != llm.StopRefusal {
		t.Errorf("%q: got calls with stop %q, want one that calls have", body, a.Stop)
	}
}

func TestCommentLinesDoNotEndAnAnswer(t *testing.T) {
	body := strings.ReplaceAll(whole, "data: ", ": still here\n\ndata: ")
	checkWhole(t, llmtest.Collect(t.Context(), New(options(llmtest.NewWire(llmtest.Reply{Body: body}))), hello))
}

func TestArgumentsArriveAsTheModelWroteThem(t *testing.T) {
	for _, tc := range []struct{ name, args, want, bad string }{
		{"large number", `{"args":{"id":12345678901234567890}}`, `{"id":12345678901234567890}`, ""},
		{"none", `{}`, `{}`, ""},
		{"null", `{"args":null}`, `{}`, ""},
		{"not an object", `{"args":["a"]}`, "{}", `["a"]`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call := strings.Replace(tc.args, "{", `{"name":"laptop__Bash"`, 1)
			call = strings.Replace(call, `Bash""args"`, `Bash","args"`, 1)
			body := events(chunk(`{"functionCall":`+call+`}`, `,"finishReason":"STOP"`))
			a := llmtest.Collect(t.Context(), New(options(llmtest.NewWire(llmtest.Reply{Body: body}))), hello)
			if a.Err != nil || len(a.Calls) != 1 {
				t.Fatalf("got %+v, want one call", a)
			}
			if got := string(a.Calls[0].Arguments); got != tc.want {
				t.Errorf("arguments: got %s, want %s", got, tc.want)
			}
			if got := strings.Join(a.BadArgs, " "); got != tc.bad {
				t.Errorf("bad arguments: got %s, want %s", got, tc.bad)
			}
		})
	}
}

func TestEndlessListOfModelsIsAbandoned(t *testing.T) {
	asked := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		io.WriteString(w, `{"models":[],"nextPageToken":"again"}`)
	}))
	defer srv.Close()
	if list, err := Models(t.Context(), llm.Options{BaseURL: srv.URL}); err != nil || len(list) != 0 || asked != maxPages {
		t.Errorf("got %v, %v after %d pages, want none after %d", list, err, asked, maxPages)
	}
}
