package transfer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// misnamingNode is a machine that sends its file under a name that nobody requested.
type misnamingNode struct {
	dir  string
	name atomic.Value
}

func (l *misnamingNode) Source(string) (stream.Item, error) {
	root, err := os.OpenRoot(l.dir)
	return stream.Item{Root: root, At: "x", Name: l.name.Load().(string), Abs: "x"}, err
}

func (l *misnamingNode) Target(string, bool, bool) (stream.Target, error) {
	return stream.Target{}, os.ErrPermission
}

func TestHostileSourceCannotChooseNames(t *testing.T) {
	r := newTestGateway(t, "b")
	evil := &misnamingNode{dir: t.TempDir()}
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
	r.waitOnline("mallory")
	for _, name := range []string{".ssh", ".bash_profile", ".ssh/authorized_keys", "docs/../.ssh", "../x", "/etc/x", "docs\x00", "docs:stream", "NUL", ""} {
		for _, destination := range []string{"b:in/", "b:in/docs", "gsv:in/"} {
			t.Run(name+" to "+destination, func(t *testing.T) {
				evil.name.Store(name)
				tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"mallory:docs"}, Destination: destination}).ID, time.Minute)
				if tr.State != protocol.TransferFailed || !strings.Contains(tr.Error, "mallory sent") {
					t.Errorf("got %s: %s, want an error that names the machine", tr.State, tr.Error)
				}
			})
		}
	}
	filepath.WalkDir(r.nodes["b"].dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			t.Errorf("got %s, want no file", p)
		}
		return nil
	})
	evil.name.Store("docs")
	if tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"mallory:docs"}, Destination: "b:in/"}).ID, time.Minute); tr.State != protocol.TransferDone {
		t.Errorf("the requested name: got %s: %s, want done", tr.State, tr.Error)
	}
}

// An agent or an app sends a folder with a start-up file: the destination begins after the answer.
func TestAgentsAndAppsNeedAnApprovalForStartupFiles(t *testing.T) {
	for _, by := range []transfer.Request{{}, {Session: "agent:main:main"}, {App: "app1"}} {
		t.Run(fmt.Sprintf("%q", string(by.Session)+string(by.App)), func(t *testing.T) {
			inBubble(t, doNothing, func(s *testEngine) {
				size, received := int64(1), atomic.Bool{}
				s.connectNode("a", func(p *scriptedNode, event string, id uint32) {
					if event == protocol.EventTransferSend {
						proceed, _ := s.e.Relays().Meta(p, protocol.TransferMetaParams{TransferID: &id, Size: &size, Files: 1, Startup: []string{"x/.envrc"}})
						proceed()
					}
				})
				s.connectNode("b", func(_ *scriptedNode, event string, _ uint32) {
					received.Store(received.Load() || event == protocol.EventTransferReceive)
				})
				by.TransferStartParams = protocol.TransferStartParams{Sources: []string{"a:x"}, Destination: "b:y"}
				tr, err := s.e.Start(s.t.Context(), by)
				if err != nil {
					t.Fatal(err)
				}
				advanceTime(2 * time.Minute)
				if asks := by.Session != "" || by.App != ""; received.Load() == asks {
					t.Errorf("the destination began: %v, want %v", received.Load(), !asks)
				}
				s.e.Cancel(s.t.Context(), protocol.TransferParams{ID: tr.ID})
				synctest.Wait()
			})
		})
	}
}

// A node that knows only the basic protocol reports no start-up files: the gateway finds them in
// its list of the folder.
func TestStartupFilesOfABasicSourceNeedAnApproval(t *testing.T) {
	for _, by := range []transfer.Request{{}, {Session: "agent:main:main"}, {App: "app1"}} {
		t.Run(fmt.Sprintf("%q", string(by.Session)+string(by.App)), func(t *testing.T) {
			inBubble(t, doNothing, func(s *testEngine) {
				s.kinds = nil
				lists := [][]string{{"/w/x/"}, {}, {"/w/x/notes.txt", "/w/x/.envrc"}}
				s.oneTool = func(context.Context) (json.RawMessage, error) {
					list := lists[0]
					lists = lists[1:]
					return protocol.Marshal(map[string]any{"matches": list})
				}
				began := atomic.Bool{}
				s.connectNode("b", func(_ *scriptedNode, event string, _ uint32) {
					began.Store(began.Load() || event == protocol.EventTransferSend)
				})
				s.connectNode("a", nil)
				by.TransferStartParams = protocol.TransferStartParams{Sources: []string{"b:/w/x"}, Destination: "a:y", Conflict: protocol.ConflictOverwrite}
				tr, err := s.e.Start(s.t.Context(), by)
				if err != nil {
					t.Fatal(err)
				}
				advanceTime(time.Second)
				if asks := by.Session != "" || by.App != ""; began.Load() == asks {
					t.Errorf("the source began: %v, want %v", began.Load(), !asks)
				}
				s.e.Cancel(s.t.Context(), protocol.TransferParams{ID: tr.ID})
				synctest.Wait()
			})
		})
	}
}

func TestStartupFilesToAndFromABasicNodeAreNamed(t *testing.T) {
	r := newTestGateway(t, "a")
	s := newBasicNode(t, r, "basic", true)
	for name, text := range map[string]string{"notes.txt": "1", ".git/hooks/post-merge": "2", "sub/.envrc": "3"} {
		s.put("/data/dir/"+name, text)
		writeFile(t, text, r.nodes["a"].dir, "in", "dir", filepath.FromSlash(name))
	}
	for source, destination := range map[string]string{"basic:/data/dir": "a:out", "a:in/dir": "basic:inbox"} {
		tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{source}, Destination: destination, Into: true}).ID, patience)
		var named []string
		for _, p := range tr.Problems {
			if strings.HasPrefix(p.Text, "start-up file") {
				named = append(named, p.Path)
			}
		}
		slices.Sort(named)
		if want := []string{"dir/.git", "dir/sub/.envrc"}; tr.State != protocol.TransferDone || tr.Failed != 0 || !slices.Equal(named, want) {
			t.Errorf("%s: got %s %q with %q, want %q", source, tr.State, tr.Error, named, want)
		}
	}
}
