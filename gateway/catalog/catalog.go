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
	"fairlead/gateway/tool/job"
)

// Pipeline runs tool calls ([tool.Pipeline]).
type Pipeline interface {
	Run(ctx context.Context, c tool.Call) (tool.Result, error)
	Continue(ctx context.Context, s tool.Step) (json.RawMessage, error)
	Plan(ctx context.Context, calls []tool.Call) (*tool.Plan, error)
}

// Registry lists what a caller may use ([tool.Registry]).
type Registry interface {
	ToolsOf(p auth.Principal) []protocol.ToolSpec
	MachinesOf(p auth.Principal) []protocol.NodeInfo
	NetworksOf(p auth.Principal) []protocol.Network
}

// Networks checks changes of the networks ([nodes.Networks]).
type Networks interface {
	CheckCreate(name string) error
	CheckDelete(id protocol.NetworkID) error
}

// Options are the parts that a [Catalog] uses.
type Options struct {
	Pipeline    Pipeline
	Jobs        *job.Jobs
	Commands    *job.Commands // the open files and commands of the callers
	Registry    Registry
	Services    Services
	Probe       Probe
	Invitations Invitations
	// TaskOf returns the task of a rented machine, or nothing; may be nil.
	TaskOf   func(protocol.NodeID) protocol.TaskID
	Config   func() config.Config
	Networks Networks
	OwnerID  string // the user of every token
	Version  string
	// Used records a call of an app; it must not block.
	Used func(id protocol.AppID, tool string)
}

// Catalog has the names and schemas of the tools for programs, and runs them as jobs over the tool
// pipeline. It is safe for concurrent use.
type Catalog struct {
	o     Options
	net   machines
	tools []*entry // in the order of lists
}

// entry is a tool with its implementation.
type entry struct {
	Tool
	isForwarded bool // to one call with the same arguments, which validates them
	// need returns the scopes that a call needs, of those in Tool.Scopes.
	need func(args json.RawMessage) []protocol.Scope
	run  func(ctx context.Context, c *call, args json.RawMessage) (job.Result, error)
}

// New returns the catalog.
func New(o Options) *Catalog {
	net := machines{o.Registry, o.Version}
	published := services{net, o.Services, o.Probe, o.TaskOf}
	list := append(net.entries(o, published), networks{net, o.Networks}.entries()...)
	list = append(list, published.entries()...)
	list = append(list, provisioning{net}.entries()...)
	list = append(list, registration{net, o.Invitations}.entry(), shell{net, o.Commands}.entry())
	return &Catalog{o: o, net: net, tools: append(list, files{net, o.Commands}.entries()...)}
}

// Tools lists the tools that the caller may use, in a fixed order.
func (c *Catalog) Tools(p auth.Principal) []Tool {
	var list []Tool
	for _, e := range append(slices.Clone(c.tools), c.extra(p, "")...) {
		if tool.HasAnyScope(p, e.Scopes) {
			list = append(list, e.Tool)
		}
	}
	return list
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
	return tool.CheckAccess(p, "", e.need(r.Args)...)
}

// Call runs a tool and blocks until it ends, or until the person has not answered for a while. Its
// error is a *protocol.Fault.
func (c *Catalog) Call(ctx context.Context, p auth.Principal, r Request) (job.Result, error) {
	e := c.find(p, r.Tool)
	if e == nil {
		return job.Result{}, protocol.NewFault(protocol.FaultNotFound, "there is no tool named "+r.Tool)
	}
	if len(r.Args) == 0 {
		r.Args = json.RawMessage("{}")
	}
	if !utf8.Valid(r.Args) { // decoding would replace such bytes, and the call would mean something else
		return job.Result{}, protocol.NewFault(protocol.FaultInvalidArgs, "the arguments are not UTF-8")
	}
	var invalid error
	if !e.isForwarded {
		var args json.RawMessage
		if args, invalid = toolkit.Arguments(e.InputSchema, r.Args); invalid == nil {
			r.Args = args
		}
	}
	need := e.need(r.Args)
	if err := tool.CheckAccess(p, "", need...); err != nil {
		return job.Result{}, err
	}
	if invalid != nil {
		return job.Result{}, protocol.NewFault(protocol.FaultInvalidArgs, toolkit.Brief(invalid.Error()))
	}
	if p.App != "" && c.o.Used != nil {
		c.o.Used(p.App, r.Tool)
	}
	return c.o.Jobs.Run(ctx, job.Request{
		Caller: p, Tool: e.Name, Args: r.Args, Key: r.IdempotencyKey, Need: need, IsStream: e.Mode == ServerStream, Emit: r.Emit,
		Machine: func() protocol.NodeID { return c.net.machineOf(p, r.Args) },
	}, func(ctx context.Context, j *job.Job) (job.Result, error) {
		return e.run(ctx, &call{pipeline: c.o.Pipeline, commands: c.o.Commands, principal: p, job: j, key: r.IdempotencyKey}, r.Args)
	})
}

// call is one call while it runs.
type call struct {
	pipeline  Pipeline
	commands  *job.Commands
	principal auth.Principal
	job       *job.Job
	key       string          // idempotency key of the caller; may be empty
	calls     int             // calls of the pipeline so far
	last      protocol.CallID // of them
	plan      *tool.Plan      // of a batch; may be nil
	// about is the machine of the service that the gateway's own tools change. Such calls of the
	// pipeline are none that the owner makes themselves. Empty for all other calls.
	about protocol.NodeID
	// isAsked makes the calls of the pipeline none that the owner makes themselves.
	isAsked bool
}

// milliseconds returns how long a call has taken.
func milliseconds(began time.Time) int64 { return time.Since(began).Milliseconds() }

// newEntry returns a tool that f runs. need returns the scopes that a call needs; nil: all of t.
func newEntry[In, Out any](t protocol.CatalogTool, need func(In) []protocol.Scope, f func(context.Context, *call, In) (Out, string, error)) *entry {
	return newEncoded[In, Out](t, need, func(ctx context.Context, c *call, in In) (json.RawMessage, string, error) {
		out, message, err := f(ctx, c, in)
		if err != nil {
			return nil, "", err
		}
		raw, err := protocol.Marshal(out)
		return raw, message, err
	})
}

// newEncoded returns a tool whose result, an Out, is encoded already.
func newEncoded[In, Out any](t protocol.CatalogTool, need func(In) []protocol.Scope, f func(context.Context, *call, In) (json.RawMessage, string, error)) *entry {
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
	e.run = func(ctx context.Context, c *call, args json.RawMessage) (job.Result, error) {
		var in In
		if err := protocol.Unmarshal(args, &in); err != nil {
			return job.Result{}, protocol.NewFault(protocol.FaultInvalidArgs, protocol.Problem(err))
		}
		if err := protocol.CheckIDs(args, &in); err != nil {
			return job.Result{}, protocol.NewFault(protocol.FaultInvalidArgs, err.Error())
		}
		raw, message, err := f(ctx, c, in)
		if err != nil {
			return job.Result{}, tool.FaultOf(err)
		}
		return job.Result{Data: raw, Message: message, Call: c.last}, nil
	}
	return e
}
