package agent

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/peer/crash/crashtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestParallelCallsKeepTheirOrderWithOneDenied(t *testing.T) {
	var together sync.WaitGroup
	together.Add(3) // none continues before all have started
	last := make(chan struct{})
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Say("Look.").Call("a__Bash", `{"n":1}`).Call("a__Bash", `{"n":2}`).Call("a__Bash", `{"n":3}`), llmtest.Say("Done."))
	r := run(m, b, func(_ context.Context, c tool.Call) (tool.Result, error) {
		together.Done()
		together.Wait()
		switch string(c.Args) {
		case `{"n":1}`: // finishes last
			<-last
		case `{"n":2}`:
			return tool.Result{Info: protocol.CallInfo{State: protocol.CallDenied}, IsError: true, Content: protocol.Content{protocol.Text("Error: denied")}}, nil
		case `{"n":3}`:
			defer close(last)
		}
		return tool.Result{Content: protocol.Content{protocol.Text(string(c.Args))}}, nil
	})
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, b.words(), "assistant: Look. <call_1> <call_2> <call_3>", `toolResult: {"n":1} for call_1`, "toolResult: Error: denied for call_2",
		`toolResult: {"n":3} for call_3`, "assistant: Done.")
	if !b.msgs[2].IsError || b.msgs[3].IsError {
		t.Error("the wrong results are errors")
	}
}

func TestArgumentsThatAreNoObjectBecomeAnErrorResult(t *testing.T) {
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Call("a__Bash", `{"command":`).Call("a__Bash", `{"command":"ls"}`), llmtest.Say("Sorry."))
	sent := 0
	r := run(m, b, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		sent++
		return succeed(ctx, c)
	})
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, b.words(), "assistant:  <call_1> <call_2>", `toolResult: Error: the arguments are not a JSON object: {"command": for call_1`,
		`toolResult: ok {"command":"ls"} for call_2`, "assistant: Sorry.")
	if sent != 1 {
		t.Errorf("got %d calls, want 1", sent)
	}
	for _, msg := range m.Requests()[1].Messages {
		for _, c := range msg.Content.Calls() {
			var object map[string]any
			if json.Unmarshal(c.Arguments, &object) != nil {
				t.Errorf("a provider would be sent the arguments %s", c.Arguments)
			}
		}
	}
}

func TestBrokenArgumentsAreNotRunAfterARestart(t *testing.T) {
	b := &fakeHistory{}
	ctx, cancel := context.WithCancelCause(t.Context())
	m := llmtest.Script(llmtest.Call("a__List", `nonsense`).Call("a__Bash", `{"command":"ls"}`))
	r := run(m, b, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		cancel(tool.ErrSuspended) // the gateway stops while the other call waits
		return tool.Result{}, tool.ErrSuspended
	})
	if err := r.Do(ctx); !errors.Is(err, tool.ErrSuspended) {
		t.Fatalf("got %v; want the error tool.ErrSuspended", err)
	}
	check(t, b.words(), "assistant:  <call_1> <call_2>")

	var sent []protocol.ToolName
	var ids []protocol.CallID
	again := run(llmtest.Script(llmtest.Say("Done.")), b, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		sent, ids = append(sent, c.Tool), append(ids, c.ID)
		return succeed(ctx, c)
	})
	again.History = append(again.History, b.msgs...)
	if err := again.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sent, []protocol.ToolName{"a__Bash"}) || ids[0] != CallID("m0", "call_2") {
		t.Errorf("after the restart these were run: %v %v", sent, ids)
	}
	check(t, b.words()[1:], "toolResult: Error: the arguments are not a JSON object: nonsense for call_1", `toolResult: ok {"command":"ls"} for call_2`, "assistant: Done.")
}

func TestStepLimitAsksAndGoesOn(t *testing.T) {
	for _, more := range []bool{true, false} {
		b := &fakeHistory{more: more}
		m := llmtest.Script()
		for range 4 {
			m.Add(llmtest.Call("a__Bash", `{}`))
		}
		m.Add(llmtest.Say("Done."))
		r := run(m, b, nil)
		r.MaxSteps = 2
		err := r.Do(t.Context())
		if more && (err != nil || len(b.asked) != 2 || !strings.Contains(b.asked[1], "4 steps")) {
			t.Errorf(`got %v, %v; want not more or no error, asked of length 2 and "4 steps" in asked[1]`, err, b.asked)
		}
		if !more && (!errors.Is(err, protocol.ErrCancelled) || !strings.Contains(err.Error(), "2 steps") || m.Left() != 3) {
			t.Errorf(`got %v, %v, %v; want more or error ErrCancelled, an error with "2 steps" and Left 3`, err, b.asked, m.Left())
		}
	}
}

