package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// files are the files of the machine nas, by their paths, with their content.
type files struct {
	mu      sync.Mutex // guards the fields below
	content map[string]string
	failing error // of each look
	looks   int
}

func (f *files) set(path, content string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.content[path] = content
}

func (f *files) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failing = err
}

func (f *files) lookCount() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.looks
}

// state returns the state of a file; the ID of the call that allowed it is its machine and its
// path.
func (f *files) state(call protocol.CallID) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.looks++
	machine, path, _ := strings.Cut(string(call), " ")
	if machine != "nas" {
		return "", protocol.NewFault(protocol.FaultTargetNotFound, "no such machine")
	}
	return f.content[path], f.failing
}

// withFiles makes the server's machine have files. Those below /private need an answer of the
// person, which is no.
func withFiles(b *bench) *files {
	f := &files{content: map[string]string{"/a.txt": "1", "/b.txt": "1"}}
	b.observe = f.state
	inner := b.fake.call
	b.answer(func(ctx context.Context, p auth.Principal, r catalog.Request) (job.Result, error) {
		if r.Tool == "fs_stat" && strings.Contains(string(r.Args), "/private") {
			return job.Result{}, protocol.NewFault(protocol.FaultPermissionDenied, "the owner said no")
		}
		out, err := inner(ctx, p, r)
		if r.Tool == "fs_stat" {
			var in struct {
				Target struct {
					NodeName string `json:"node_name"`
				}
				Path string
			}
			if err := json.Unmarshal(r.Args, &in); err != nil {
				return out, err
			}
			out.Call = protocol.CallID(in.Target.NodeName + " " + in.Path)
		}
		return out, err
	})
	return f
}

const (
	fileA = "fairlead://nas/file/a.txt"
	fileB = "fairlead://nas/file/b.txt"
)

func TestSubscribersAreNotifiedOfChangedFiles(t *testing.T) {
	eras(t, func(t *testing.T, b *bench, legacy bool) {
		f := withFiles(b)
		w := watch(t, b, "reader", legacy, fileA, fileB)
		for _, content := range []string{"2", ""} { // the second time, the file is removed
			f.set("/b.txt", content)
			if got := w.next(t); got != fileB {
				t.Errorf("got a notification of %s, want %s", got, fileB)
			}
		}
		f.fail(protocol.NewFault(protocol.FaultTargetUnreachable, "nas is offline"))
		f.set("/a.txt", "2")
		for n := f.lookCount(); f.lookCount() < n+4; { // both files are looked at twice
			w.Ping(t.Context(), nil)
		}
		f.fail(nil)
		if got := w.next(t); got != fileA {
			t.Errorf("after the machine is back: got a notification of %s, want %s", got, fileA)
		}
		if n := len(w.updated); n != 0 {
			t.Errorf("got %d further notifications, want none", n)
		}
	})
}

func TestFileIsNotLookedAtAfterUnsubscribing(t *testing.T) {
	for name, end := range map[string]func(w *watcher){
		"unsubscribe": func(w *watcher) { w.Unsubscribe(context.Background(), &sdk.UnsubscribeParams{URI: fileA}) },
		"close":       func(w *watcher) { w.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			b := serve(t)
			withFiles(b)
			w := watch(t, b, "reader", true, fileA)
			c := b.mcp.all()[0]
			if !c.isWatchable(fileA) {
				t.Fatal("the file is not watched")
			}
			end(w)
			c.files.begin(slices.Collect(c.server.Sessions()))
			if c.isWatchable(fileA) {
				t.Error("the file is still watched")
			}
		})
	}
}

func TestFilesThatMayNotBeReadCannotBeWatched(t *testing.T) {
	b := serve(t)
	f := withFiles(b)
	s := b.connect(t, "reader", nil, true)
	for _, uri := range []string{"fairlead://nas/file/private/key", "fairlead://other/file/a.txt", "fairlead://nas/file/", "https://example.com/file/a"} {
		if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err == nil {
			t.Errorf("%s: got a subscription, want an error", uri)
		}
	}
	if n := f.lookCount(); n != 1 { // at the file of the other machine, whose fs_stat the fake allows
		t.Errorf("looked at %d files, want 1", n)
	}
	const listen = `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["fairlead://nas/file/private/key"]},` + modernMeta + `}}`
	_, body := post(t, b, "reader", "", listen, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	if !strings.Contains(body, `"notifications":{}`) {
		t.Errorf("got %s, want no notifications acknowledged", body)
	}
}

func TestNumberOfWatchedFilesIsLimited(t *testing.T) {
	b := serve(t)
	withFiles(b)
	s := b.connect(t, "reader", nil, true)
	for i := range maxWatchedFiles {
		if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fmt.Sprintf("fairlead://nas/file/%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fileA})
	if err == nil || !strings.Contains(err.Error(), "64 files already: unsubscribe") {
		t.Errorf("got error %v, want that 64 files are watched", err)
	}
	s.Unsubscribe(t.Context(), &sdk.UnsubscribeParams{URI: "fairlead://nas/file/0"})
	if err := s.Subscribe(t.Context(), &sdk.SubscribeParams{URI: fileA}); err != nil {
		t.Errorf("after unsubscribing from one: %v", err)
	}
}

func TestNarrowedTokenIsNotNotifiedOfFiles(t *testing.T) {
	b := serve(t)
	withFiles(b)
	w := watch(t, b, "reader", true, fileA)
	b.scopes.Store(&map[string][]protocol.Scope{"reader": {protocol.ScopeNetworkRead}})
	if err := w.Ping(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	c := b.mcp.all()[0]
	for range 100 {
		if !c.isWatchable(fileA) {
			return
		}
		time.Sleep(pollTime / 10)
	}
	t.Error("the file is still watched")
}
