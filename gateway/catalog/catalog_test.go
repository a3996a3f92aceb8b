package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

// bench is a catalog with two machines, whose tools the test answers.
type bench struct {
	*Catalog
	t        *testing.T
	jobs     *job.Jobs
	commands *job.Commands
	config   config.Config
	others   []protocol.NodeInfo // further machines
	networks []protocol.Network  // beside the default one
	refused  error               // of a change of the networks
	probed   error               // of a look at the target of a service
	serviceList

	mu        sync.Mutex // guards the fields below
	calls     []tool.Call
	steps     []tool.Step
	ended     []string // commands that were ended, or that it was tried to end
	dropped   []string // files whose parts were dropped
	used      []string
	endFail   error                     // of ending a command
	running   []string                  // commands on every machine
	hasAccess func(protocol.AppID) bool // nil: every app has it
	// answer is called for each call of the pipeline, and continued for each step after one.
	answer    func(ctx context.Context, c tool.Call) (tool.Result, error)
	continued func(s tool.Step) (json.RawMessage, error)
}

func newBench(t *testing.T) *bench {
	b := &bench{t: t, config: config.Default()}
	b.answer = func(context.Context, tool.Call) (tool.Result, error) { return succeed(`{}`), nil }
	b.jobs = job.New(func() config.Config { return b.config })
	b.commands = job.NewCommands(job.Options{Cleanup: b, HasAccess: func(id protocol.AppID) bool { return b.hasAccess == nil || b.hasAccess(id) }})
	b.Catalog = New(Options{
		Pipeline: b, Jobs: b.jobs, Commands: b.commands, Services: b, Probe: func(context.Context, protocol.NodeID, service.Target) error { return b.probed }, Registry: tool.NewRegistry(b, nil, nil), Config: func() config.Config { return b.config }, Networks: b, OwnerID: "u1", Version: "1.2.3",
		Used: func(id protocol.AppID, name string) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.used = append(b.used, string(id)+" "+name)
		},
	})
	t.Cleanup(b.Close)
	return b
}

// Close ends the calls and what they have opened.
func (b *bench) Close() {
	b.jobs.Close()
	b.commands.Close()
}

// succeed is the outcome of a call that returned this JSON.
func succeed(raw string) tool.Result {
	return tool.Result{Info: protocol.CallInfo{State: protocol.CallDone}, Raw: json.RawMessage(raw)}
}

func (b *bench) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	b.mu.Lock()
	b.calls = append(b.calls, c)
	id := protocol.CallID(fmt.Sprintf("call%d", len(b.calls)))
	answer := b.answer
	b.mu.Unlock()
	r, err := answer(ctx, c)
	r.Info.CallID = id
	return r, err
}

// Plan asks nothing: the calls of a batch are asked about one by one.
func (b *bench) Plan(context.Context, []tool.Call) (*tool.Plan, error) { return nil, nil }

func (b *bench) Nodes() []protocol.NodeInfo {
	list := []protocol.NodeInfo{
		{ID: "laptop", Name: "Laptop", Online: true, Local: true, Version: "1.2.3", Host: &protocol.HostInfo{
			Hostname: "lap", Address: "10.0.0.2:8788", System: &protocol.HostSystem{Platform: "debian", PlatformVersion: "12", KernelArch: "x86_64", Virtualization: "kvm/guest"},
		}},
		{ID: "nas", Online: true, Version: "1.0.0", LastSeenAt: 1, Platform: "linux-x64"},
		{ID: "old", Version: "2.0.0", LastSeenAt: 1},
		{ID: "new"},
		{ID: "twin1", Name: "twin", Online: true, ConnectedAt: 1},
		{ID: "twin2", Name: "twin", Online: true, ConnectedAt: 1},
		{ID: "pc", Online: true, Platform: "windows-x64", ConnectedAt: 1},
	}
	list = append(list, b.others...)
	for i := range list {
		list[i].Network = cmp.Or(list[i].Network, "net_1")
	}
	return list
}

func (b *bench) CheckCreate(string) error { return b.refused }

