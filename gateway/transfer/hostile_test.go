package transfer_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/transfer"
)

// liar is a machine that sends its file under a name that nobody requested.
type liar struct {
	dir  string
	name atomic.Value
}

func (l *liar) Source(string) (stream.Item, error) {
	root, err := os.OpenRoot(l.dir)
	return stream.Item{Root: root, At: "x", Name: l.name.Load().(string), Abs: "x"}, err
}

func (l *liar) Target(string, bool, bool) (stream.Target, error) {
	return stream.Target{}, os.ErrPermission
}

func TestHostileSourceCannotChooseNames(t *testing.T) {
	r := newRig(t, "b")
	evil := &liar{dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(evil.dir, "x"), []byte("ssh-ed25519 hostile"), 0o755); err != nil {
		t.Fatal(err)
	}
	var ends *stream.Ends
	c := client.New(client.Options{URL: "ws://" + r.listen + "/ws", Token: "fl_transfer", Connect: func() protocol.ConnectParams {
		return protocol.ConnectParams{
			MinProtocol: 1, MaxProtocol: 1, Client: protocol.ClientInfo{ID: "mallory", Mode: protocol.ModeNode}, Extensions: []string{protocol.ExtTransfer},
			Tools:       []protocol.ToolSpec{{Name: "Read"}},
			NodeRuntime: &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapRead}, ToolCapabilities: map[string][]string{"Read": {protocol.CapRead}}},
		}
	}, OnEvent: func(e protocol.EventFrame) { ends.Event(e.Event, e.Payload) }, OnFrame: func(f *stream.Frame) { ends.Binary(f) }})
	ends = stream.NewEnds(stream.Options{Files: evil, Peer: c.Peer()})
	t.Cleanup(ends.Close)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	r.online("mallory")
	for _, name := range []string{".ssh", ".bash_profile", ".ssh/authorized_keys", "docs/../.ssh", "../x", "/etc/x", "docs\x00", "docs:stream", "NUL", ""} {
		for _, destination := range []string{"b:in/", "b:in/docs", "gsv:in/"} {
			t.Run(name+" to "+destination, func(t *testing.T) {
				evil.name.Store(name)
				tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"mallory:docs"}, Destination: destination}).ID, time.Minute)
				if tr.State != protocol.TransferFailed || !strings.Contains(tr.Error, "mallory sent") {
					t.Errorf("got %s: %s, want an error that names the machine", tr.State, tr.Error)
				}
			})
		}
	}
	filepath.WalkDir(r.nodes["b"].dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("planted: %s", p)
		}
		return nil
	})
	evil.name.Store("docs")
	if tr := r.end(r.begin(protocol.TransferStartParams{Sources: []string{"mallory:docs"}, Destination: "b:in/"}).ID, time.Minute); tr.State != protocol.TransferDone {
		t.Errorf("the requested name: got %s: %s, want done", tr.State, tr.Error)
	}
}

// An agent sends a folder with a start-up file: the destination begins after the answer.
func TestAgentNeedsAnApprovalForStartupFiles(t *testing.T) {
	for _, session := range []protocol.SessionKey{"", "agent:main:main"} {
		t.Run("session "+string(session), func(t *testing.T) {
			onStage(t, none, func(s *stage) {
				size, received := int64(1), atomic.Bool{}
				s.comes("a", func(p *puppet, event string, id uint32) {
					if event == protocol.EventTransferSend {
						proceed, _ := s.e.Meta(p, protocol.TransferMetaParams{TransferID: &id, Size: &size, Files: 1, Startup: []string{"x/.envrc"}})
						proceed()
					}
				})
				s.comes("b", func(_ *puppet, event string, _ uint32) {
					received.Store(received.Load() || event == protocol.EventTransferReceive)
				})
				tr, err := s.e.Start(s.t.Context(), transfer.Request{Session: session, TransferStartParams: protocol.TransferStartParams{Sources: []string{"a:x"}, Destination: "b:y"}})
				if err != nil {
					t.Fatal(err)
				}
				rest(2 * time.Minute)
				if asks := session != ""; received.Load() == asks {
					t.Errorf("the destination began: %v, want %v", received.Load(), !asks)
				}
				s.e.Cancel(s.t.Context(), protocol.TransferParams{ID: tr.ID})
				synctest.Wait()
			})
		})
	}
}
