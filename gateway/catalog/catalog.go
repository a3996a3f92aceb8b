package catalog

import (
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Pipeline runs tool calls ([tool.Pipeline]).
type Pipeline interface {
	Run(ctx context.Context, c tool.Call) (tool.Result, error)
	Continue(ctx context.Context, s tool.Step) (json.RawMessage, error)
}

// Cleanup ends what calls have left on machines ([tool.Cleanup]).
type Cleanup interface {
	EndCommand(ctx context.Context, node protocol.NodeID, tool, id string) error
	DropFile(ctx context.Context, node protocol.NodeID, id string) error
	RunningCommands(ctx context.Context, node protocol.NodeID) (ids []string, err error)
}

// Machines are the machines ([nodes.Hub]).
type Machines interface {
	Nodes() []protocol.NodeInfo
	Node(id protocol.NodeID) (protocol.NodeInfo, bool)
}

// Options are the parts that a [Catalog] uses.
type Options struct {
	Pipeline Pipeline
	Cleanup  Cleanup
	Machines Machines
	Registry interface{ Tools() []protocol.ToolSpec }
	Config   func() config.Config
	// Network is the name and the ID of the network that the gateway's machines form.
	NetworkName string
	NetworkID   string
	OwnerID     string // the user of every token
	Version     string
	// HasAccess reports whether an app can make calls; nil: every one can.
	HasAccess func(id protocol.AppID) bool
	// Changed, if set, is called when a command of a program begins or ends; it must not block.
	Changed func()
	// Used records a call of an app; it must not block.
	Used func(id protocol.AppID, tool string)
}

// Catalog runs tools for programs. It is safe for concurrent use.
type Catalog struct {
	o        Options
	tools    []*entry // in the order of lists
	jobs     jobs
	Commands *Commands // the open files and commands of its callers
	limits   limits
}

// entry is a tool with its implementation.
type entry struct {
	Tool
	isForwarded bool // to one call with the same arguments, which validates them
	// need returns the scopes that a call needs, of those in Tool.Scopes.
	need func(args json.RawMessage) []protocol.Scope
	run  func(ctx context.Context, c *call, args json.RawMessage) (Result, error)
}

// New returns the catalog. Close ends its calls.
func New(o Options) *Catalog {
	c := &Catalog{o: o}
	c.jobs.running, c.jobs.count = make(map[string]*job), make(map[string]int)
	c.jobs.ctx, c.jobs.cancel = context.WithCancel(context.Background())
	c.jobs.lost = func(j *job) {
		for _, id := range j.openedIDs() {
			c.Commands.lose(id)
		}
	}
	c.Commands = &Commands{o: o, jobs: &c.jobs, all: make(map[string]session)}
	addNetworkTools(c)
	addCommand(c)
	addFileTools(c)
	return c
}

// Close cancels the running calls and waits for them.
func (c *Catalog) Close() {
	c.jobs.close()
}

// owner is the caller of the person's own token.
const owner = auth.KindOwner

// CancelOf cancels the calls of an app, and with them the questions to the person, and ends what it
// has opened. It does not wait for their ends.
func (c *Catalog) CancelOf(id protocol.AppID) {
	c.jobs.cancelOf(string(id))
	c.Commands.loseAll(func(x session) bool { return x.caller.ID == string(id) })
}

// Limit cancels the calls of an app that it may not make any more, and ends what it has opened and
// may not use any more; p is the app with its present rights. It does not wait for their ends.
func (c *Catalog) Limit(p auth.Principal) {
	c.jobs.limit(p)
	c.Commands.loseAll(func(x session) bool {
		return x.caller.ID == p.Caller() && (!p.MayUse(x.node) || tool.CheckScopes(p, protocol.ScopesOf(x.tool)) != nil)
	})
}

// Tools lists the tools that the caller may use, in a fixed order.
func (c *Catalog) Tools(p auth.Principal) []Tool {
	var list []Tool
	for _, e := range append(slices.Clone(c.tools), c.extra(p, "")...) {
		if mayUse(p, e) {
			list = append(list, e.Tool)
		}
	}
	return list
}

// mayUse reports whether the caller has a scope with which the tool does something.
func mayUse(p auth.Principal, e *entry) bool {
	return p.Kind == auth.KindOwner || len(e.Scopes) == 0 || slices.ContainsFunc(e.Scopes, p.Has)
}

// find returns the tool with a name; nil if it does not exist for the caller.
func (c *Catalog) find(p auth.Principal, name string) *entry {
	if i := slices.IndexFunc(c.tools, func(e *entry) bool { return e.Name == name }); i >= 0 {
		return c.tools[i]
	}
	if list := c.extra(p, name); name != "" && len(list) > 0 {
		return list[0]
	}
	return nil
}

// Check returns why the caller may not make a call because of its scopes, as a *protocol.Fault.
func (c *Catalog) Check(p auth.Principal, r Request) error {
	e := c.find(p, r.Tool)
	if e == nil {
		return nil // the call says so
	}
	return tool.CheckScopes(p, e.need(r.Args))
}

// Call runs a tool and blocks until it ends, or until the person has not answered for a while. Its
// error is a *protocol.Fault.
func (c *Catalog) Call(ctx context.Context, p auth.Principal, r Request) (Result, error) {
	e := c.find(p, r.Tool)
	if e == nil {
		return Result{}, protocol.NewFault(protocol.FaultNotFound, "there is no tool named "+r.Tool)
	}
	if len(r.Args) == 0 {
		r.Args = json.RawMessage("{}")
	}
	if !utf8.Valid(r.Args) { // decoding would replace such bytes, and the call would mean something else
		return Result{}, protocol.NewFault(protocol.FaultInvalidArgs, "the arguments are not UTF-8")
	}
	var invalid error
	if !e.isForwarded {
		var args json.RawMessage
		if args, invalid = toolkit.Arguments(e.InputSchema, r.Args); invalid == nil {
			r.Args = args
		}
	}
	need := e.need(r.Args)
	if err := tool.CheckScopes(p, need); err != nil {
		return Result{}, err
	}
	if invalid != nil {
		return Result{}, protocol.NewFault(protocol.FaultInvalidArgs, toolkit.Brief(invalid.Error()))
	}
	if p.App != "" && c.o.Used != nil {
		c.o.Used(p.App, r.Tool)
	}
	admit := func() (release func(), err error) {
		api, machine := c.o.Config().API, protocol.NodeID("")
		if api.Limits.Machine.PerMinute > 0 {
			machine = target(c, p, r.Args)
		}
		return c.limits.take(api, p, e, machine)
	}
	j, err := c.jobs.join(identify(p, r, need), admit, func(ctx context.Context, j *job) (Result, error) {
		return e.run(ctx, &call{catalog: c, principal: p, job: j, key: r.IdempotencyKey}, r.Args)
	})
	if err != nil {
		return Result{}, err
	}
	return c.await(ctx, j, r.Emit)
}

// Outcome returns the result of a call of p that waited for the person. Its error is a
// *protocol.Fault; approval_required while the person has still not answered.
func (c *Catalog) Outcome(ctx context.Context, p auth.Principal, id protocol.CallID) (Result, error) {
	j := c.jobs.byCall(p, id)
	if j == nil {
		return Result{}, errNotWaiting
	}
	return c.await(ctx, j, nil)
}

// Withdraw cancels a call of p that waits for the person, and with it the question. It returns the
// call's outcome: the failure canceled, unless the call had ended before.
func (c *Catalog) Withdraw(ctx context.Context, p auth.Principal, id protocol.CallID) (Result, error) {
	j := c.jobs.byCall(p, id)
	if j == nil {
		return Result{}, errNotWaiting
	}
	j.cancel()
	return c.await(ctx, j, nil)
}

var errNotWaiting = protocol.NewFault(protocol.FaultNotFound, "no call with this ID waits for its outcome")

// call is one call while it runs.
type call struct {
	catalog   *Catalog
	principal auth.Principal
	job       *job
	key       string          // idempotency key of the caller; may be empty
	calls     int             // calls of the pipeline so far
	last      protocol.CallID // of them
}

// milliseconds returns how long a call has taken.
func milliseconds(began time.Time) int64 { return time.Since(began).Milliseconds() }

// add adds a tool.
func add[In, Out any](c *Catalog, t protocol.CatalogTool, need func(In) []protocol.Scope, f func(context.Context, *call, In) (Out, string, error)) {
	addEncoded[In, Out](c, t, need, func(ctx context.Context, c *call, in In) (json.RawMessage, string, error) {
		out, message, err := f(ctx, c, in)
		if err != nil {
			return nil, "", err
		}
		raw, err := protocol.Marshal(out)
		return raw, message, err
	})
}

// addEncoded adds a tool whose result, an Out, is encoded already.
func addEncoded[In, Out any](c *Catalog, t protocol.CatalogTool, need func(In) []protocol.Scope, f func(context.Context, *call, In) (json.RawMessage, string, error)) {
	in, out := inputSchema[In](), outputSchema[Out]()
	t.InputSchema, t.OutputSchema = mustJSON(in), mustJSON(out)
	if t.Scopes == nil {
		t.Scopes = []protocol.Scope{} // in JSON, it needs none
	}
	e := &entry{Tool: Tool{t, in, out}, need: func(json.RawMessage) []protocol.Scope { return t.Scopes }}
	if need != nil {
		e.need = func(args json.RawMessage) []protocol.Scope {
			var in In
			protocol.Unmarshal(args, &in) // as for the call; invalid arguments are refused there
			return need(in)
		}
	}
	e.run = func(ctx context.Context, c *call, args json.RawMessage) (Result, error) {
		var in In
		if err := protocol.Unmarshal(args, &in); err != nil {
			return Result{}, protocol.NewFault(protocol.FaultInvalidArgs, protocol.Problem(err))
		}
		if err := protocol.CheckIDs(args, &in); err != nil {
			return Result{}, protocol.NewFault(protocol.FaultInvalidArgs, err.Error())
		}
		raw, message, err := f(ctx, c, in)
		if err != nil {
			return Result{}, FaultOf(err)
		}
		return Result{Data: raw, Message: message, Call: c.last}, nil
	}
	c.tools = append(c.tools, e)
}
