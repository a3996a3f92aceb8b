package transfer_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/tool"
)

// noTools is the list of tools of nodes without any.
type noTools struct{}

func (noTools) Lookup(name protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error) {
	return "", protocol.ToolSpec{}, protocol.ErrNotFound.With(string(name))
}

func (noTools) Call(context.Context, protocol.NodeID, protocol.ToolInvoke, func(protocol.ToolProgress)) (json.RawMessage, error) {
	return nil, protocol.ErrNotFound.With("no tools")
}

// oneTool is the tool Glob of node b, or nil.
type oneTool func(ctx context.Context) (json.RawMessage, error)

func (f oneTool) Lookup(name protocol.ToolName) (protocol.NodeID, protocol.ToolSpec, error) {
	if id, _, _ := name.Split(); f == nil || id != "b" {
		return noTools{}.Lookup(name)
	}
	return "", protocol.ToolSpec{}, nil
}

// Continue implements transfer.Authorizer.
func (f oneTool) Continue(ctx context.Context, _ tool.Step) (json.RawMessage, error) {
	return f(ctx)
}

// basicNode is a node that knows only the basic protocol. Its files are in memory, it truncates a
// destination when it accepts it, and it fails a test that sends it a field or an event of an
// extension.
type basicNode struct {
	t      *testing.T
	id     protocol.NodeID
	c      *client.Client
	stop   func()
	wg     sync.WaitGroup
	events chan func()
	// hook may be nil. It is called before each event and frame; true means that it has handled the
	// event.
	hook func(event string, id uint32) bool
	// meta, accept and done may be nil. They change the reports.
	meta, accept, done func(params map[string]any)

	mu      sync.Mutex // guards the fields below
	files   map[string]string
	folders []string // empty folders
	writes  map[uint32]string
	reads   map[uint32]string
	asked   []string // the received events
}

// newBasicNode connects a node with the tool Glob, or without any tool that lists files.
func newBasicNode(t *testing.T, r *testGateway, id string, glob bool) *basicNode {
	t.Helper()
	s := &basicNode{
		t: t, id: protocol.NodeID(id), files: make(map[string]string), writes: make(map[uint32]string), reads: make(map[uint32]string), events: make(chan func(), 1000),
	}
	tool, capability := "Read", protocol.CapRead
	if glob {
		tool, capability = "Glob", protocol.CapList
	}
	s.c = client.New(client.Options{URL: "ws://" + r.listen + "/ws", Token: "fl_transfer", Connect: func() protocol.ConnectParams {
		return protocol.ConnectParams{
			MinProtocol: 1, MaxProtocol: 1, Client: protocol.ClientInfo{ID: id, Mode: protocol.ModeNode}, Tools: []protocol.ToolSpec{{Name: tool}},
			NodeRuntime: &protocol.NodeRuntime{HostCapabilities: []string{capability}, ToolCapabilities: map[string][]string{tool: {capability}}},
		}
	}, OnEvent: s.event, OnFrame: s.frame})
	ctx, cancel := context.WithCancel(context.Background())
	s.wg.Go(func() { s.c.Run(ctx) })
	s.wg.Go(func() {
		for {
			select {
			case f := <-s.events:
				f()
			case <-ctx.Done():
				return
			}
		}
	})
	s.stop = sync.OnceFunc(func() { cancel(); s.wg.Wait() })
	t.Cleanup(s.stop)
	r.waitOnline(s.id)
	return s
}

// put and get access its files.
func (s *basicNode) put(name, content string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[name] = content
}

func (s *basicNode) get() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.files)
}

func (s *basicNode) eventCount(event string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, e := range s.asked {
		if e == event {
			n++
		}
	}
	return n
}

// report calls a method, and returns when the response has arrived.
func (s *basicNode) report(method string, id uint32, params map[string]any, change func(map[string]any)) {
	params["transferId"] = id
	if change != nil {
		change(params)
	}
	s.c.Peer().Report(context.Background(), method, params, true)
}

// send sends a file's bytes in frames of the given size.
func (s *basicNode) send(id uint32, content string, frame int) {
	for rest := content; len(rest) > 0; {
		n := min(len(rest), frame)
		stream.ReadFrame(bytes.NewReader(append(binary.LittleEndian.AppendUint32(nil, id), rest[:n]...)), func() {}, func(f *stream.Frame) {
			s.c.Peer().SendFrame(context.Background(), f)
		})
		rest = rest[n:]
	}
}

