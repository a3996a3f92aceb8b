package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

const statArgs = `{"target":{"node_id":"nas"},"path":"/x"}`

// waitForPerson makes every call wait for the person, who answers by answered.
func waitForPerson(b *bench) (answered chan tool.Result) {
	answered = make(chan tool.Result)
	b.answer = func(ctx context.Context, c tool.Call) (tool.Result, error) {
		q := protocol.Question{ID: "q", CallID: "call", State: protocol.QuestionPending}
		c.OnApproval(q)
		select {
		case r := <-answered:
			q.State = protocol.QuestionAllowed
			c.OnApproval(q)
			return r, nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	}
	return answered
}

func TestCallWaitsWhileThePersonDecides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		answered := waitForPerson(b)
		began := time.Now()
		f := b.checkFault(app("a"), "fs_stat", statArgs, protocol.FaultApprovalRequired, "not answered yet")
		if waited := time.Since(began); waited != 45*time.Second || !f.Retryable || string(f.Details) != `{"approval_id":"q","call_id":"call","poll":"/api/v1/calls/call","retry_after_ms":5000}` {
			t.Errorf("after %v: %+v %s; want waited %v, Retryable and Details `{\"approval_id\":\"q\",\"call_id\":\"call\",\"poll\":\"/api/v1/calls/call\",\"retry_after_ms\":5000}`", waited, f, f.Details, 45*time.Second)
		}
		if _, err := b.jobs.Outcome(t.Context(), app("b"), "call"); err == nil || err.(*protocol.Fault).Code != protocol.FaultNotFound {
			t.Errorf("another app: got error %v, want not_found", err)
		}
		if _, err := b.jobs.Outcome(t.Context(), app("a"), "call"); err.(*protocol.Fault).Code != protocol.FaultApprovalRequired {
			t.Errorf("before the answer: got error %v, want approval_required", err)
		}
		go func() { answered <- succeed(`{"path":"/x"}`) }()
		if got := b.must(app("a"), "fs_stat", statArgs); !strings.Contains(got, "/x") {
			t.Errorf(`repeated: got %s, want "/x" in it`, got)
		}
		if len(b.calls) != 1 {
			t.Errorf("got %d calls, want 1", len(b.calls))
		}
		if _, err := b.jobs.Outcome(t.Context(), app("a"), "call"); err.(*protocol.Fault).Code != protocol.FaultNotFound {
			t.Errorf("fetching it twice: got error %v, want not_found", err)
		}
	})
}

// Many programs give up after 60 seconds in which they hear nothing.
func TestCallerGetsRegularProgress(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(b *bench)
		runs    time.Duration
		text    string
		want    int
	}{
		"waits for the person": {func(b *bench) { waitForPerson(b) }, 45 * time.Second, `"call_id":"call"`, 3},
		"runs": {func(b *bench) {
			b.answer = func(context.Context, tool.Call) (tool.Result, error) {
				time.Sleep(2 * time.Minute)
				return succeed(`{}`), nil
			}
		}, 2 * time.Minute, "still running", 7},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t)
			c.prepare(b)
			began, last, heard := time.Now(), time.Now(), 0
			b.Catalog.Call(t.Context(), app("a"), Request{Tool: "fs_stat", Args: []byte(statArgs), Emit: func(_ context.Context, p job.Part) error {
				if silent := time.Since(last); silent > 15*time.Second || p.Kind != job.PartWaiting || !strings.Contains(string(p.Data), c.text) {
					t.Errorf("%s: after %v of silence: got %s %s, want a waiting part within 15 s with %q", name, silent, p.Kind, p.Data, c.text)
				}
				last = time.Now()
				heard++
				return nil
			}})
			if took := time.Since(began); took != c.runs || heard < c.want {
				t.Errorf("%s: heard %d times in %v, want at least %d in %v", name, heard, took, c.want, c.runs)
			}
		})
	}
}

func TestAllowedCallKeepsItsCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
			q := protocol.Question{ID: "q", CallID: "call", State: protocol.QuestionPending}
			c.OnApproval(q)
			time.Sleep(10 * time.Second)
			q.State = protocol.QuestionAllowed
			c.OnApproval(q)
			time.Sleep(time.Minute) // the call itself takes longer than a caller waits for the person
			return succeed(`{"path":"/x"}`), nil
		}
		if got := b.must(app("a"), "fs_stat", statArgs); !strings.Contains(got, "/x") {
			t.Errorf(`got %s, want "/x" in it`, got)
		}
	})
}

func TestOutcomeIsFoundByEveryCallOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		answered := waitForPerson(b)
		n := 0
		ask := b.answer
		b.answer = func(ctx context.Context, c tool.Call) (tool.Result, error) {
			n++
			id := protocol.CallID(fmt.Sprint("call", n))
			notify := c.OnApproval
			c.OnApproval = func(q protocol.Question) { q.CallID = id; notify(q) }
			return ask(ctx, c)
		}
		batch := `{"target":{"node_id":"nas"},"path":"/x","op":"batch","ops":[{"op":"mkdir","path":"/x"},{"op":"mkdir","path":"/y"}]}`
		b.checkFault(app("a"), "file", batch, protocol.FaultApprovalRequired, "")
		answered <- succeed(`{"path":"/x"}`)
		synctest.Wait()
		f := new(protocol.Fault)
		if _, err := b.jobs.Outcome(t.Context(), app("a"), "call1"); !errors.As(err, &f) || f.Code != protocol.FaultApprovalRequired || !strings.Contains(string(f.Details), `"call2"`) {
			t.Errorf("while the second call waits: got error %v, want approval_required with its ID", err)
		}
		answered <- succeed(`{"path":"/y"}`)
		if _, err := b.jobs.Outcome(t.Context(), app("a"), "call1"); err != nil {
			t.Error(err)
		}
	})
}

func TestOutcomeIsKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		answered := waitForPerson(b)
		b.checkFault(app("a"), "fs_stat", statArgs, protocol.FaultApprovalRequired, "")
		answered <- succeed(`{"path":"/x"}`)
		time.Sleep(job.OutcomeTime - time.Second)
		r, err := b.jobs.Outcome(t.Context(), app("a"), "call")
		if err != nil || !strings.Contains(string(r.Data), "/x") {
			t.Errorf(`got %s, %v; want no error and "/x" in Data`, r.Data, err)
		}
		b.checkFault(app("a"), "fs_stat", statArgs, protocol.FaultApprovalRequired, "")
		answered <- succeed(`{}`)
		time.Sleep(job.OutcomeTime + time.Second)
		if _, err := b.jobs.Outcome(t.Context(), app("a"), "call"); err == nil {
			t.Error("the outcome is kept for ever")
		}
	})
}

func TestDisconnectedCallerCancelsItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		stopped := make(chan struct{})
		b.answer = func(ctx context.Context, c tool.Call) (tool.Result, error) {
			<-ctx.Done()
			close(stopped)
			return tool.Result{}, ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := b.Catalog.Call(ctx, me, Request{Tool: "fs_stat", Args: json.RawMessage(statArgs)})
		if f, _ := errors.AsType[*protocol.Fault](err); f == nil || f.Code != protocol.FaultTimeout && f.Code != protocol.FaultCanceled {
			t.Errorf("got %v, want Code FaultTimeout or Code FaultCanceled", err)
		}
		<-stopped
	})
}