func TestOverflowIsReportedBeforeTheRequest(t *testing.T) {
	for name, history := range map[string][]protocol.Message{
		"estimate": slices.Repeat([]protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(strings.Repeat("word ", 60))}}}, 60), // too short to shorten
		"counted":  {{Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text("x")}, Usage: &protocol.Usage{Total: 3500}}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &fakeHistory{}
			m := llmtest.Script(llmtest.Say("Too late."))
			m.Info.ContextWindow = 4000
			r := run(m, b, nil)
			r.History = append(r.History, history...)
			r.History = append(r.History, protocol.Message{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text("And?")}})
			if err := r.Do(t.Context()); !errors.Is(err, protocol.ErrContextOverflow) || !strings.Contains(err.Error(), "/reset") || len(m.Requests()) != 0 {
				t.Errorf(`%s: %v, %d requests; want error ErrContextOverflow, an error with "/reset" and no Requests`, name, err, len(m.Requests()))
			}
		})
	}
}

func TestToolSchemasCountTowardsTheContext(t *testing.T) {
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Say("Too late."))
	m.Info.ContextWindow = 4000
	r := run(m, b, nil)
	r.Tools = func() []protocol.ToolSpec {
		return []protocol.ToolSpec{{Name: "a__Bash", Description: strings.Repeat("word ", 1400), InputSchema: json.RawMessage(`{"description":"` + strings.Repeat("word ", 1400) + `"}`)}}
	}
	if err := r.Do(t.Context()); !errors.Is(err, protocol.ErrContextOverflow) || len(m.Requests()) != 0 {
		t.Errorf("%v, %d requests; want error ErrContextOverflow and no Requests", err, len(m.Requests()))
	}
}

func TestRetryIsAnnounced(t *testing.T) {
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Emit(llm.Event{Type: llm.EventRetry, Retry: llm.Retry{After: 4 * time.Second, Reason: "the provider is overloaded", Attempt: 1, Of: 5}}).Say("Hi"))
	if err := run(m, b, nil).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, b.notices, "Trying again in 4 s: the provider is overloaded (1 of 5)")
	check(t, b.states, protocol.RunThinking, protocol.RunRetrying, protocol.RunStreaming)
}

func TestCallBeforeARestartBelongsToItsModel(t *testing.T) {
	var by []string
	m := llmtest.Script(llmtest.Say("And this.").Call("a__Bash", `{"n":2}`), llmtest.Say("Done."))
	r := run(m, &fakeHistory{}, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		by = append(by, c.AskedBy.Model)
		return succeed(ctx, c)
	})
	r.AskedBy.Model = r.Ref.String()
	r.History = append(r.History, protocol.Message{
		ID: "m1", RunID: r.ID, Role: protocol.RoleAssistant, Provider: "first", Model: "one",
		Content: protocol.Content{{Type: protocol.BlockToolCall, ID: "c1", Name: "a__Bash", Arguments: json.RawMessage(`{"n":1}`)}},
	})
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, by, "first/one", "test/scripted")
}

func TestToolErrorsOfOursAreResults(t *testing.T) {
	for name, want := range map[protocol.ToolName]string{
		"a__Fly":   "Error: No node provides tool: a__Fly",
		"gsv__Fly": `{"ok":false,"error":"No node provides tool: gsv__Fly"}`,
	} {
		t.Run(string(name), func(t *testing.T) {
			b := &fakeHistory{}
			m := llmtest.Script(llmtest.Call(name, `{}`), llmtest.Say("I cannot."))
			err := run(m, b, func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{}, protocol.ErrNotFound.With("No node provides tool: " + string(name))
			}).Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			check(t, b.words(), "assistant:  <call_1>", "toolResult: "+want+" for call_1", "assistant: I cannot.")
		})
	}
}

func TestArgumentsOfANativeToolThatAreNoObjectAreItsResult(t *testing.T) {
	b := &fakeHistory{}
	if err := run(llmtest.Script(llmtest.Call("gsv__ReadFile", `{"path":`), llmtest.Say("Sorry.")), b, succeed).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, b.words(), "assistant:  <call_1>", `toolResult: {"ok":false,"error":"the arguments are not a JSON object: {\"path\":"} for call_1`, "assistant: Sorry.")
}

func TestCallsWithTheSameIDAreDistinguished(t *testing.T) {
	b := &fakeHistory{}
	twin := protocol.Block{ID: "same", Name: "a__Bash", Arguments: json.RawMessage(`{}`)}
	m := llmtest.Script(llmtest.Emit(llm.Event{Type: llm.EventCall, Block: twin}, llm.Event{Type: llm.EventCall, Index: 1, Block: twin}), llmtest.Say("Done."))
	if err := run(m, b, nil).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b.msgs[1].ToolCallID == b.msgs[2].ToolCallID || len(b.msgs) != 4 {
		t.Errorf("got %v; want msgs[1].ToolCallID other than %v and msgs of length 4", b.words(), b.msgs[2].ToolCallID)
	}
}