func (s *basicNode) frame(f *stream.Frame) {
	defer f.Free()
	if s.hook != nil && s.hook("frame", f.ID()) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if name, open := s.writes[f.ID()]; open {
		s.files[name] += string(f.Body())
	}
}

// basicPayload has every field of the transfer events in the basic protocol.
type basicPayload struct {
	TransferID uint32  `json:"transferId"`
	Path       string  `json:"path"`
	Size       *int64  `json:"size"`
	Mime       *string `json:"mime"`
}

func (s *basicNode) event(e protocol.EventFrame) {
	if e.Event == protocol.EventToolInvoke {
		s.glob(e.Payload)
		return
	}
	if !strings.HasPrefix(e.Event, "transfer.") {
		return
	}
	var p basicPayload
	d := json.NewDecoder(bytes.NewReader(e.Payload))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		s.t.Errorf("%s: got %s, want only fields of the basic protocol: %v", s.id, e.Payload, err)
	}
	s.mu.Lock()
	s.asked = append(s.asked, e.Event)
	s.mu.Unlock()
	if s.hook != nil && s.hook(e.Event, p.TransferID) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := p.TransferID
	switch e.Event {
	case protocol.EventTransferSend:
		content, there := s.files[p.Path]
		s.events <- func() {
			if !there {
				s.report("transfer.meta", id, map[string]any{"size": 0, "error": "Failed to read file " + p.Path + ": No such file or directory (os error 2)"}, s.meta)
				return
			}
			s.report("transfer.meta", id, map[string]any{"size": len(content)}, s.meta)
			s.mu.Lock() // from now on it handles transfer.start
			s.reads[id] = p.Path
			s.mu.Unlock()
		}
	case protocol.EventTransferStart:
		name, waits := s.reads[id]
		delete(s.reads, id)
		if content := s.files[name]; waits {
			s.events <- func() {
				s.send(id, content, 100_000)
				s.report("transfer.complete", id, map[string]any{}, nil)
			}
		}
	case protocol.EventTransferReceive:
		if p.Size == nil {
			s.t.Error("transfer.receive without a size")
		}
		s.writes[id], s.files[p.Path] = p.Path, ""
		s.events <- func() { s.report("transfer.accept", id, map[string]any{}, s.accept) }
	case protocol.EventTransferEnd:
		n := len(s.files[s.writes[id]])
		delete(s.writes, id)
		s.events <- func() { s.report("transfer.done", id, map[string]any{"bytesWritten": n}, s.done) }
	default:
		s.t.Errorf("%s: got event %s, want one of the basic protocol", s.id, e.Event)
	}
}

// glob implements the tool Glob, for literal paths and for everything below a folder.
func (s *basicNode) glob(payload json.RawMessage) {
	var call protocol.ToolInvoke
	var args struct{ Pattern string }
	json.Unmarshal(payload, &call)
	json.Unmarshal(call.Args, &args)
	s.mu.Lock()
	folders := slices.Clone(s.folders)
	var all []string
	for name := range s.files {
		all = append(all, name)
		for dir := path.Dir(name); dir != "." && dir != "/"; dir = path.Dir(dir) {
			folders = append(folders, dir)
		}
	}
	s.mu.Unlock()
	pattern, onlyFolders := strings.CutSuffix(args.Pattern, "/")
	all = append(all, folders...)
	if onlyFolders {
		all = folders
	}
	text := regexp.QuoteMeta(pattern)
	for _, c := range []string{`\[`, `\]`, `\*`, `\?`} {
		text = strings.ReplaceAll(text, `\[`+c+`\]`, "\x00"+c)
	}
	text = strings.ReplaceAll(strings.ReplaceAll(text, `/\*\*/\*`, `/.+`), "\x00", "")
	re := regexp.MustCompile("^" + text + "$")
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(name string) bool { return !re.MatchString(name) })
	if all == nil {
		all = []string{}
	}
	s.events <- func() {
		s.c.Peer().Report(context.Background(), "tool.result", map[string]any{"callId": call.CallID, "result": map[string]any{
			"pattern": args.Pattern, "basePath": "/ws", "matches": all, "count": len(all),
		}}, false)
	}
}
