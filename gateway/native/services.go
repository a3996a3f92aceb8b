package native

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/tool"
)

// Published are the published services; *service.Services implements it.
type Published interface {
	List() []protocol.Service
	Publish(ctx context.Context, d service.Definition, by string) (protocol.Service, error)
	Update(ctx context.Context, id protocol.ServiceID, c service.Change, by string) (protocol.Service, error)
	Share(ctx context.Context, id protocol.ServiceID, action string, emails []string, by string) (protocol.Service, error)
	Delete(ctx context.Context, id protocol.ServiceID, by string) (protocol.Service, error)
}

// Names of the tools for services.
const (
	ServiceList    = "ServiceList"
	ServicePublish = "ServicePublish"
	ServiceUpdate  = "ServiceUpdate"
	ServiceShare   = "ServiceShare"
	ServiceDelete  = "ServiceDelete"
)

// PublishIn are the arguments of gsv__ServicePublish.
type PublishIn struct {
	Machine  protocol.NodeID `json:"machine" jsonschema:"ID of the machine on which the app runs"`
	Target   string          `json:"target,omitempty" jsonschema:"address of the app as the machine reaches it, such as http://127.0.0.1:3000"`
	Command  *string         `json:"command,omitempty" jsonschema:"instead of target: publishes a terminal with this command; empty for the shell of the user"`
	Username string          `json:"username,omitempty" jsonschema:"user of the terminal; default: the one that started Fairlead there"`
	Workdir  string          `json:"workdir,omitempty" jsonschema:"folder of the terminal; default: the user's own"`
	Title    string          `json:"title,omitempty" jsonschema:"name for people"`
	Enabled  *bool           `json:"enabled,omitempty" jsonschema:"default true"`
	SignIn   *bool           `json:"signIn,omitempty" jsonschema:"default true; false lets in everyone who reaches the address: only if the person asks for that. A terminal always needs a sign-in"`
	Visitors []string        `json:"visitors,omitempty" jsonschema:"email addresses, or patterns such as *@company.com, that may sign in beside the owner"`

	Certificate string `json:"certificate,omitempty" jsonschema:"SHA-256 fingerprint of the target's certificate to trust, if nobody vouches for it"`
}

// UpdateIn are the arguments of gsv__ServiceUpdate.
type UpdateIn struct {
	Service  protocol.ServiceID `json:"service" jsonschema:"ID of the service"`
	Target   *string            `json:"target,omitempty" jsonschema:"address of the app as the machine reaches it"`
	Command  *string            `json:"command,omitempty" jsonschema:"command of a terminal, which takes the place of an app; empty for the shell of the user"`
	Username *string            `json:"username,omitempty" jsonschema:"user of the terminal"`
	Workdir  *string            `json:"workdir,omitempty" jsonschema:"folder of the terminal"`
	Title    *string            `json:"title,omitempty" jsonschema:"name for people"`
	Enabled  *bool              `json:"enabled,omitempty" jsonschema:"false closes it at once"`
	SignIn   *bool              `json:"signIn,omitempty" jsonschema:"false lets in everyone who reaches the address: only if the person asks for that"`

	Certificate *string `json:"certificate,omitempty" jsonschema:"SHA-256 fingerprint of the target's certificate to trust, if nobody vouches for it"`
}

// ShareIn are the arguments of gsv__ServiceShare.
type ShareIn struct {
	Service  protocol.ServiceID `json:"service" jsonschema:"ID of the service"`
	Action   string             `json:"action" jsonschema:"add, remove, or revoke for all"`
	Visitors []string           `json:"visitors,omitempty" jsonschema:"email addresses or patterns to add or remove"`
}

// DeleteIn are the arguments of gsv__ServiceDelete.
type DeleteIn struct {
	Service protocol.ServiceID `json:"service" jsonschema:"ID of the service"`
}

// ServicesOut are the published services.
type ServicesOut struct {
	Services []protocol.Service `json:"services"`
}

// serviceTools are the tools for published services.
type serviceTools struct {
	published Published
	node      func(protocol.NodeID) (protocol.NodeInfo, bool)
	// probe connects to a target; see [service.Site.Probe]. A *protocol.Fault refuses the target.
	probe func(context.Context, protocol.NodeID, service.Target) error
}

