package session

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
)

func TestEveryRunEndsExactlyOnce(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := start(t)
			for range 40 { // each step either finishes or asks for an approval
				g.model.Add(llmtest.Say("Hm ").Say("done."), llmtest.Call(bash, `{"command":"make"}`), llmtest.Say("x").Fail(protocol.ErrModel.With("broken")))
			}
			rnd := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			var sent []protocol.RunID
			var wg sync.WaitGroup
			for range 3 {
				moves := rnd.Perm(10)
				wg.Go(func() {
					for _, n := range moves {
						switch {
						case n < 6:
							text := "hello"
							if n == 0 {
								text = "!ls"
							}
							res, err := g.Send(t.Context(), ann, protocol.ChatSendParams{SessionKey: chat, Message: text})
							if err != nil {
								t.Error(err)
							}
							mu.Lock()
							sent = append(sent, res.RunID)
							mu.Unlock()
						case n < 8:
							mu.Lock()
							id := protocol.RunID("")
							if len(sent) > 0 && n == 6 {
								id = sent[len(sent)/2]
							}
							mu.Unlock()
							if _, err := g.Cancel(t.Context(), protocol.ChatCancelParams{SessionKey: chat, RunID: id}); err != nil {
								t.Error(err)
							}
						case n == 8:
							if _, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
								t.Error(err)
							}
						default:
							g.setPaused(true)
							g.setPaused(false)
						}
					}
				})
			}
			wg.Wait()
			// The remaining runs wait for an approval or in the queue.
			if _, err := g.Reset(t.Context(), protocol.SessionParams{SessionKey: chat}); err != nil {
				t.Fatal(err)
			}
			ends := map[protocol.RunID]int{}
			for len(ends) < len(sent) {
				ends[*g.until(terminal).Chat.RunID]++
			}
			// The end of the next message follows any surplus end.
			g.model.Add(llmtest.Say("Last."))
			for g.model.Left() > 1 {
				llmtest.Collect(t.Context(), g.model, llm.Request{})
			}
			last := g.send("last")
			g.until(func(c protocol.Change) bool {
				if terminal(c) {
					ends[*c.Chat.RunID]++
				}
				return terminal(c) && *c.Chat.RunID == last.RunID
			})
			for _, id := range sent {
				if ends[id] != 1 {
					t.Errorf("run %s: got %d ends, want 1", id, ends[id])
				}
			}
			g.check("user: last", "assistant: Last.")
			g.checkNoUnfinishedRuns()
		})
	}
}
