package agent

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/llmtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

func TestStopWhileStreamingKeepsTheText(t *testing.T) {
	b := &fakeHistory{spoke: make(chan struct{})}
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() { <-b.spoke; cancel(cause) }()
	m := llmtest.Script(llmtest.Say("Once").Call("a__Bash", `{}`).Hang())
	if err := run(m, b, nil).Do(ctx); !errors.Is(err, cause) {
		t.Fatalf("got %v; want the error cause", err)
	}
	check(t, b.words(), "assistant: Once")
	if b.msgs[0].StopReason != llm.StopAborted {
		t.Errorf("got %+v; want msgs[0].StopReason StopAborted", b.msgs[0])
	}
}

func TestStopWhileToolsRunLeavesNoCallOpen(t *testing.T) {
	b := &fakeHistory{}
	cause := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	m := llmtest.Script(llmtest.Call("a__Bash", `{}`).Call("a__Bash", `{"n":2}`))
	r := run(m, b, func(ctx context.Context, c tool.Call) (tool.Result, error) {
		if string(c.Args) == `{}` {
			cancel(cause)
		}
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	})
	if err := r.Do(ctx); !errors.Is(err, cause) {
		t.Fatalf("got %v; want the error cause", err)
	}
	check(t, b.words(), "assistant:  <call_1> <call_2>", "toolResult: Error: stopped for call_1", "toolResult: Error: stopped for call_2")
}

func TestEmptyAnswerIsAnError(t *testing.T) {
	for name, step := range map[string]llmtest.Step{"nothing": {}, "white space": llmtest.Say(" \n"), "thoughts": llmtest.Think("no")} {
		t.Run(name, func(t *testing.T) {
			b := &fakeHistory{}
			if err := run(llmtest.Script(step), b, nil).Do(t.Context()); !errors.Is(err, protocol.ErrModel) || len(b.msgs) != 0 {
				t.Errorf("%s: got %v %v; want the error protocol.ErrModel and no messages", name, err, b.words())
			}
		})
	}
}

func TestBrokenStreamKeepsTheTextAndDropsTheCalls(t *testing.T) {
	b := &fakeHistory{}
	broken := protocol.ErrModel.With("the connection broke")
	err := run(llmtest.Script(llmtest.Say("I will").Call("a__Bash", `{}`).Fail(broken)), b, nil).Do(t.Context())
	if !errors.Is(err, protocol.ErrModel) {
		t.Fatalf("got %v; want the error protocol.ErrModel", err)
	}
	check(t, b.words(), "assistant: I will")
	if m := b.msgs[0]; m.StopReason != llm.StopError || !strings.Contains(m.ErrorMessage, "broke") {
		t.Errorf(`got %+v; want StopReason StopError and "broke" in ErrorMessage`, m)
	}
}

func TestStorageErrorEndsTheRunWithOpenCalls(t *testing.T) {
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Call("a__Bash", `{}`), llmtest.Say("Never."))
	err := run(m, b, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{}, protocol.ErrStorage.With("The disk is full.")
	}).Do(t.Context())
	if !errors.Is(err, protocol.ErrStorage) || m.Left() != 1 {
		t.Errorf("got %v, %v; want error ErrStorage and Left 1", err, m.Left())
	}
	check(t, b.words(), "assistant:  <call_1>") // the next start continues the call from the journal
}

func TestFinishedRunIsNotRequestedAgain(t *testing.T) {
	b := &fakeHistory{}
	m := llmtest.Script(llmtest.Say("Twice."))
	r := run(m, b, nil)
	r.History = append(r.History, protocol.Message{ID: "m9", RunID: "run", Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text("Done.")}, StopReason: llm.StopEnd})
	if err := r.Do(t.Context()); err != nil || len(m.Requests()) != 0 {
		t.Errorf("%v, %d requests; want no error and no Requests", err, len(m.Requests()))
	}
}

func TestRefusalNamesTheProvidersReason(t *testing.T) {
	m := llmtest.Script(llmtest.Think("hm").Emit(llm.Event{Type: llm.EventStop, Text: "The model refused to answer. It breaks the rules of use."}).Stop(llm.StopRefusal))
	err := run(m, &fakeHistory{}, nil).Do(t.Context())
	if !errors.Is(err, protocol.ErrIncomplete) || !strings.Contains(err.Error(), "refused to answer. It breaks the rules of use.") {
		t.Errorf(`got %v; want error ErrIncomplete and an error with "refused to answer. It breaks the rules of use."`, err)
	}
}