func (b *bench) CheckDelete(protocol.NetworkID) error { return b.refused }

func (b *bench) NetworkList() []protocol.Network {
	return append([]protocol.Network{{ID: "net_1", Name: "home", Index: 1, Default: true}}, b.networks...)
}

func (b *bench) Node(id protocol.NodeID) (protocol.NodeInfo, bool) {
	for _, n := range b.Nodes() {
		if n.ID == id {
			return n, true
		}
	}
	return protocol.NodeInfo{}, false
}

func (b *bench) Continue(_ context.Context, s tool.Step) (json.RawMessage, error) {
	b.mu.Lock()
	b.steps = append(b.steps, s)
	b.mu.Unlock()
	return b.continued(s)
}

func (b *bench) EndCommand(_ context.Context, _ protocol.NodeID, _, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = append(b.ended, id)
	return b.endFail
}

func (b *bench) DropFile(_ context.Context, _ protocol.NodeID, id string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dropped = append(b.dropped, id)
	return nil
}

func (b *bench) RunningCommands(context.Context, protocol.NodeID) ([]string, error) {
	return b.running, nil
}

func (b *bench) Lookup(protocol.ToolName) (id protocol.NodeID, spec protocol.ToolSpec, err error) {
	return id, spec, protocol.ErrNotFound
}

func (b *bench) Tools() []protocol.ToolSpec {
	return []protocol.ToolSpec{
		{Name: "gsv__ReadFile", Effect: protocol.EffectRead, InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "laptop__Bash", Effect: protocol.EffectExec, InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "nas__Bash", Effect: protocol.EffectExec, InputSchema: json.RawMessage(`{"type":"object"}`)},
		{Name: "laptop__fs_read", InputSchema: json.RawMessage(`{"type":"object"}`)},
	}
}

var me = auth.Owner("test")

// app returns an app with all scopes, or with those given.
func app(id string, scopes ...protocol.Scope) auth.Principal {
	if scopes == nil {
		scopes = protocol.AppScopes
	}
	return auth.App(protocol.App{ID: protocol.AppID(id), Name: "Editor", Scopes: scopes})
}

func (b *bench) call(p auth.Principal, name, args string) (job.Result, error) {
	return b.Catalog.Call(b.t.Context(), p, Request{Tool: name, Args: json.RawMessage(args)})
}

func (b *bench) must(p auth.Principal, name, args string) string {
	b.t.Helper()
	r, err := b.call(p, name, args)
	if err != nil {
		b.t.Fatalf("%s(%s): got error %v, want none", name, args, err)
	}
	return string(r.Data)
}

func (b *bench) checkFault(p auth.Principal, name, args string, code protocol.FaultCode, text string) *protocol.Fault {
	b.t.Helper()
	r, err := b.call(p, name, args)
	f, _ := errors.AsType[*protocol.Fault](err)
	if f == nil || f.Code != code || !strings.Contains(f.Message, text) {
		b.t.Errorf("%s(%s): got %s, %v, want %s %q", name, args, r.Data, err, code, text)
		return &protocol.Fault{}
	}
	return f
}

// last returns the last call of the pipeline.
func (b *bench) last() tool.Call {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.calls) == 0 {
		b.t.Fatal("nothing was called")
	}
	return b.calls[len(b.calls)-1]
}