func (t serviceTools) list() []tool.Own {
	change := toolkit.Traits{Effect: protocol.EffectWrite}
	list := own(protocol.ScopeAdmin,
		toolkit.WithPreview(toolkit.Define(ServicePublish, "Give an app or a terminal of a machine an address that browsers can open. The person is always asked.", change, t.publish), t.previewPublish),
		toolkit.WithPreview(toolkit.Define(ServiceUpdate, "Change a published service, or switch it off.", change, t.update), t.previewUpdate),
		toolkit.WithPreview(oneOf(toolkit.Define(ServiceShare, "Change who may visit a published service.", change, t.share), "action", service.ShareAdd, service.ShareRemove, service.ShareRevoke), t.previewShare),
		toolkit.WithPreview(toolkit.Define(ServiceDelete, "Delete a published service with its address.", change, t.delete), t.previewDelete),
	)
	list = append(list, own(protocol.ScopeRead, toolkit.Define(ServiceList, "List the published services with their addresses and visitors.",
		toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true}, func(context.Context, tool.Call, struct{}) (ServicesOut, error) {
			return ServicesOut{t.published.List()}, nil
		}))...)
	for i := range list {
		list[i].Apps = []protocol.Scope{protocol.ScopeService}
		switch list[i].Spec.Name {
		case ServiceList:
		case ServicePublish:
			list[i].Machine = machineOfNew
		default:
			list[i].Machine = t.machineOf
		}
	}
	return list
}

func (t serviceTools) publish(ctx context.Context, c tool.Call, in PublishIn) (protocol.Service, error) {
	if _, ok := t.node(in.Machine); !ok {
		return protocol.Service{}, errors.New(noMachine(in.Machine))
	}
	d, err := in.definition()
	if err != nil {
		return protocol.Service{}, err
	}
	return t.published.Publish(ctx, d, c.Principal.String())
}

// definition returns what is to be published, or what is wrong with it.
func (in PublishIn) definition() (service.Definition, error) {
	d := service.Definition{
		NodeID: in.Machine, Title: in.Title, Enabled: isOn(in.Enabled), SignIn: isOn(in.SignIn), Visitors: in.Visitors, Certificate: in.Certificate,
	}
	if in.Command != nil {
		d.Terminal = &protocol.TerminalOpen{Command: *in.Command, Username: in.Username, Workdir: in.Workdir}
	}
	err := service.CheckMode(in.Target != "", in.Command != nil, in.Username != "" || in.Workdir != "")
	if err == nil && d.Terminal == nil {
		d.Target, err = service.ParseTarget(in.Target, "")
	}
	return d, err
}

// isOn is the value of a setting whose default is true.
func isOn(p *bool) bool { return p == nil || *p }

func (t serviceTools) update(ctx context.Context, c tool.Call, in UpdateIn) (protocol.Service, error) {
	change, err := in.change()
	if err != nil {
		return protocol.Service{}, err
	}
	return t.published.Update(ctx, in.Service, change, c.Principal.String())
}

func (in UpdateIn) change() (c service.Change, err error) {
	c = service.Change{
		Title: in.Title, Enabled: in.Enabled, SignIn: in.SignIn, Certificate: in.Certificate, Command: in.Command, Username: in.Username, Workdir: in.Workdir,
	}
	if in.Target != nil {
		var target service.Target
		target, err = service.ParseTarget(*in.Target, "")
		c.Target = &target
	}
	return c, err
}

func (t serviceTools) share(ctx context.Context, c tool.Call, in ShareIn) (protocol.Service, error) {
	return t.published.Share(ctx, in.Service, in.Action, in.Visitors, c.Principal.String())
}

func (t serviceTools) delete(ctx context.Context, c tool.Call, in DeleteIn) (protocol.Service, error) {
	return t.published.Delete(ctx, in.Service, c.Principal.String())
}

func (t serviceTools) previewPublish(ctx context.Context, _ tool.Call, in PublishIn) (p protocol.CallPreview, err error) {
	d, err := in.definition()
	if err == nil {
		err = d.Check()
	}
	if err != nil {
		return protocol.CallPreview{Problem: err.Error()}, nil
	}
	if _, ok := t.node(in.Machine); !ok {
		return protocol.CallPreview{Problem: noMachine(in.Machine)}, nil
	}
	v := d.Service()
	v.URL = "an address of this gateway"
	p.Publishes = t.reach(v)
	if !v.Enabled {
		p.Publishes += ", once it is turned on"
	}
	if v.Terminal != nil {
		return p, nil
	}
	return t.withCertificate(ctx, p, in.Machine, d.Target, in.Certificate), nil
}

// reach says who can reach what at the address of a service.
func (t serviceTools) reach(v protocol.Service) string {
	if v.Terminal != nil {
		return fmt.Sprintf("Lets %s type into %s on %s at %s, always after a sign-in", audience(true, v.Visitors), v.Terminal, t.machine(v.NodeID), v.URL)
	}
	return fmt.Sprintf("Makes %s of %s reachable at %s for %s", v.Target, t.machine(v.NodeID), v.URL, audience(v.SignIn, v.Visitors))
}