func TestCloseEndsWaitingCalls(t *testing.T) {
	b := newBench(t)
	waitForPerson(b)
	failed := make(chan error, 1)
	go func() {
		_, err := b.call(app("a"), "fs_stat", statArgs)
		failed <- err
	}()
	for range 1000 {
		b.mu.Lock()
		n := len(b.calls)
		b.mu.Unlock()
		if n > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	b.Close()
	if f, _ := errors.AsType[*protocol.Fault](<-failed); f == nil || f.Code != protocol.FaultCanceled {
		t.Errorf("got %v, want Code FaultCanceled", f)
	}
	b.checkFault(me, "fs_stat", statArgs, protocol.FaultResourceExhausted, "")
}

func TestIdempotencyKeyRunsACallOnce(t *testing.T) {
	b := newBench(t)
	b.answer = func(context.Context, tool.Call) (tool.Result, error) { return succeed(`{"path":"/x"}`), nil }
	call := func(id, key, args string) error {
		_, err := b.Catalog.Call(t.Context(), app(id), Request{Tool: "fs_mkdir", Args: json.RawMessage(args), IdempotencyKey: key})
		return err
	}
	for range 3 {
		if err := call("a", "k", statArgs); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.calls) != 1 || b.calls[0].IdempotencyKey != "a k 1" {
		t.Errorf(`got %d calls, key %q; want 1 with the key "a k 1"`, len(b.calls), b.calls[0].IdempotencyKey)
	}
	if f, _ := errors.AsType[*protocol.Fault](call("a", "k", `{"target":{"node_id":"nas"},"path":"/y"}`)); f == nil || f.Code != protocol.FaultInvalidArgs {
		t.Errorf("another call with the same key: got %v, want invalid_args", f)
	}
	if err := call("b", "k", statArgs); err != nil || len(b.calls) != 2 {
		t.Errorf("another app: got error %v and %d calls, want 2 calls", err, len(b.calls))
	}
	b.must(app("a"), "fs_mkdir", statArgs)
	b.must(app("a"), "fs_mkdir", statArgs)
	if len(b.calls) != 4 {
		t.Errorf("calls without a key run once: %d, want 4", len(b.calls))
	}
}

func TestTemporaryFailureIsNotStoredForItsKey(t *testing.T) {
	for _, c := range []struct {
		code  protocol.FaultCode
		calls int
	}{
		{protocol.FaultTargetUnreachable, 2},
		{protocol.FaultRateLimited, 2},
		{protocol.FaultNotFound, 1},
		{protocol.FaultPermissionDenied, 1},
	} {
		t.Run(string(c.code), func(t *testing.T) {
			b := newBench(t)
			b.answer = func(context.Context, tool.Call) (tool.Result, error) {
				if len(b.calls) == 1 {
					return tool.Result{}, protocol.NewFault(c.code, "no")
				}
				return succeed(`{"path":"/x"}`), nil
			}
			r := Request{Tool: "fs_mkdir", Args: json.RawMessage(statArgs), IdempotencyKey: "k"}
			for range 3 {
				_, _ = b.Catalog.Call(t.Context(), app("a"), r)
			}
			if len(b.calls) != c.calls {
				t.Errorf("%d calls, want %d", len(b.calls), c.calls)
			}
		})
	}
}

func TestCallsWithOneKeyAtTheSameTimeAreOneCall(t *testing.T) {
	b := newBench(t)
	b.answer = func(context.Context, tool.Call) (tool.Result, error) { return succeed(`{"path":"/x"}`), nil }
	const keys, callers = 50, 4
	var wg sync.WaitGroup
	for i := range keys * callers {
		wg.Go(func() {
			r := Request{Tool: "fs_mkdir", Args: json.RawMessage(statArgs), IdempotencyKey: strconv.Itoa(i / callers)}
			if _, err := b.Catalog.Call(t.Context(), app("a"), r); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(b.calls) != keys {
		t.Errorf("%d calls ran, want %d", len(b.calls), keys)
	}
}

func chunk(c tool.Call, text string) {
	c.OnProgress(protocol.ToolProgress{Chunk: json.RawMessage(text)})
}

func TestPartsArriveInOrderOrAreCollected(t *testing.T) {
	b := newBench(t)
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
		chunk(c, `{"matches":[1,2]}`)
		c.OnProgress(protocol.ToolProgress{Tail: "x", Bytes: 1})
		chunk(c, `{"matches":[3]}`)
		return succeed(`{"path":"/x","count":3}`), nil
	}
	args := `{"target":{"node_id":"nas"},"path":"/x","pattern":"y"}`
	var got []string
	r, err := b.Catalog.Call(t.Context(), me, Request{Tool: "fs_grep", Args: json.RawMessage(args), Emit: func(_ context.Context, p job.Part) error {
		got = append(got, p.Kind+string(p.Data))
		return nil
	}})
	if want := `chunk{"matches":[1,2]} progress{"bytes":1,"tail":"x"} chunk{"matches":[3]}`; err != nil || strings.Join(got, " ") != want || strings.Contains(string(r.Data), "matches") {
		t.Errorf(`got %v, %s, %v; want no error, %v and no "matches" in Data`, got, r.Data, err, want)
	}
	if whole := b.must(me, "fs_grep", args); !strings.Contains(whole, `"matches":[1,2,3]`) || !strings.Contains(whole, `"count":3`) {
		t.Errorf("got %s; want `\"matches\":[1,2,3]` in it and `\"count\":3` in it", whole)
	}
}

func TestResultWithItsMatchesKeepsThem(t *testing.T) {
	b := newBench(t)
	const newestFirst = `{"path":"/x","matches":["/x/b","/x/a"],"count":2,"duration_ms":0}`
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
		chunk(c, `{"matches":["/x/a","/x/b"]}`)
		return succeed(newestFirst), nil
	}
	if got := b.must(me, "fs_glob", `{"target":{"node_id":"nas"},"path":"/x","pattern":"*"}`); got != newestFirst {
		t.Errorf("got %s, want %s", got, newestFirst)
	}
}

func TestDisconnectedReceiverEndsTheStream(t *testing.T) {
	b := newBench(t)
	stopped := make(chan struct{})
	b.answer = func(ctx context.Context, c tool.Call) (tool.Result, error) {
		chunk(c, `{"matches":[1]}`)
		<-ctx.Done()
		close(stopped)
		return tool.Result{}, ctx.Err()
	}
	_, err := b.Catalog.Call(t.Context(), me, Request{
		Tool: "fs_grep", Args: json.RawMessage(`{"target":{"node_id":"nas"},"path":"/x","pattern":"y"}`),
		Emit: func(context.Context, job.Part) error { return errors.New("gone") },
	})
	if f, _ := errors.AsType[*protocol.Fault](err); f == nil || f.Code != protocol.FaultCanceled {
		t.Errorf("got %v, want Code FaultCanceled", err)
	}
	<-stopped
}

func TestConcurrentStreamsAreLimited(t *testing.T) {
	b := newBench(t)
	b.config.API.Streams = 2
	release := make(chan struct{})
	started := make(chan struct{})
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		started <- struct{}{}
		<-release
		return succeed(`{}`), nil
	}
	args := `{"target":{"node_id":"nas"},"path":"/x","pattern":"y"}`
	ended := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := b.call(me, "fs_grep", args)
			ended <- err
		}()
		<-started
	}
	f := b.checkFault(me, "fs_grep", args, protocol.FaultResourceExhausted, "2 streams")
	if !f.Retryable || !strings.Contains(string(f.Details), "retry_after_ms") {
		t.Errorf(`got %+v; want Retryable and "retry_after_ms" in Details`, f)
	}
	close(release)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	go func() { <-started }()
	b.must(me, "fs_grep", args)
}

func TestWithdrawnCallIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		answered := waitForPerson(b)
		b.checkFault(app("a"), "fs_stat", statArgs, protocol.FaultApprovalRequired, "")
		withdraw := func(who string) protocol.FaultCode {
			_, err := b.jobs.Withdraw(t.Context(), app(who), "call")
			if err == nil {
				return ""
			}
			return err.(*protocol.Fault).Code
		}
		if code := withdraw("b"); code != protocol.FaultNotFound {
			t.Errorf("another app: got %s, want not_found", code)
		}
		if code := withdraw("a"); code != protocol.FaultCanceled {
			t.Errorf("got %q, want %q", code, protocol.FaultCanceled)
		}
		if code := withdraw("a"); code != protocol.FaultNotFound {
			t.Errorf("a second time: got %q, want not_found", code)
		}
		b.checkFault(app("a"), "fs_stat", statArgs, protocol.FaultApprovalRequired, "")
		answered <- succeed(`{"path":"/x"}`)
		synctest.Wait()
		if r, err := b.jobs.Withdraw(t.Context(), app("a"), "call"); err != nil || !strings.Contains(string(r.Data), "/x") {
			t.Errorf("a call that has run: got %s, error %v; want its result", r.Data, err)
		}
	})
}