func TestEveryToolIsDescribed(t *testing.T) {
	b := newBench(t)
	want := []string{
		"network_directory", "whoami", "net_peers", "net_interfaces", "net_metrics", "net_routes", "net_dns", "network_create", "network_delete", "service_publish", "service_update", "service_delete", "service_share", "provision_node", "deprovision_node", "register_node", "command", "file", "fs_read", "fs_write", "fs_edit", "fs_list", "fs_stat",
		"fs_delete", "fs_mkdir", "fs_glob", "fs_grep",
	}
	var names []string
	for _, x := range b.Catalog.Tools(me) {
		names = append(names, x.Name)
		if x.Title == "" || x.Description == "" && !strings.Contains(x.Name, "__") || x.Mode == "" || x.In == nil || x.Out == nil || x.In.Type != "object" || x.Out.Type != "object" {
			t.Errorf("%s: got %+v, want a title, a description, a mode and schemas of objects", x.Name, x)
		}
		if x.ReadOnly && x.Destructive {
			t.Errorf("%s: got read-only and destructive, want one of them at most", x.Name)
		}
		if strings.Contains(x.Name, "__") {
			continue
		}
		if x.In.AdditionalProperties == nil || x.Out.AdditionalProperties != nil {
			t.Errorf("%s: got open arguments %v and an open result %v, want false and true", x.Name, x.In.AdditionalProperties == nil, x.Out.AdditionalProperties == nil)
		}
		if raw, _ := json.Marshal(x.In); strings.Contains(string(raw), `"null"`) {
			t.Errorf("%s: got the schema %s, want none with null", x.Name, raw)
		}
		for name, p := range x.In.Properties {
			if p.Description == "" {
				t.Errorf("%s: got no description of %s, want one", x.Name, name)
			}
		}
	}
	if want = append(want, "gsv__ReadFile", "laptop__Bash", "nas__Bash"); !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

func TestBashAndCommandSayWhichToUse(t *testing.T) {
	for _, x := range newBench(t).Catalog.Tools(me) {
		for name, other := range map[string]string{"command": "MACHINE__Bash", "laptop__Bash": "`command`"} {
			if x.Name == name && !strings.Contains(x.Description, other) {
				t.Errorf("%s: got %q, want a word on %s", name, x.Description, other)
			}
		}
	}
}

func TestScopesDecideWhatAnAppSeesAndDoes(t *testing.T) {
	b := newBench(t)
	reader := app("a", protocol.ScopeFilesRead)
	var names []string
	for _, x := range b.Catalog.Tools(reader) {
		names = append(names, x.Name)
	}
	if want := []string{"whoami", "file", "fs_read", "fs_list", "fs_stat", "fs_glob", "fs_grep"}; !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	on := `{"target":{"node_id":"nas"},"path":"/x/y/z"`
	for name, args := range map[string]string{
		"fs_write": on + `}`, "command": `{}`, "network_directory": `{}`, "net_dns": `{}`, "nas__Bash": `{}`, "file": on + `,"op":"delete"}`,
	} {
		b.checkFault(reader, name, args, protocol.FaultForbidden, "scope")
	}
	f := b.checkFault(reader, "file", on+`,"op":"batch","ops":[{"op":"stat","path":"/x"},{"op":"mkdir","path":"/y"}]}`, protocol.FaultForbidden, "")
	if string(f.Details) != `{"granted_scopes":["fs.read"],"required_scopes":["fs.read","fs.write"]}` {
		t.Errorf("details: got %s, want Details `{\"granted_scopes\":[\"fs.read\"],\"required_scopes\":[\"fs.read\",\"fs.write\"]}`", f.Details)
	}
	b.must(reader, "file", on+`,"op":"stat"}`)
	if limited := (auth.App(protocol.App{ID: "n", Scopes: protocol.AppScopes, Nodes: []protocol.NodeID{"nas"}})); true {
		b.checkFault(limited, "fs_stat", `{"target":{"node_id":"laptop"},"path":"/x"}`, protocol.FaultTargetNotFound, "")
		if dir := b.must(limited, "network_directory", `{}`); strings.Contains(dir, "laptop") || !strings.Contains(dir, "nas") {
			t.Errorf("it sees %s, want nas and no laptop", dir)
		}
		for _, x := range b.Catalog.Tools(limited) {
			if strings.Contains(x.Name, "__") && x.Name != "nas__Bash" {
				t.Errorf("got the tool %s of another machine, want only its own", x.Name)
			}
		}
		for _, name := range []string{"laptop__Bash", "gsv__ReadFile", "none__Bash"} {
			b.checkFault(limited, name, `{}`, protocol.FaultNotFound, name)
			if err := b.Check(limited, Request{Tool: name}); err != nil {
				t.Errorf("checking %s: got error %v, want none, as for a tool that does not exist", name, err)
			}
		}
		b.must(limited, "nas__Bash", `{}`)
	}
	if !slices.Contains(b.used, "a file") {
		t.Errorf("counted calls: got %v, want a file", b.used)
	}
}

func TestTheExactSpellingOfAMachineWins(t *testing.T) {
	b := newBench(t)
	b.others = []protocol.NodeInfo{{ID: "NAS", Online: true, ConnectedAt: 1}}
	for name, want := range map[string]string{"nas": "nas", "NAS": "NAS"} {
		b.must(me, "fs_stat", `{"target":{"node_name":"`+name+`"},"path":"/x"}`)
		if c := b.last(); string(c.Tool) != want+"__fs_stat" {
			t.Errorf("%s: called %s, want %s", name, c.Tool, want)
		}
	}
	b.checkFault(me, "fs_stat", `{"target":{"node_name":"Nas"},"path":"/x"}`, protocol.FaultInvalidArgs, "use node_id")
}

func TestTargetsAreResolved(t *testing.T) {
	b := newBench(t)
	for target, want := range map[string]string{
		`{"node_id":"nas"}`: "nas", `{"node_name":"LAPTOP"}`: "laptop", `{"node_name":"twin1"}`: "twin1", `{"network_name":"Home","node_name":"Laptop"}`: "laptop", `{"network_name":"net_1","node_id":"nas","node_name":"nas"}`: "nas",
	} {
		b.must(me, "fs_stat", `{"target":`+target+`,"path":"/x"}`)
		if c := b.last(); string(c.Tool) != want+"__fs_stat" || string(c.Args) != `{"path":"/x"}` {
			t.Errorf("%s: called %s %s; want Tool %q and Args `{\"path\":\"/x\"}`", target, c.Tool, c.Args, want+"__fs_stat")
		}
	}
	for target, code := range map[string]protocol.FaultCode{
		`{}`: protocol.FaultInvalidArgs, `{"node_name":"twin"}`: protocol.FaultInvalidArgs, `{"node_id":"none"}`: protocol.FaultTargetNotFound, `{"network_name":"other","node_id":"nas"}`: protocol.FaultTargetNotFound,
		`{"node_id":"old"}`: protocol.FaultTargetUnreachable, `{"node_id":"nas","node_name":"Laptop"}`: protocol.FaultTargetNotFound,
	} {
		b.checkFault(me, "fs_stat", `{"target":`+target+`,"path":"/x"}`, code, "")
	}
	b.checkFault(me, "fs_stat", `{"path":"/x"}`, protocol.FaultInvalidArgs, "target")
	b.checkFault(me, "fs_stat", `{"target":{"node_id":"nas"},"path":"/x","other":1}`, protocol.FaultInvalidArgs, "other")
	b.checkFault(me, "fs_stat", `{"target":{"node_id":"nas"},"path":7}`, protocol.FaultInvalidArgs, "")
}

func TestDirectoryIsFiltered(t *testing.T) {
	b := newBench(t)
	ids := func(args string) string {
		var out directoryOut
		json.Unmarshal([]byte(b.must(me, "network_directory", args)), &out)
		var list []string
		for _, n := range out.Networks {
			for _, x := range n.Nodes {
				list = append(list, x.ID)
			}
		}
		return strings.Join(list, " ")
	}
	for args, want := range map[string]string{
		`{}`: "laptop nas old new twin1 twin2 pc", `{"online":false}`: "old new", `{"node_name_glob":"Lap*"}`: "laptop", `{"hostname_glob":"lap"}`: "laptop", `{"platform_glob":"deb*"}`: "laptop",
		`{"online":true,"node_name_glob":"n*"}`: "nas", `{"network_name":"other"}`: "",
		`{"network_name":"HOME","node_name_glob":"nas"}`: "nas", `{"network_name":"net_1","node_name_glob":"nas"}`: "nas",
	} {
		if got := ids(args); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
	for _, filter := range []string{"node_name_glob", "hostname_glob", "platform_glob"} {
		b.checkFault(me, "network_directory", `{"`+filter+`":"["}`, protocol.FaultInvalidArgs, "pattern")
	}
	all := b.must(me, "network_directory", `{}`)
	for _, want := range []string{
		`"hostname":"lap","agent_version":"1.2.3","version_status":"current","channel_version":"1.2.3","platform":"debian","platform_version":"12","kernel_arch":"x86_64","virtualization":"kvm/guest"}`,
		`"version_status":"behind","channel_version":"1.2.3","platform":"linux","platform_version":"","kernel_arch":""}`, `"version_status":"ahead"`, `{"id":"new","name":"new","online":false,"services":[]}`, `"name":"home","files_url":""`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("no %s in %s", want, all)
		}
	}
	if brief := b.must(me, "network_directory", `{"brief":true}`); strings.Contains(brief, "services") {
		t.Errorf("brief: got %s, want no services", brief)
	}
}

func TestVersionsAreCompared(t *testing.T) {
	for _, c := range []struct{ node, gateway, want string }{
		{"1.2.3", "1.2.3", "current"}, {"v1.2.3", "1.2.3", "current"}, {"1.2.2", "1.2.3", "behind"}, {"1.10.0", "1.9.0", "ahead"}, {"", "1.2.3", ""}, {"1.2.3", "", ""}, {"dev", "1.2.3", ""},
	} {
		if got := compareVersions(c.node, c.gateway); got != c.want {
			t.Errorf("%q with %q: got %q, want %q", c.node, c.gateway, got, c.want)
		}
	}
}

func TestSmallTools(t *testing.T) {
	b := newBench(t)
	if got := b.must(app("a"), "whoami", `{}`); got != `{"user_id":"u1","email":"owner@localhost"}` {
		t.Errorf("got %s, want `{\"user_id\":\"u1\",\"email\":\"owner@localhost\"}`", got)
	}
	b.config.Owner.Email = "ann@example.org"
	if got := b.must(me, "whoami", ``); got != `{"user_id":"u1","email":"ann@example.org"}` {
		t.Errorf("got %s, want `{\"user_id\":\"u1\",\"email\":\"ann@example.org\"}`", got)
	}
	peers := b.must(me, "net_peers", `{"target":{"node_id":"nas"}}`)
	if !strings.Contains(peers, `{"name":"Laptop","internal_ip":"10.0.0.2","dst_ip":"10.0.0.2","remote_id":"laptop","local":false}`) || !strings.Contains(peers, `"remote_id":"nas","local":true`) {
		t.Errorf("got %s; want `{\"name\":\"Laptop\",\"internal_ip\":\"10.0.0.2\",\"dst_ip\":\"10.0.0.2\",\"remote_id\":\"laptop\",\"local\":false}` in it and `\"remote_id\":\"nas\",\"local\":true` in it", peers)
	}
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) { return succeed(`{"count":3}`), nil }
	for _, name := range []string{"net_interfaces", "net_routes"} {
		if got := b.must(me, name, `{"target":{"node_id":"nas"}}`); !strings.Contains(got, `"count":3`) {
			t.Errorf("%s: got %s, want `\"count\":3` in it", name, got)
		}
	}
	b.must(me, "net_metrics", `{"target":{"node_id":"nas"}}`)
	b.must(me, "net_dns", `{"target":{"node_id":"nas"}}`)
}