func TestAChatIsShortenedBeforeItIsFull(t *testing.T) {
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Say("done"))
	m.Info.ContextWindow = 10_000
	r := run(m, b, nil)
	r.Reserve, r.Keep = 2000, 1000
	r.History[0].Usage = &protocol.Usage{Total: 9000}
	b.shorten = func(keep int64) []protocol.Message {
		if keep != 1000 {
			t.Errorf("keep: got %d, want 1000", keep)
		}
		short := r.History[0]
		short.Seq, short.Compaction = 7, &protocol.Compaction{Through: 3}
		old := protocol.Message{Seq: 4, Role: protocol.RoleUser, Content: short.Content, Usage: &protocol.Usage{Total: 9000}}
		short.Usage = nil
		return []protocol.Message{short, old} // the earlier count is no longer valid
	}
	if err := r.Do(t.Context()); err != nil {
		t.Error(err)
	}
	b.shorten = nil
	m.Add(llmtest.Say("never"))
	r = run(m, b, nil)
	r.Reserve = 1
	r.History[0].Usage = &protocol.Usage{Total: 9000}
	if err := r.Do(t.Context()); !errors.Is(err, protocol.ErrContextOverflow) || m.Left() != 1 {
		t.Errorf("got %v; want error ErrContextOverflow and Left 1", err)
	}
}

func TestUnseenPictureIsReportedOnce(t *testing.T) {
	for _, sees := range []bool{false, true} {
		b := &fakeHistory{}
		m := llmtest.Script(llmtest.Say("Look.").Call("a__Bash", `{"n":1}`), llmtest.Say("Done."))
		r := run(m, b, func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Content: protocol.Content{{Type: protocol.BlockImage, MimeType: "image/png"}}}, nil
		})
		r.Info.Images = sees
		r.History[0].Content = append(r.History[0].Content, protocol.Block{Type: protocol.BlockImage, MimeType: "image/png"})
		if err := r.Do(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{"assistant: Look. <call_1>", "toolResult:  for call_1", "assistant: Done."}
		if !sees {
			want = append([]string{"assistant: scripted cannot see pictures, according to its provider. It is only told that there is one."}, want...)
		}
		check(t, b.words(), want...)
	}
}

func TestAServerThatRefusesPicturesIsAskedWithoutThem(t *testing.T) {
	refused := protocol.ErrModel.With("The model server answered 400: m is not a multimodal model")
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Fail(refused), llmtest.Say("Done."))
	r := run(m, b, nil)
	r.History[0].Content = append(r.History[0].Content, protocol.Block{Type: protocol.BlockImage, MimeType: "image/png"})
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, b.words(), "assistant: scripted refused the pictures. It is only told that there are some. The model server answered 400: m is not a multimodal model", "assistant: Done.")
	if asked := m.Requests(); len(asked) != 2 || !hasPicture(asked[0].Messages[0]) || hasPicture(asked[1].Messages[0]) {
		t.Errorf("got %+v; want length 2, a picture in asked[0].Messages[0] and no picture in asked[1].Messages[0]", asked)
	}
	for name, r := range map[string]*Run{
		"no picture in the chat":  run(llmtest.Script(llmtest.Fail(refused)), &fakeHistory{}, nil),
		"no word of the pictures": run(llmtest.Script(llmtest.Fail(protocol.ErrModel.With("The model server answered 500: out of memory"))), &fakeHistory{}, nil),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no word of the pictures" {
				r.History[0].Content = append(r.History[0].Content, protocol.Block{Type: protocol.BlockImage, MimeType: "image/png"})
			}
			if err := r.Do(t.Context()); !errors.Is(err, protocol.ErrModel) || !r.Info.Images {
				t.Errorf("%s: got %v; want error ErrModel and Info.Images", name, err)
			}
		})
	}
}

func TestPanicFailsOneOfSeveralCalls(t *testing.T) {
	log := crashtest.Watch(t)
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Call("a__Bash", `{"n":1}`).Call("a__Bash", `{"n":2}`), llmtest.Say("Done."))
	r := run(m, b, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		if string(c.Args) == `{"n":1}` {
			panic("broken")
		}
		return succeed(ctx, c)
	})
	if err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	check(t, b.words(), "assistant:  <call_1> <call_2>", "toolResult: Error: internal error in tool a__Bash; the log has more for call_1",
		`toolResult: ok {"n":2} for call_2`, "assistant: Done.")
	log.Until(1, "tool a__Bash")
}
