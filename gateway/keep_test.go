//go:build unix

package gateway_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/gatewaytest"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/baseline"
	"fairlead/node/floor"
	"fairlead/node/workspace"
)

// startBoth starts a gateway and its node until stop.
func startBoth(t *testing.T, home, work string) (owner *client.Client, stop func()) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	gw, stopGateway := gatewaytest.Start(t, home, "none")
	n, err := node.New(node.Options{ID: "laptop", Workspace: work, Home: filepath.Join(home, "node"), Dial: gw.Dial, Logger: log, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	owner, stopOwner := gatewaytest.Owner(t, gw, nil)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { n.Run(ctx) })
	stop = sync.OnceFunc(func() {
		stopOwner()
		cancel()
		wg.Wait()
		stopGateway()
	})
	t.Cleanup(stop)
	return owner, stop
}

// killAfterCommand leaves a node's records as if it had been killed after a command, before its
// look.
func killAfterCommand(t *testing.T, home, work string, files ...string) {
	t.Helper()
	ws, err := workspace.Open(work)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	store, err := baseline.New(filepath.Join(home, "node", "protected"), ws, &floor.List{}, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	store.Begin(baseline.Command{ID: "1", Call: "c1", Text: "npm install"})
	for _, rel := range files {
		path := filepath.Join(work, rel)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

func TestThePersonDecidesWhatACommandMayKeep(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "gateway-token-of-the-test")
	for answer, isKept := range map[string]bool{protocol.DecisionAllow: true, protocol.DecisionDeny: false} {
		t.Run(answer, func(t *testing.T) {
			home, work := t.TempDir(), t.TempDir()
			hook := filepath.Join(work, ".husky", "pre-commit")
			killAfterCommand(t, home, work, ".husky/pre-commit", ".husky/pre-push")
			owner, stop := startBoth(t, home, work)
			q := question(t, owner)
			if _, err := os.Stat(hook); err == nil {
				t.Error("the file is there before the answer")
			}
			if !q.Floor || len(q.Offers) > 0 || len(q.Choices) != 1 || !strings.Contains(q.Why, "“npm install” created ") || !strings.Contains(q.Why, "which runs at your next commit, and 1 more file") {
				t.Errorf(`got question %q with choices %v and offers %v; want Floor, no Offers, Choices of length 1, "“npm install” created " in Why and "which runs at your next commit, and 1 more file" in Why`, q.Why, q.Choices, q.Offers)
			}
			if q.Preview == nil || !strings.Contains(q.Preview.Diff, "+#!/bin/sh") {
				t.Errorf("the question shows no diff: %+v", q.Preview)
			}
			stop()
			owner, _ = startBoth(t, home, work)
			again := question(t, owner)
			if again.ID != q.ID {
				t.Errorf("question after a restart: got %s, want %s", again.ID, q.ID)
			}
			if _, err := client.Call(t.Context(), owner, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Decision: answer, Hash: again.Hash}); err != nil {
				t.Fatal(err)
			}
			polltest.Until(t, "the answer has its effect", func() bool {
				r, err := client.Call(t.Context(), owner, protocol.QuestionList, protocol.Empty{})
				_, missing := os.Stat(filepath.Join(work, ".husky", "pre-push"))
				return err == nil && len(r.Questions) == 0 && (missing == nil) == isKept
			})
			for _, name := range []string{hook, filepath.Join(work, ".husky", "pre-push")} {
				if data, err := os.ReadFile(name); (err == nil && string(data) == "#!/bin/sh\n") != isKept {
					t.Errorf("%s after %s: got %q (%v), want the change kept: %v", name, answer, data, err, isKept)
				}
			}
		})
	}
}

func question(t *testing.T, owner *client.Client) (q protocol.Question) {
	t.Helper()
	polltest.Until(t, "a question", func() bool {
		r, err := client.Call(t.Context(), owner, protocol.QuestionList, protocol.Empty{})
		if err == nil && len(r.Questions) == 1 {
			q = r.Questions[0]
		}
		return q.ID != ""
	})
	return q
}