func TestOwnerActsAndAnAppAsks(t *testing.T) {
	b := newBench(t)
	b.must(me, "fs_stat", `{"target":{"node_id":"nas"},"path":"/x"}`)
	if c := b.last(); !c.Direct || c.AskedBy != (protocol.AskedBy{}) {
		t.Errorf("the owner's call: got %+v, want it direct and asked by nobody else", c)
	}
	b.must(app("a"), "fs_stat", `{"target":{"node_id":"nas"},"path":"/x"}`)
	if c := b.last(); c.Direct || c.AskedBy != (protocol.AskedBy{Kind: protocol.AskedByApp, Name: "Editor"}) || c.Principal.App != "a" {
		t.Errorf("an app's call: got %+v, want it asked by the app Editor", c)
	}
}

func TestFailuresHaveCodes(t *testing.T) {
	b := newBench(t)
	info := func(state, text string, f *protocol.Fault) tool.Result {
		return tool.Result{Info: protocol.CallInfo{State: state, Error: text, Fault: f}}
	}
	for _, c := range []struct {
		name string
		r    tool.Result
		err  error
		code protocol.FaultCode
	}{
		{"denied", info(protocol.CallDenied, "Denied by a rule", nil), nil, protocol.FaultPermissionDenied},
		{"nobody answered", info(protocol.CallDenied, protocol.NobodyAnswered+" in time", nil), nil, protocol.FaultPermissionDenied},
		{"cancelled", info(protocol.CallCancelled, "Cancelled", nil), nil, protocol.FaultCanceled},
		{"with a code", info(protocol.CallFailed, "x", protocol.NewFault(protocol.FaultTooLarge, "x")), nil, protocol.FaultTooLarge},
		{"without a code", info(protocol.CallFailed, "oldString not found", nil), nil, protocol.FaultInvalidArgs},
		{"time-out", info(protocol.CallFailed, "x", protocol.NewFault(protocol.FaultTimeout, "x")), nil, protocol.FaultTimeout},
		{"of the gateway's tool", tool.Result{Raw: json.RawMessage(`{"ok":false,"error":"File not found: x"}`), Info: protocol.CallInfo{Node: protocol.NativePrefix, State: protocol.CallFailed}}, nil, protocol.FaultNotFound},
		{"missing file", info(protocol.CallFailed, "File not found: 'x'", nil), nil, protocol.FaultNotFound},
		{"drift", info(protocol.CallFailed, "APPROVAL_DRIFT: x", nil), nil, protocol.FaultFailedPrecondition},
		{"outside", info(protocol.CallFailed, "'/x' is outside the workspace", nil), nil, protocol.FaultPermissionDenied},
		{"offline", tool.Result{}, protocol.ErrUnavailable.With("gone"), protocol.FaultTargetUnreachable},
		{"timeout", tool.Result{}, fmt.Errorf("call: %w", protocol.ErrTimeout), protocol.FaultTimeout},
		{"no tool", tool.Result{}, protocol.ErrNotFound, protocol.FaultNotFound},
		{"arguments", tool.Result{}, protocol.ErrBadRequest, protocol.FaultInvalidArgs},
		{"a node's error", tool.Result{}, &tool.Failure{Text: "x", Fault: protocol.NewFault(protocol.FaultUnsupported, "x")}, protocol.FaultUnsupported},
		{"unknown", tool.Result{}, errors.New("secret detail"), protocol.FaultInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.answer = func(context.Context, tool.Call) (tool.Result, error) { return c.r, c.err }
			f := b.checkFault(me, "fs_stat", `{"target":{"node_id":"nas"},"path":"/x"}`, c.code, "")
			if strings.Contains(f.Message, "secret") {
				t.Errorf("got the message %q, want no secret in it", f.Message)
			}
			if f.Retryable != slices.Contains([]protocol.FaultCode{protocol.FaultTimeout, protocol.FaultTargetUnreachable, protocol.FaultInternal}, c.code) {
				t.Errorf("retryable: got %v, want %v", f.Retryable, slices.Contains([]protocol.FaultCode{protocol.FaultTimeout, protocol.FaultTargetUnreachable, protocol.FaultInternal}, c.code))
			}
		})
	}
	lost := protocol.NewFault(protocol.FaultTargetUnreachable, "gone")
	lost.Retryable = false
	for want, r := range map[protocol.FaultCode]tool.Result{
		protocol.FaultTargetUnreachable: info(protocol.CallUnknown, "gone", lost), protocol.FaultInternal: info(protocol.CallUnknown, "It may have happened.", nil),
	} {
		b.answer = func(context.Context, tool.Call) (tool.Result, error) { return r, nil }
		if f := b.checkFault(me, "fs_stat", `{"target":{"node_id":"nas"},"path":"/x"}`, want, r.Info.Error); f.Retryable {
			t.Errorf("%s: a call of unknown outcome is retryable", want)
		}
	}
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		return info(protocol.CallDenied, protocol.NobodyAnswered+" in time", nil), nil
	}
	b.checkFault(me, "fs_stat", `{"target":{"node_id":"nas"},"path":"/x"}`, protocol.FaultPermissionDenied, "owner did not answer in time")
	for code := range statuses {
		if HTTPStatus(code) < 400 {
			t.Errorf("%s: status %d, want at least 400", code, HTTPStatus(code))
		}
	}
	if HTTPStatus("new") != 500 {
		t.Errorf("an unknown code: got %d, want 500", HTTPStatus("new"))
	}
}

