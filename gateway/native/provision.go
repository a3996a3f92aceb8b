package native

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Provisioning rents machines; *provision.Manager implements it.
type Provisioning interface {
	Offer(ctx context.Context, p protocol.ProvisionParams) (protocol.ProvisionOffer, error)
	Create(ctx context.Context, by string, p protocol.ProvisionParams) (protocol.ProvisionTask, error)
	Get(id protocol.TaskID) (protocol.ProvisionTask, error)
	Delete(ctx context.Context, by string, id protocol.TaskID) (protocol.ProvisionTask, error)
	// Wait waits until a task is in none of some states, or has ended (isKnown is false), or ctx ends.
	Wait(ctx context.Context, id protocol.TaskID, each func(protocol.ProvisionTask), states ...string) (t protocol.ProvisionTask, isKnown bool)
}

// Names of the tools for rented machines.
const (
	NodeProvision   = "NodeProvision"
	NodeDeprovision = "NodeDeprovision"
)

// ProvisionIn are the arguments of gsv__NodeProvision.
type ProvisionIn struct {
	Name     protocol.NodeID    `json:"name" jsonschema:"name of the new machine"`
	Network  protocol.NetworkID `json:"network,omitempty" jsonschema:"ID of its network; default: the default network"`
	Provider string             `json:"provider,omitempty" jsonschema:"default aws"`
	CPU      int                `json:"cpu,omitempty" jsonschema:"1024 is 1 vCPU; 256 to 4096, default 256"`
	Memory   int                `json:"memory,omitempty" jsonschema:"MiB; 512 to 16384, default 512"`
}

func (in ProvisionIn) params() protocol.ProvisionParams {
	return protocol.ProvisionParams{Node: in.Name, Network: in.Network, Provider: in.Provider, CPU: in.CPU, Memory: in.Memory}
}

// DeprovisionIn are the arguments of gsv__NodeDeprovision.
type DeprovisionIn struct {
	Task protocol.TaskID `json:"task" jsonschema:"ID of the provisioning task"`
}

// provisionWait is how long a call waits for the provider. The work goes on after it.
const provisionWait = 45 * time.Second

type provisionTools struct{ p Provisioning }

func (t provisionTools) list() []tool.Own {
	change := toolkit.Traits{Effect: protocol.EffectNetwork}
	list := own(protocol.ScopeAdmin,
		toolkit.WithPreview(toolkit.Define(NodeProvision, "Rent a machine from a provider. It appears among the machines once it has connected.", change, t.provision), t.previewProvision),
		toolkit.WithPreview(toolkit.Define(NodeDeprovision, "Delete a rented machine with all its data, and stop paying for it.", change, t.deprovision), t.previewDeprovision),
	)
	for i := range list {
		list[i].Apps = []protocol.Scope{protocol.ScopeProvision}
		list[i].Spec.OwnTime = true // a provider takes minutes
	}
	return list
}

func (t provisionTools) provision(ctx context.Context, c tool.Call, in ProvisionIn) (protocol.ProvisionTask, error) {
	task, err := t.p.Create(ctx, c.Principal.String(), in.params())
	if err != nil {
		return task, err
	}
	now, isKnown := t.wait(ctx, c, task.ID, protocol.TaskCreating)
	switch {
	case !isKnown:
		return task, protocol.NewFault(protocol.FaultCanceled, "the machine was given back while it was created")
	case now.Failed:
		return task, protocol.NewFault(protocol.FaultFailedPrecondition, now.Problem)
	}
	return now, nil
}

func (t provisionTools) deprovision(ctx context.Context, c tool.Call, in DeprovisionIn) (protocol.ProvisionTask, error) {
	before, err := t.p.Delete(ctx, c.Principal.String(), in.Task)
	if err != nil {
		return before, err
	}
	if now, isKnown := t.wait(ctx, c, in.Task, protocol.TaskDeleting); isKnown {
		before.Notes = []string{"The provider still deletes it. " + now.Progress}
		return before, nil
	}
	before.Notes = []string{"The task ran for " + duration(time.Since(time.UnixMilli(before.CreatedAt))) + " before deprovisioning."}
	return before, nil
}

// wait waits for a task, and passes its progress on.
func (t provisionTools) wait(ctx context.Context, c tool.Call, id protocol.TaskID, state string) (protocol.ProvisionTask, bool) {
	ctx, cancel := context.WithTimeout(ctx, provisionWait)
	defer cancel()
	last := ""
	return t.p.Wait(ctx, id, func(now protocol.ProvisionTask) {
		if c.OnProgress != nil && now.Progress != "" && now.Progress != last {
			last = now.Progress
			c.OnProgress(protocol.ToolProgress{CallID: c.ID, Tail: last, Bytes: int64(len(last))})
		}
	}, state)
}

// duration says how long something took, to the minute.
func duration(d time.Duration) string {
	d = d.Round(time.Minute)
	return strings.TrimSuffix(d.String(), "0s")
}

func (t provisionTools) previewProvision(ctx context.Context, _ tool.Call, in ProvisionIn) (p protocol.CallPreview, err error) {
	offer, err := t.p.Offer(ctx, in.params())
	if err != nil {
		return withFault(err), nil
	}
	p.Rents = fmt.Sprintf("Rents the machine %s from %s: %s, %s", in.Name, offer.Provider, offer.Summary, cmp.Or(offer.Cost, "at an unknown price"))
	return p, nil
}

func (t provisionTools) previewDeprovision(_ context.Context, _ tool.Call, in DeprovisionIn) (p protocol.CallPreview, err error) {
	task, err := t.p.Get(in.Task)
	if err != nil {
		return withFault(err), nil
	}
	p.Rents = fmt.Sprintf("Deletes the rented machine %s (%s) with all its data", task.Node, strings.TrimSpace(task.Provider+" "+format.Line(task.Reference, 80)))
	return p, nil
}

// withFault is the preview of a call that would fail.
func withFault(err error) protocol.CallPreview {
	p := protocol.CallPreview{Problem: err.Error()}
	if f, ok := errors.AsType[*protocol.Fault](tool.FaultOf(err)); ok {
		p.Problem, p.Fault = f.Message, f
	}
	return p
}
