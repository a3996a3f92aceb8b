package catalog

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

// Target names a machine: by its ID, or by the network and its name.
type Target struct {
	NodeID      string `json:"node_id,omitempty"`
	NetworkName string `json:"network_name,omitempty"`
	NodeName    string `json:"node_name,omitempty"`
}

// machines finds the machines and networks that callers may use.
type machines struct {
	registry Registry
	version  string // of the gateway
}

// network returns the network with a name or an ID. A network that the caller may not use does not
// exist for it.
func (w machines) network(p auth.Principal, name string) (protocol.Network, error) {
	for _, n := range w.registry.NetworksOf(p) {
		if strings.EqualFold(name, n.Name) || name == string(n.ID) {
			return n, nil
		}
	}
	return protocol.Network{}, protocol.NewFault(protocol.FaultNotFound, fmt.Sprintf("there is no network named %.80q: network_directory lists the networks", name))
}

// machineOf returns the machine of a call; empty if none exists that the caller may use. The names
// in the arguments are the caller's: with many spellings it would have as many limits.
func (w machines) machineOf(p auth.Principal, args json.RawMessage) protocol.NodeID {
	var in struct {
		Target  *Target
		Session *Target
	}
	protocol.Unmarshal(args, &in) // invalid arguments are refused before
	id, err := w.resolve(p, cmp.Or(in.Target, in.Session))
	if err != nil {
		return ""
	}
	return id
}

// resolve returns the machine of a target that is online and that the caller may use. Machines that
// the caller may not use do not exist for it.
func (w machines) resolve(p auth.Principal, t *Target) (protocol.NodeID, error) {
	n, err := w.find(p, t)
	return n.ID, err
}

// find is resolve with what is known about the machine.
func (w machines) find(p auth.Principal, t *Target) (n protocol.NodeInfo, err error) {
	if t == nil || t.NodeID == "" && t.NodeName == "" {
		return n, protocol.NewFault(protocol.FaultInvalidArgs, "target is required: give node_id, or network_name and node_name")
	}
	var in protocol.Network
	if t.NetworkName != "" {
		if in, err = w.network(p, t.NetworkName); err != nil {
			return n, protocol.NewFault(protocol.FaultTargetNotFound, err.Error())
		}
	}
	var found []protocol.NodeInfo
	for _, n := range w.registry.MachinesOf(p) {
		isNamed := t.NodeName == "" || strings.EqualFold(n.DisplayName(), t.NodeName) || string(n.ID) == t.NodeName
		if isNamed && (t.NodeID == "" || string(n.ID) == t.NodeID) && (in.ID == "" || n.Network == in.ID) {
			found = append(found, n)
		}
	}
	// An ID or a name that is spelled exactly so wins over others that differ in case.
	if isExact := func(n protocol.NodeInfo) bool { return string(n.ID) == t.NodeName || n.DisplayName() == t.NodeName }; len(found) > 1 && slices.ContainsFunc(found, isExact) {
		found = slices.DeleteFunc(found, func(n protocol.NodeInfo) bool { return !isExact(n) })
	}
	switch {
	case len(found) == 0:
		return n, protocol.NewFault(protocol.FaultTargetNotFound, "no machine fits this target: network_directory lists the machines")
	case len(found) > 1:
		return n, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("%d machines are named %s: use node_id or network_name", len(found), t.NodeName))
	case !found[0].Online:
		return n, protocol.NewFault(protocol.FaultTargetUnreachable, fmt.Sprintf("%s is offline", found[0].DisplayName()))
	}
	return found[0], nil
}

// run calls a tool of a machine through the pipeline, and decodes its result into out, which may be
// nil.
func (c *call) run(ctx context.Context, node protocol.NodeID, name string, args, out any) error {
	raw, err := c.runRaw(ctx, protocol.NewToolName(node, name), protocol.Encode(args))
	if err != nil || out == nil {
		return err
	}
	return protocol.Unmarshal(raw, out)
}

func (c *call) runRaw(ctx context.Context, name protocol.ToolName, args json.RawMessage) (json.RawMessage, error) {
	r := c.callOf(name, args)
	machine, _, _ := name.Split()
	c.job.SetMachine(cmp.Or(c.about, machine))
	if c.calls++; c.key != "" { // every call of a batch has a key of its own
		r.IdempotencyKey = fmt.Sprintf("%s %s %d", c.principal.Caller(), c.key, c.calls)
	}
	res, err := tool.Outcome(c.pipeline.Run(ctx, r))
	c.last = res.Info.CallID
	return res.Raw, err
}

// callOf returns a call of the pipeline.
func (c *call) callOf(name protocol.ToolName, args json.RawMessage) tool.Call {
	r := tool.Call{
		Tool: name, Args: args, Principal: c.principal, Direct: c.principal.Kind == auth.KindOwner && c.about == "" && !c.isAsked, Plan: c.plan,
		OnApproval: c.job.RecordQuestion, OnProgress: c.progress,
	}
	if c.principal.App != "" {
		r.AskedBy = protocol.AskedBy{Kind: protocol.AskedByApp, Name: c.principal.Name}
	}
	return r
}

// progress passes on the parts and the reports of a running call.
func (c *call) progress(p protocol.ToolProgress) {
	if len(p.Chunk) > 0 {
		c.job.Emit(job.Part{Kind: job.PartChunk, Data: p.Chunk})
		return
	}
	c.job.Emit(job.Part{Kind: job.PartProgress, Data: protocol.Encode(map[string]any{"tail": p.Tail, "bytes": p.Bytes})})
}

// resume makes a step of what is open, and decodes its result into out.
func (c *call) resume(ctx context.Context, x job.Opened, args, out any) error {
	raw, err := c.resumeRaw(ctx, x, protocol.Encode(args))
	if err != nil {
		return err
	}
	return protocol.Unmarshal(raw, out)
}

// resumeRaw is resume without decoding.
func (c *call) resumeRaw(ctx context.Context, x job.Opened, args json.RawMessage) (json.RawMessage, error) {
	raw, err := c.pipeline.Continue(ctx, tool.Step{Call: x.Call, Principal: c.principal, Args: args})
	return raw, tool.FaultOf(err)
}

// begun records that the caller has opened a file or a command; text is its command line, empty for
// a file.
func (c *call) begun(id string, node protocol.NodeID, name, text string) {
	c.job.IfLost(func() { c.commands.Lose(id) })
	caller := protocol.ToolCaller{ID: c.principal.Caller(), Name: c.principal.Name}
	c.commands.Record(id, job.Opened{Caller: caller, Call: c.last, Node: node, Tool: name, Text: text, Began: time.Now()})
}