func TestRateLimitsAreOffUntilTheyAreSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		stat := func(p auth.Principal, node string) error {
			_, err := b.call(p, "fs_stat", `{"target":{"node_id":"`+node+`"},"path":"/x"}`)
			return err
		}
		for range 100 {
			if err := stat(app("a"), "nas"); err != nil {
				t.Fatal(err)
			}
		}
		limit := config.RateLimit{PerMinute: 60, Burst: 2}
		for axis, set := range map[string]func(config.RateLimit){
			"app":     func(l config.RateLimit) { b.config.API.Limits.App = l },
			"machine": func(l config.RateLimit) { b.config.API.Limits.Machine = l },
			"tool":    func(l config.RateLimit) { b.config.API.Limits.Tool = l },
		} {
			set(limit)
			stat(app("a"), "nas")
			stat(app("a"), "nas")
			f, _ := errors.AsType[*protocol.Fault](stat(app("a"), "nas"))
			if f == nil || f.Code != protocol.FaultRateLimited || !f.Retryable || !strings.Contains(f.Message, axis) || !strings.Contains(string(f.Details), "retry_after_ms") {
				t.Errorf(`%s: got %+v; want Code FaultRateLimited, Retryable, %v in Message and "retry_after_ms" in Details`, axis, f, axis)
			}
			other := stat(app("b"), "laptop")
			if (other == nil) != (axis != "tool") {
				t.Errorf("%s: another app on another machine: got error %v, want one only for the limit of the tool", axis, other)
			}
			time.Sleep(time.Second)
			if err := stat(app("a"), "nas"); err != nil {
				t.Errorf("%s: after a second: got error %v, want none", axis, err)
			}
			time.Sleep(time.Minute)
			set(config.RateLimit{})
		}
	})
}

