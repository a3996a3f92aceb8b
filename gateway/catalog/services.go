package catalog

import (
	"context"
	"errors"
	"strings"

	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
)

// Services lists the published services ([service.Services]).
type Services interface {
	List() []protocol.Service
}

type publishIn struct {
	NodeID              string   `json:"node_id,omitempty" jsonschema:"the machine"`
	NetworkName         string   `json:"network_name,omitempty" jsonschema:"its network, with node_name instead of node_id"`
	NodeName            string   `json:"node_name,omitempty" jsonschema:"its name"`
	Title               string   `json:"title,omitempty" jsonschema:"name for people"`
	ProxyTargetURL      string   `json:"proxy_target_url,omitempty" jsonschema:"address of the app as the machine reaches it, such as http://127.0.0.1:8080"`
	ProxyTargetEncoding string   `json:"proxy_target_encoding,omitempty" jsonschema:"utf8 (default) or base64"`
	TerminalCommand     string   `json:"terminal_command,omitempty" jsonschema:"not supported yet"`
	Username            string   `json:"username,omitempty" jsonschema:"not supported yet"`
	Workdir             string   `json:"workdir,omitempty" jsonschema:"not supported yet"`
	Enabled             *bool    `json:"enabled,omitempty" jsonschema:"default true"`
	AuthRequired        *bool    `json:"auth_required,omitempty" jsonschema:"default true; false only if the user asks for it"`
	AuthorizedEmails    []string `json:"authorized_emails,omitempty" jsonschema:"addresses or patterns such as *@company.com; they imply auth_required"`
}

type publishOut struct {
	ServiceID protocol.ServiceID `json:"service_id"`
	PublicURL string             `json:"public_url"`
	Mode      string             `json:"mode" jsonschema:"proxy or terminal"`
}

type updateIn struct {
	ServiceID           protocol.ServiceID `json:"service_id" jsonschema:"the published app"`
	AuthRequired        *bool              `json:"auth_required,omitempty" jsonschema:"false only if the user asks for it"`
	Enabled             *bool              `json:"enabled,omitempty" jsonschema:"false closes it at once"`
	Title               *string            `json:"title,omitempty" jsonschema:"name for people"`
	ProxyTargetURL      *string            `json:"proxy_target_url,omitempty" jsonschema:"address of the app as the machine reaches it"`
	ProxyTargetEncoding string             `json:"proxy_target_encoding,omitempty" jsonschema:"utf8 (default) or base64"`
	TerminalCommand     *string            `json:"terminal_command,omitempty" jsonschema:"not supported yet"`
	Username            *string            `json:"username,omitempty" jsonschema:"not supported yet"`
	Workdir             *string            `json:"workdir,omitempty" jsonschema:"not supported yet"`
}

type updateOut struct {
	publishOut
	Title        string `json:"title"`
	Enabled      bool   `json:"enabled"`
	AuthRequired bool   `json:"auth_required"`
}

type serviceIn struct {
	ServiceID protocol.ServiceID `json:"service_id" jsonschema:"the published app"`
}

type shareIn struct {
	ServiceID protocol.ServiceID `json:"service_id" jsonschema:"the published app"`
	Action    string             `json:"action" jsonschema:"list, add, remove or revoke (all)"`
	Emails    []string           `json:"emails,omitempty" jsonschema:"for add and remove"`
}

type shareOut struct {
	ServiceID        protocol.ServiceID `json:"service_id"`
	AuthorizedEmails []string           `json:"authorized_emails"`
}

// Probe connects to the target of a service; see [service.Site.Probe].
type Probe func(context.Context, protocol.NodeID, service.Target) error

// certificateOf returns the fingerprint of a certificate that the person has to trust for a target,
// and the note about it for the answer. Both are empty for a certificate that is valid.
func (s services) certificateOf(ctx context.Context, node protocol.NodeID, t service.Target) (fingerprint, note string) {
	if e, ok := errors.AsType[*service.UnknownCertificate](s.probe(ctx, node, t)); ok {
		return e.Fingerprint(), ". " + e.Error()
	}
	return "", ""
}

// services are the tools for published services.
type services struct {
	net   network
	list  Services
	probe Probe
}

func (s services) entries() []*entry {
	write := func(name, title, description string) protocol.CatalogTool {
		return protocol.CatalogTool{Name: name, Title: title, Description: description, Mode: OneShot, Destructive: true, Scopes: []protocol.Scope{protocol.ScopeService}}
	}
	return []*entry{
		newEntry(write("service_publish", "Publish an app", "Gives an app of a machine an address that browsers can open."), nil, s.publish),
		newEntry(write("service_update", "Change a published app", "Changes a published app, or switches it off."), nil, s.update),
		newEntry(write("service_delete", "Delete a published app", "Deletes a published app with its address."), nil, s.delete),
		newEntry(write("service_share", "Share a published app", "Lists or changes who may visit a published app."), nil, s.share),
	}
}

// errTerminal is the failure of a call that wants a terminal.
func errTerminal() error {
	return protocol.NewFault(protocol.FaultUnsupported, "this version publishes no terminals: give proxy_target_url, the address of an app")
}