func (t serviceTools) previewUpdate(ctx context.Context, _ tool.Call, in UpdateIn) (p protocol.CallPreview, err error) {
	v, problem := t.serviceOf(in.Service)
	if problem != "" {
		return protocol.CallPreview{Problem: problem}, nil
	}
	trustedBefore := v.Certificate
	change, err := in.change()
	if err == nil {
		err = change.Apply(&v)
	}
	if err != nil {
		return protocol.CallPreview{Problem: err.Error()}, nil
	}
	if in.Enabled != nil && !*in.Enabled {
		p.Publishes = fmt.Sprintf("Turns off %s at %s", v.Title, v.URL)
		return p, nil
	}
	p.Publishes = t.reach(v)
	if v.Terminal != nil || in.Target == nil && in.Certificate == nil {
		return p, nil
	}
	target, err := service.ParseTarget(v.Target, "")
	if err != nil {
		return protocol.CallPreview{Problem: err.Error()}, nil
	}
	trusted := ""
	if in.Certificate != nil {
		trusted = *in.Certificate
	}
	if in.Target == nil && trusted == "" && trustedBefore != "" {
		p.Publishes += ", and accepts from now on every certificate for its name that an authority vouches for, instead of the one that you trusted"
	}
	return t.withCertificate(ctx, p, v.NodeID, target, trusted), nil
}

// withCertificate adds to a question which unknown certificate a yes trusts. Without that, or with
// another fingerprint, the call has a problem. A target that does not answer now has none to trust.
func (t serviceTools) withCertificate(ctx context.Context, p protocol.CallPreview, node protocol.NodeID, target service.Target, trusted string) protocol.CallPreview {
	err := t.probe(ctx, node, target)
	unknown, isUnknown := errors.AsType[*service.UnknownCertificate](err)
	refused, isRefused := errors.AsType[*protocol.Fault](err)
	switch {
	case isRefused:
		return protocol.CallPreview{Problem: refused.Message}
	case isUnknown && trusted == unknown.Fingerprint():
		p.Publishes += ", and trusts its certificate from now on. Compare it before you allow this: " + unknown.Error()
	case isUnknown:
		return protocol.CallPreview{Problem: fmt.Sprintf("%s: %v. To trust it, give that fingerprint as certificate", target, unknown)}
	case trusted != "":
		return protocol.CallPreview{Problem: fmt.Sprintf("%s does not show an unknown certificate now: leave out certificate", target)}
	}
	return p
}

func (t serviceTools) previewShare(_ context.Context, _ tool.Call, in ShareIn) (p protocol.CallPreview, err error) {
	v, problem := t.serviceOf(in.Service)
	switch {
	case problem != "":
		return protocol.CallPreview{Problem: problem}, nil
	case in.Action == service.ShareAdd:
		p.Publishes = fmt.Sprintf("Lets %s visit %s at %s", strings.Join(in.Visitors, ", "), v.Title, v.URL)
	case in.Action == service.ShareRemove:
		p.Publishes = fmt.Sprintf("Keeps %s out of %s at %s", strings.Join(in.Visitors, ", "), v.Title, v.URL)
	default:
		p.Publishes = fmt.Sprintf("Keeps everyone but you out of %s at %s", v.Title, v.URL)
	}
	return p, nil
}

func (t serviceTools) previewDelete(_ context.Context, _ tool.Call, in DeleteIn) (protocol.CallPreview, error) {
	v, problem := t.serviceOf(in.Service)
	if problem != "" {
		return protocol.CallPreview{Problem: problem}, nil
	}
	return protocol.CallPreview{Publishes: fmt.Sprintf("Deletes %s with its address %s", v.Title, v.URL)}, nil
}

func noMachine(id protocol.NodeID) string { return fmt.Sprintf("there is no machine %.60q", id) }

// machine names a machine for people.
func (t serviceTools) machine(id protocol.NodeID) string {
	if n, ok := t.node(id); ok {
		return n.DisplayName()
	}
	return string(id)
}

// machineOfNew returns the machine of a service that a call publishes; empty if it names none.
func machineOfNew(args json.RawMessage) protocol.NodeID {
	var in PublishIn
	if protocol.Unmarshal(args, &in) != nil {
		return ""
	}
	return in.Machine
}

// machineOf returns the machine of a service that a call changes; empty if it names none.
func (t serviceTools) machineOf(args json.RawMessage) protocol.NodeID {
	var in DeleteIn // whose field the others have too
	if protocol.Unmarshal(args, &in) != nil {
		return ""
	}
	v, _ := t.serviceOf(in.Service)
	return v.NodeID
}

// serviceOf returns a service, or says that it does not exist.
func (t serviceTools) serviceOf(id protocol.ServiceID) (v protocol.Service, problem string) {
	for _, v := range t.published.List() {
		if v.ID == id {
			return v, ""
		}
	}
	return v, fmt.Sprintf("there is no service %s", id)
}

// audience says who can reach a service.
func audience(signIn bool, visitors []string) string {
	switch {
	case !signIn:
		return "EVERYONE who can reach this gateway, without a sign-in"
	case len(visitors) == 0:
		return "you alone"
	}
	return "you and " + strings.Join(visitors, ", ")
}
