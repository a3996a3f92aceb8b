package session

import (
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

// TestAPausedRunCanBeAnsweredAtOnce holds that whoever hears that a run is paused (seed 004, chat) finds the question there.
func TestAPausedRunCanBeAnsweredAtOnce(t *testing.T) {
	for range 5 {
		g := start(t, llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("Well."))
		run := g.send("Build it").RunID
		g.until(func(c protocol.Change) bool {
			return c.Kind == protocol.ChangeChat && c.Chat.RunID != nil && *c.Chat.RunID == run && c.Chat.State == protocol.ChatWaiting
		})
		if res := g.send("no"); res.Status != protocol.ChatPaused || res.RunID != run {
			t.Fatalf("%+v", res)
		}
		g.end(run)
	}
}