func (s services) publish(ctx context.Context, x *call, in publishIn) (out publishOut, message string, err error) {
	node, err := s.net.resolve(x.principal, &Target{NodeID: in.NodeID, NetworkName: in.NetworkName, NodeName: in.NodeName})
	switch {
	case err != nil:
		return out, "", err
	case in.ProxyTargetURL != "" && in.TerminalCommand != "":
		return out, "", protocol.NewFault(protocol.FaultInvalidArgs, "proxy_target_url and terminal_command exclude each other")
	case in.ProxyTargetURL == "":
		return out, "", errTerminal()
	case in.Username != "" || in.Workdir != "":
		return out, "", protocol.NewFault(protocol.FaultInvalidArgs, "username and workdir are for terminals: leave them out for an app")
	}
	target, err := service.ParseTarget(in.ProxyTargetURL, in.ProxyTargetEncoding)
	if err != nil {
		return out, "", err
	}
	if err := (service.Definition{NodeID: node, Title: in.Title, Target: target, Visitors: in.AuthorizedEmails}).Check(); err != nil {
		return out, "", err
	}
	fingerprint, note := s.certificateOf(ctx, node, target)
	v, err := s.run(ctx, x, node, native.ServicePublish, native.PublishIn{
		Machine: node, Target: target.String(), Title: in.Title, Enabled: in.Enabled, SignIn: in.AuthRequired, Visitors: in.AuthorizedEmails, Certificate: fingerprint,
	})
	return describePublished(v), v.Target + " is at " + v.URL + note, err
}

func describePublished(v protocol.Service) publishOut { return publishOut{v.ID, v.URL, v.Mode} }

// run calls one of the gateway's tools for services of a machine. The person is asked even about
// what they do themselves on a command line: a program that has their token cannot publish anything
// unasked.
func (s services) run(ctx context.Context, x *call, node protocol.NodeID, name string, args any) (v protocol.Service, err error) {
	x.about = node
	r := struct{ Result *protocol.Service }{&v}
	err = x.run(ctx, protocol.NativePrefix, name, args, &r)
	return v, err
}

func (s services) update(ctx context.Context, x *call, in updateIn) (out updateOut, message string, err error) {
	if in.TerminalCommand != nil || in.Username != nil || in.Workdir != nil {
		return out, "", errTerminal()
	}
	v, err := s.find(x, in.ServiceID)
	if err == nil {
		err = service.Change{Title: in.Title, SignIn: in.AuthRequired}.Check(v)
	}
	if err != nil {
		return out, "", err
	}
	note := ""
	args := native.UpdateIn{Service: in.ServiceID, Title: in.Title, Enabled: in.Enabled, SignIn: in.AuthRequired}
	if in.ProxyTargetURL != nil {
		target, err := service.ParseTarget(*in.ProxyTargetURL, in.ProxyTargetEncoding)
		if err != nil {
			return out, "", err
		}
		whole := target.String()
		args.Target = &whole
		var fingerprint string
		if fingerprint, note = s.certificateOf(ctx, v.NodeID, target); fingerprint != "" {
			args.Certificate = &fingerprint
		}
	}
	v, err = s.run(ctx, x, v.NodeID, native.ServiceUpdate, args)
	return updateOut{describePublished(v), v.Title, v.Enabled, v.SignIn}, v.Target + " is at " + v.URL + note, err
}

func (s services) delete(ctx context.Context, x *call, in serviceIn) (out publishOut, message string, err error) {
	v, err := s.find(x, in.ServiceID)
	if err != nil {
		return out, "", err
	}
	v, err = s.run(ctx, x, v.NodeID, native.ServiceDelete, native.DeleteIn{Service: in.ServiceID})
	return describePublished(v), "Deleted " + v.Title, err
}

func (s services) share(ctx context.Context, x *call, in shareIn) (out shareOut, message string, err error) {
	v, err := s.find(x, in.ServiceID)
	if err == nil {
		err = service.CheckShare(in.Action, in.Emails)
	}
	if err == nil && in.Action != service.ShareList {
		v, err = s.run(ctx, x, v.NodeID, native.ServiceShare, native.ShareIn{Service: in.ServiceID, Action: in.Action, Visitors: in.Emails})
	}
	if err != nil {
		return out, "", err
	}
	message = "Only the owner may visit it"
	if len(v.Visitors) > 0 {
		message = "May visit it beside the owner: " + strings.Join(v.Visitors, ", ")
	}
	return shareOut{v.ID, v.Visitors}, message, nil
}

// find returns a service of a machine that the caller may use.
func (s services) find(x *call, id protocol.ServiceID) (protocol.Service, error) {
	for _, n := range s.net.registry.MachinesOf(x.principal) {
		for _, v := range s.list.List() {
			if v.ID == id && v.NodeID == n.ID {
				return v, nil
			}
		}
	}
	return protocol.Service{}, protocol.NewFault(protocol.FaultNotFound, "there is no service "+string(id)+": network_directory lists them")
}

// of lists the services of a machine, as network_directory shows them.
func (s services) of(node protocol.NodeID) *[]serviceOut {
	list := []serviceOut{}
	for _, v := range s.list.List() {
		if v.NodeID == node {
			list = append(list, serviceOut{ID: string(v.ID), Title: v.Title, URL: v.Target, PublicURL: v.URL})
		}
	}
	return &list
}