func TestExtraToolsReturnObjects(t *testing.T) {
	b := newBench(t)
	b.answer = func(context.Context, tool.Call) (tool.Result, error) { return succeed(`"text"`), nil }
	if got := b.must(app("a"), "nas__Bash", `{"command":"ls"}`); got != `{"result":"text"}` {
		t.Errorf("got %s, want `{\"result\":\"text\"}`", got)
	}
	b.answer = func(context.Context, tool.Call) (tool.Result, error) { return succeed(`null`), nil }
	if got := b.must(app("a"), "nas__Bash", `{"command":"ls"}`); got != `{"result":null}` {
		t.Errorf("got %s, want `{\"result\":null}`", got)
	}
	b.checkFault(app("a"), "nas__fs_read", `{}`, protocol.FaultNotFound, "no tool")
	b.checkFault(app("a"), "", `{}`, protocol.FaultNotFound, "no tool")
}

func TestArgumentsMustBeUTF8(t *testing.T) {
	b := newBench(t)
	b.checkFault(me, "fs_stat", "{\"target\":{\"node_id\":\"nas\"},\"path\":\"/a\xff\"}", protocol.FaultInvalidArgs, "UTF-8")
	if len(b.calls) != 0 {
		t.Errorf("got calls %v, want none", b.calls)
	}
}