func TestIncompleteAnswerIsReportedAfterARestart(t *testing.T) {
	m := llmtest.Script(llmtest.Say("Twice."))
	r := run(m, &fakeHistory{}, nil)
	r.History = append(r.History, protocol.Message{
		ID: "m9", RunID: "run", Role: protocol.RoleAssistant, Content: protocol.Content{protocol.Text("Half")}, StopReason: llm.StopRefusal, ErrorMessage: "A filter stopped it.",
	})
	if err := r.Do(t.Context()); !errors.Is(err, protocol.ErrIncomplete) || err.Error() != "A filter stopped it." || len(m.Requests()) != 0 {
		t.Errorf("Do: got %v after %d requests, want the stored problem", err, len(m.Requests()))
	}
}

func TestSilentModelTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := llmtest.Script(llmtest.Say("slow").Wait(closeAfter(50*time.Second)).Say(" but sure"), llmtest.Hang())
		r := run(m, &fakeHistory{}, nil)
		r.SilenceLimit = time.Minute
		if err := r.Do(t.Context()); err != nil {
			t.Error(err)
		}
		r = run(llmtest.Script(llmtest.Emit(llm.Event{Type: llm.EventRetry, Retry: llm.Retry{After: 55 * time.Second}}).Wait(closeAfter(65*time.Second)).Say("again")), &fakeHistory{}, nil)
		r.SilenceLimit = 30 * time.Second
		if err := r.Do(t.Context()); err != nil {
			t.Error(err)
		}
		r = run(m, &fakeHistory{}, nil)
		r.SilenceLimit = time.Minute
		if err := r.Do(t.Context()); !errors.Is(err, protocol.ErrTimeout) || !strings.Contains(err.Error(), "sent nothing for 60 s") {
			t.Errorf(`got %v; want error ErrTimeout and an error with "sent nothing for 60 s"`, err)
		}
	})
}

// closeAfter returns a channel that is closed after the given time.
func closeAfter(after time.Duration) <-chan struct{} {
	ch := make(chan struct{})
	time.AfterFunc(after, func() { close(ch) })
	return ch
}

// pieces is a model that repeats a piece of text, without a number endlessly.
type pieces struct {
	piece llm.Event
	times int
}

func (p pieces) Stream(context.Context, llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		for n := 0; n < p.times || p.times == 0; n++ {
			if !yield(p.piece, nil) {
				return
			}
		}
		yield(llm.Event{Type: llm.EventStop, Stop: llm.StopEnd}, nil)
	}
}

func TestAnAnswerWithoutAnEndIsStopped(t *testing.T) {
	long := strings.Repeat("word ", 1000)
	for name, piece := range map[string]llm.Event{
		"text": {Type: llm.EventText, Text: long}, "thinking": {Type: llm.EventThinking, Text: long}, "arguments": {Type: llm.EventCallDelta, Text: long},
		"pictures": {Type: llm.EventImage, Block: protocol.Block{MimeType: "image/png", Data: strings.Repeat("A", 1<<20)}},
	} {
		t.Run(name, func(t *testing.T) {
			b := &fakeHistory{}
			r := run(llmtest.Script(), b, nil)
			r.Model = pieces{piece: piece}
			err := r.Do(t.Context())
			if !errors.Is(err, protocol.ErrModel) || !strings.Contains(err.Error(), "longer than") {
				t.Errorf(`%s: got %v; want error ErrModel and an error with "longer than"`, name, err)
			}
			if kept := len(b.msgs) > 0; kept != (name == "text") || kept && b.msgs[0].StopReason != llm.StopError {
				t.Errorf("%s: %d messages; want kept %v and either not kept or msgs[0].StopReason StopError", name, len(b.msgs), name == "text")
			}
		})
	}
}

func TestOverlongPartKeepsItsBeginning(t *testing.T) {
	b := &fakeHistory{}
	r := run(llmtest.Script(), b, nil)
	r.Model = pieces{piece: llm.Event{Type: llm.EventText, Text: "x" + strings.Repeat("é", maxAnswer)}}
	if err := r.Do(t.Context()); !errors.Is(err, protocol.ErrModel) {
		t.Fatalf("got %v; want the error protocol.ErrModel", err)
	}
	if text := b.msgs[0].Content.Text(); len(text) != maxAnswer-1 || !utf8.ValidString(text) {
		t.Errorf("got %v; want length %v and valid UTF-8", len(text), maxAnswer-1)
	}
}

func TestALongAnswerTakesMemoryOnce(t *testing.T) {
	b := &fakeHistory{}
	r := run(llmtest.Script(), b, nil)
	r.Model = pieces{piece: llm.Event{Type: llm.EventText, Text: "word and word "}, times: 100_000}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := r.Do(t.Context()); err != nil || len(b.msgs[0].Content.Text()) != 1_400_000 {
		t.Fatalf("got %v; want no error and msgs[0].Content.Text of length 1_400_000", err)
	}
	runtime.ReadMemStats(&after)
	// Copying the text for each piece would allocate 70,000 MiB.
	if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 100 {
		t.Errorf("1.4 MB took %d MiB, want at most 100", took)
	}
}
