//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/gatewaytest"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// window is a client that shows approvals: it follows the feed and records when each approval was
// opened and closed.
type window struct {
	*client.Client
	ready chan struct{}
	once  sync.Once

	mu     sync.Mutex // guards the fields below
	begun  int        // the number of snapshots; changes around one may arrive twice
	open   map[protocol.QuestionID]protocol.Question
	closed map[protocol.QuestionID]bool
	ends   map[protocol.QuestionID]int
	asked  func(protocol.Question)
}

func (w *window) follow(ctx context.Context) {
	w.Feed(ctx, func(s protocol.FeedSnapshot) {
		w.begin(s.Questions)
		w.once.Do(func() { close(w.ready) })
	}, func(c protocol.Change) {
		if c.Kind == protocol.ChangeQuestion {
			w.addQuestion(*c.Question)
		}
	})
}

// begin takes the pending approvals of a snapshot, at first and when the client was too slow for
// every change: an approval that is not pending any more was closed.
func (w *window) begin(open []protocol.Question) {
	pending := map[protocol.QuestionID]bool{}
	for _, a := range open {
		pending[a.ID] = true
		w.addQuestion(a)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun++
	for id := range w.open {
		if !pending[id] {
			w.closed[id] = true
		}
	}
}

func (w *window) addQuestion(a protocol.Question) {
	w.mu.Lock()
	_, known := w.open[a.ID]
	w.open[a.ID] = a
	if a.State != protocol.QuestionPending {
		w.closed[a.ID] = true
		w.ends[a.ID]++
	}
	w.mu.Unlock()
	if !known && a.State == protocol.QuestionPending {
		w.asked(a)
	}
}

// machine connects a node with one tool that answers at once and counts its commands.
func machine(ctx context.Context, t *testing.T, wg *sync.WaitGroup, url, token, id string, ran func(command string)) {
	t.Helper()
	up := make(chan struct{}, 8)
	var c *client.Client
	c = client.New(client.Options{
		URL: url, Token: token, Logger: slog.New(slog.DiscardHandler),
		OnUp: func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
		Connect: func() protocol.ConnectParams {
			p := gateway.ClientParams(id)
			p.Client.Mode = protocol.ModeNode
			p.Tools = []protocol.ToolSpec{{
				Name: "Bash", Effect: protocol.EffectExec,
				InputSchema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}}}`),
			}}
			p.NodeRuntime = &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapExec}, ToolCapabilities: map[string][]string{"Bash": {protocol.CapExec}}}
			return p
		},
		OnEvent: func(e protocol.EventFrame) {
			var inv protocol.ToolInvoke
			if e.Event != protocol.EventToolInvoke || json.Unmarshal(e.Payload, &inv) != nil {
				return
			}
			var args struct{ Command string }
			json.Unmarshal(inv.Args, &args)
			ran(args.Command)
			wg.Go(func() {
				client.Call(ctx, c, protocol.ReturnResult, protocol.ToolResultParams{CallID: inv.CallID, Result: json.RawMessage(`{"status":"completed","exitCode":0}`)})
			})
		},
	})
	wg.Go(func() { c.Run(ctx) })
	<-up
}

// Test200QuestionsFrom5MachinesIn3Windows answers everything at once from everywhere: none is lost,
// none is answered twice, and all are closed in all windows.
func Test200QuestionsFrom5MachinesIn3Windows(t *testing.T) {
	const chats, machines, windows = 40, 5, 3
	const questions = chats * machines
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "kill-test")
	g, stopGateway := gatewaytest.Start(t, t.TempDir(), "127.0.0.1:0")
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer func() {
		cancel()
		wg.Wait()
		stopGateway()
	}()

	var mu sync.Mutex // guards the variables below
	ran := map[string]int{}
	won := map[protocol.QuestionID]bool{}
	allowed := 0
	for i := range machines {
		machine(ctx, t, &wg, g.URL(), "kill-test", fmt.Sprintf("m%d", i), func(command string) {
			mu.Lock()
			defer mu.Unlock()
			ran[command]++
		})
	}
	var all []*window
	var answers sync.WaitGroup // the late ones among them, too, need their connection
	everything := make(chan struct{})
	for i := range windows {
		c, stop := dial(t, g.URL())
		defer stop()
		w := &window{
			Client: c, ready: make(chan struct{}), open: map[protocol.QuestionID]protocol.Question{}, closed: map[protocol.QuestionID]bool{},
			ends: map[protocol.QuestionID]int{},
		}
		w.asked = func(a protocol.Question) {
			answers.Go(func() {
				select {
				case <-everything: // all approvals are pending: now everybody answers everything
				case <-ctx.Done():
					return
				}
				decision := protocol.DecisionAllow
				if len(a.ID) > 0 && a.ID[0]%2 == 0 {
					decision = protocol.DecisionDeny
				}
				r, err := client.Call(ctx, w.Client, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: a.ID, Hash: a.Hash, Decision: decision})
				if err != nil {
					t.Errorf("window %d: %v", i, err)
					return
				}
				if r.Question.State == protocol.QuestionPending {
					t.Error("an answered question is said to be pending")
				}
				mu.Lock()
				defer mu.Unlock()
				if !r.Won {
					return
				}
				if won[a.ID] {
					t.Errorf("question %s was answered twice", a.ID)
				}
				won[a.ID] = true
				if decision == protocol.DecisionAllow {
					allowed++
				}
			})
		}
		all = append(all, w)
		wg.Go(func() { w.follow(ctx) })
		<-w.ready
	}
	for i := range questions {
		wg.Go(func() {
			p := protocol.ChatSendParams{SessionKey: protocol.SessionKey(fmt.Sprintf("agent:main:app:chat:%d", i)), Message: fmt.Sprintf("run echo %d on m%d", i, i%machines)}
			if _, err := client.Call(ctx, all[i%windows].Client, protocol.ChatSend, p); err != nil {
				t.Errorf("chat %d: %v", i, err)
			}
		})
	}
	polltest.Until(t, "every question is open in every window", func() bool {
		for _, w := range all {
			if w.count() < questions {
				return false
			}
		}
		return true
	})
	close(everything)
	polltest.Until(t, "every question is closed in every window and every allowed command ran", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, w := range all {
			w.mu.Lock()
			n := len(w.closed)
			w.mu.Unlock()
			if n < questions {
				return false
			}
		}
		return len(won) == questions && len(ran) == allowed
	})
	answers.Wait()
	mu.Lock()
	defer mu.Unlock()
	for _, w := range all {
		w.mu.Lock()
		if len(w.open) != questions {
			t.Errorf("a window saw %d questions, want %d", len(w.open), questions)
		}
		for id := range w.closed {
			if w.ends[id] != 1 && w.begun == 1 {
				t.Errorf("a window saw question %s end %d times", id, w.ends[id])
			}
		}
		w.mu.Unlock()
	}
	for command, n := range ran {
		if n != 1 {
			t.Errorf("%q ran %d times, want 1", command, n)
		}
	}
	if allowed == 0 || allowed == questions {
		t.Errorf("%d of %d were allowed: the test needs both answers", allowed, questions)
	}
}

func (w *window) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.open)
}

// TestAnswerAfterAKillRunsOnce kills the gateway during an approval. The approval is pending again,
// two windows answer it, and the command runs once.
func TestAnswerAfterAKillRunsOnce(t *testing.T) {
	home := t.TempDir()
	first := startChild(t, home)
	conn, stop := dial(t, first.url)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if _, err := client.Call(ctx, conn, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "run echo x >> once.txt"}); err != nil {
		t.Fatal(err)
	}
	pending := func(c *client.Client) (a protocol.Question) {
		polltest.Until(t, "the question is open", func() bool {
			r, err := client.Call(ctx, c, protocol.QuestionList, protocol.Empty{})
			if err == nil && len(r.Questions) == 1 {
				a = r.Questions[0]
			}
			return a.ID != ""
		})
		return a
	}
	before := pending(conn)
	first.kill()
	stop()

	second := startChild(t, home)
	defer second.kill()
	var wg sync.WaitGroup
	wins := make(chan bool, 2)
	var windows []*client.Client
	for range 2 {
		c, stop := dial(t, second.url)
		defer stop()
		windows = append(windows, c)
	}
	a := pending(windows[0])
	if a.ID != before.ID || a.Hash != before.Hash {
		t.Errorf("asked %s %s, then %s %s; want the same question", before.ID, before.Hash, a.ID, a.Hash)
	}
	for _, c := range windows {
		wg.Go(func() {
			r, err := client.Call(ctx, c, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: a.ID, Hash: a.Hash, Decision: protocol.DecisionAllow})
			if err != nil {
				t.Error(err)
			}
			wins <- r.Won
		})
	}
	wg.Wait()
	if one, other := <-wins, <-wins; one == other {
		t.Error("not exactly one answer won")
	}
	file := filepath.Join(home, "once.txt")
	polltest.Until(t, "the command ran", func() bool {
		data, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(data), "x")
	})
	third, stop := dial(t, second.url)
	defer stop()
	polltest.Until(t, "the run is over", func() bool {
		s, err := client.Call(ctx, third, protocol.FeedSubscribe, protocol.Empty{})
		return err == nil && len(s.Runs) == 0
	})
	if data, err := os.ReadFile(file); err != nil || strings.Count(string(data), "x") != 1 {
		t.Errorf(`got %q %v; want no error and "x" 1 times`, data, err)
	}
}
