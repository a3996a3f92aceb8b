//go:build desktop

package desktoptest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// steadyServer implements the OpenAI protocol. It streams words of prose at 33 a second for a
// minute.
func steadyServer(t *testing.T) *httptest.Server {
	t.Helper()
	words := strings.Fields("the parser reads one token and asks the table which rule fits it, then **stores** the result beside its `place` in the text.")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/models") {
			w.Write([]byte(`{"data":[{"id":"paper-model","context_length":1000000}]}`))
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		say := func(v any) {
			raw, _ := json.Marshal(map[string]any{"choices": []any{v}})
			fmt.Fprintf(w, "data: %s\n\n", raw)
			w.(http.Flusher).Flush()
		}
		tick := time.NewTicker(time.Second / 33)
		defer tick.Stop()
		for i := range 33 * 60 {
			end := " "
			if i%66 == 65 {
				end = "\n\n"
			}
			say(map[string]any{"delta": map[string]string{"content": words[i%len(words)] + end}})
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
		say(map[string]any{"delta": struct{}{}, "finish_reason": "stop"})
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s
}

// TestMeasureStream prints the processor time of the program, its gateway included, while an answer
// streams into the open chat, if FAIRLEAD_STREAM is set (packaging/measure-use.sh stream).
func TestMeasureStream(t *testing.T) {
	if os.Getenv("FAIRLEAD_STREAM") == "" {
		t.Skip("FAIRLEAD_STREAM is not set")
	}
	u := &measuredProgram{approvalProgram: startApprovalProgram(t)}
	u.prepare()
	if err := setConfig(u.c, "providers.compatible.baseUrl", steadyServer(t).URL+"/v1"); err != nil {
		t.Fatal(err)
	}
	u.activateMain()
	u.click(u.waitTextIn(mainWindow, "Main chat", sidebar))
	if _, err := client.Call(context.Background(), u.c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "go on"}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Second)
	for part := range 5 {
		before := u.cpuTicks()
		time.Sleep(10 * time.Second)
		t.Logf("after %2d s of an answer: %5.1f %% of a core", 5+10*part, float64(u.cpuTicks()-before)/10)
	}
	u.screenshot("streamed")
}
