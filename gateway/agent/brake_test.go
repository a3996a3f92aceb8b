package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestRepeatedCallsAreNoticedEarly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		args  func(step int) string
		asked int // steps before the first question; 0 means none
	}{
		{"the same call", func(int) string { return `{}` }, 6},
		{"two calls in turns", func(step int) string { return fmt.Sprintf(`{"n":%d}`, step%2) }, 7},
		{"different calls", func(step int) string { return fmt.Sprintf(`{"n":%d}`, step) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m, b, made := llmtest.Script(), &fakeHistory{}, 0
			for step := range 9 {
				m.Add(llmtest.Call("a__Read", c.args(step)))
			}
			m.Add(llmtest.Say("Done."))
			err := run(m, b, func(ctx context.Context, call tool.Call) (tool.Result, error) {
				made++
				res, err := succeed(ctx, call)
				// how long it took is no news
				res.Content = protocol.Content{protocol.Text(fmt.Sprintf(`{"durationMs":%d,"output":%q}`, made, call.Args))}
				return res, err
			}).Do(t.Context())
			if c.asked == 0 {
				if err != nil || len(b.asked) != 0 {
					t.Errorf("Do: got error %v and questions %q, want none", err, b.asked)
				}
				return
			}
			if !errors.Is(err, protocol.ErrCancelled) || made != c.asked || len(b.asked) != 1 || !strings.Contains(b.asked[0], "last 5 steps repeated") {
				t.Errorf("Do: got error %v after %d calls and questions %q, want one question after %d calls", err, made, b.asked, c.asked)
			}
			noted := 0
			for _, w := range b.words() {
				if strings.Contains(w, "with the same result") {
					noted++
				}
			}
			if noted != 4 {
				t.Errorf("notes for the model: got %d, want 4", noted)
			}
		})
	}
}

func TestThePersonMayLetARepetitionGoOn(t *testing.T) {
	t.Parallel()
	m, b := llmtest.Script(), &fakeHistory{more: true}
	for range 9 {
		m.Add(llmtest.Call("a__Read", `{}`))
	}
	m.Add(llmtest.Say("Done."))
	if err := run(m, b, nil).Do(t.Context()); err != nil || len(b.asked) != 1 {
		t.Errorf("Do: got error %v and questions %q, want one question", err, b.asked)
	}
}
