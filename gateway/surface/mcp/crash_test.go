package mcp

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/peer/crash/crashtest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// surfaces runs a test with clients over HTTP and over standard input and output, of both kinds.
func surfaces(t *testing.T, test func(t *testing.T, b *bench, connect func(o *sdk.ClientOptions) *sdk.ClientSession)) {
	t.Helper()
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		t.Run("http", func(t *testing.T) {
			test(t, b, func(o *sdk.ClientOptions) *sdk.ClientSession { return b.connect(t, "all", o, legacy) })
		})
		t.Run("stdio", func(t *testing.T) {
			test(t, b, func(o *sdk.ClientOptions) *sdk.ClientSession { return b.overStdio(t, "all", o, legacy) })
		})
	})
}

func TestPanicFailsOneCall(t *testing.T) {
	surfaces(t, func(t *testing.T, b *bench, connect func(o *sdk.ClientOptions) *sdk.ClientSession) {
		s := connect(nil)
		b.answer(func(_ context.Context, _ auth.Principal, r catalog.Request) (job.Result, error) {
			if r.Tool == "fs_stat" {
				panic("the tool is broken")
			}
			return job.Result{Data: []byte(`{}`)}, nil
		})
		if r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "fs_stat", Arguments: map[string]any{}}); err == nil || strings.Contains(err.Error(), "broken") {
			t.Errorf("the call that panics: got %+v, %v, want an error without the panic's value", r, err)
		}
		if r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "whoami", Arguments: map[string]any{}}); err != nil || r.IsError {
			t.Errorf("the next call: got %+v, error %v, want no error", r, err)
		}
	})
}

func TestProgressTokenCanBeAnyJSON(t *testing.T) {
	surfaces(t, func(t *testing.T, b *bench, connect func(o *sdk.ClientOptions) *sdk.ClientSession) {
		var mu sync.Mutex
		s := connect(nil)
		var emits bool
		b.answer(func(ctx context.Context, _ auth.Principal, r catalog.Request) (job.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			if emits = r.Emit != nil; emits {
				r.Emit(ctx, job.Part{Kind: job.PartChunk, Data: []byte(`{}`)})
			}
			return job.Result{Data: []byte(`{}`)}, nil
		})
		for _, token := range []any{2, -1, 2.5, 1e300, uint64(1<<64 - 1), "", "a\x00", true, []any{}, []any{1, nil}, map[string]any{}, map[string]any{"a": 1}, nil} {
			r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "whoami", Arguments: map[string]any{}, Meta: sdk.Meta{"progressToken": token}})
			if err != nil || r.IsError {
				t.Errorf("token %#v: got %+v, error %v, want no error", token, r, err)
			}
			if mu.Lock(); emits != (token != nil) {
				t.Errorf("token %#v: got progress %v, want %v", token, emits, token != nil)
			}
			mu.Unlock()
		}
	})
}

func TestPanicFailsOneNotification(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		log := crashtest.Watch(t)
		w := watch(t, b, "all", legacy, "fairlead://machines")
		b.machines.mu.Lock()
		b.machines.list = append(b.machines.list, protocol.NodeInfo{ID: "laptop"})
		b.machines.broken = true
		b.machines.mu.Unlock()
		b.bus.Publish(node("laptop", true, 0))
		log.Until(1, "notifications of resources")
		b.bus.Publish(node("laptop", false, 0))
		<-w.listed
	})
}

func TestPanicFailsOneLookAtWatchedFiles(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		log := crashtest.Watch(t)
		f := withFiles(b)
		var looks atomic.Int64
		b.observe = func(call protocol.CallID) (string, error) {
			if looks.Add(1) == 2 { // the first is that of the subscription
				panic("broken")
			}
			return f.state(call)
		}
		w := watch(t, b, "reader", legacy, fileA)
		log.Until(1, "mcp.")
		f.set("/a.txt", "2")
		if got := w.next(t); got != fileA {
			t.Errorf("after the panic: got a notification of %s, want %s", got, fileA)
		}
	})
}
