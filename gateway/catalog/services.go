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
	TerminalCommand     string   `json:"terminal_command,omitempty" jsonschema:"instead of proxy_target_url: the command that a web terminal runs; without both, the shell of the user"`
	Username            string   `json:"username,omitempty" jsonschema:"user of the terminal; default: the one that started Fairlead there"`
	Workdir             string   `json:"workdir,omitempty" jsonschema:"folder of the terminal; default: the user's own"`
	Enabled             *bool    `json:"enabled,omitempty" jsonschema:"default true"`
	AuthRequired        *bool    `json:"auth_required,omitempty" jsonschema:"default true; false only if the user asks for it. A terminal always needs a sign-in"`
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
	TerminalCommand     *string            `json:"terminal_command,omitempty" jsonschema:"command of the web terminal, which takes the place of an app; empty for the shell of the user"`
	Username            *string            `json:"username,omitempty" jsonschema:"user of the terminal"`
	Workdir             *string            `json:"workdir,omitempty" jsonschema:"folder of the terminal"`
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
	net   machines
	list  Services
	probe Probe
	// taskOf returns the task of a rented machine, or nothing. It may be nil.
	taskOf func(protocol.NodeID) protocol.TaskID
}

func (s services) entries() []*entry {
	write := func(name, title, description string) protocol.CatalogTool {
		return protocol.CatalogTool{Name: name, Title: title, Description: description, Mode: OneShot, Destructive: true, Scopes: []protocol.Scope{protocol.ScopeService}}
	}
	return []*entry{
		newEntry(write("service_publish", "Publish an app or a terminal", "Gives an app or a terminal of a machine an address that browsers can open."), nil, s.publish),
		newEntry(write("service_update", "Change a published app", "Changes a published app, or switches it off."), nil, s.update),
		newEntry(write("service_delete", "Delete a published app", "Deletes a published app with its address."), nil, s.delete),
		newEntry(write("service_share", "Share a published app", "Lists or changes who may visit a published app."), nil, s.share),
	}
}

func (s services) publish(ctx context.Context, x *call, in publishIn) (out publishOut, message string, err error) {
	node, err := s.net.resolve(x.principal, &Target{NodeID: in.NodeID, NetworkName: in.NetworkName, NodeName: in.NodeName})
	if err != nil {
		return out, "", err
	}
	d := service.Definition{NodeID: node, Title: in.Title, Visitors: in.AuthorizedEmails}
	args := native.PublishIn{Machine: node, Title: in.Title, Enabled: in.Enabled, SignIn: in.AuthRequired, Visitors: in.AuthorizedEmails}
	isTerminal := in.ProxyTargetURL == ""
	if isTerminal {
		d.Terminal = &protocol.TerminalOpen{Command: in.TerminalCommand, Username: in.Username, Workdir: in.Workdir}
		args.Command, args.Username, args.Workdir = &in.TerminalCommand, in.Username, in.Workdir
	}
	err = service.CheckMode(!isTerminal, isTerminal || in.TerminalCommand != "", in.Username != "" || in.Workdir != "")
	if err == nil && !isTerminal {
		d.Target, err = service.ParseTarget(in.ProxyTargetURL, in.ProxyTargetEncoding)
		args.Target = d.Target.String()
	}
	if err == nil {
		err = d.Check()
	}
	if err != nil {
		return out, "", err
	}
	note := ""
	if !isTerminal {
		args.Certificate, note = s.certificateOf(ctx, node, d.Target)
	}
	v, err := s.run(ctx, x, node, native.ServicePublish, args)
	return describePublished(v), publishedAt(v, in.AuthRequired) + note, err
}

// publishedAt says where a service is. authRequired is what the call asked for.
func publishedAt(v protocol.Service, authRequired *bool) string {
	text := v.Content() + " is at " + v.URL
	if v.Terminal != nil && authRequired != nil && !*authRequired {
		text += ". A terminal always needs a sign-in, whatever auth_required says"
	}
	return text
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
	v, err := s.find(x, in.ServiceID)
	if err != nil {
		return out, "", err
	}
	args := native.UpdateIn{
		Service: in.ServiceID, Title: in.Title, Enabled: in.Enabled, SignIn: in.AuthRequired, Command: in.TerminalCommand, Username: in.Username, Workdir: in.Workdir,
	}
	change := service.Change{Title: in.Title, SignIn: in.AuthRequired, Command: in.TerminalCommand, Username: in.Username, Workdir: in.Workdir}
	if in.ProxyTargetURL != nil {
		target, err := service.ParseTarget(*in.ProxyTargetURL, in.ProxyTargetEncoding)
		if err != nil {
			return out, "", err
		}
		whole := target.String()
		change.Target, args.Target = &target, &whole
	}
	if err := change.Apply(&v); err != nil {
		return out, "", err
	}
	note := ""
	if change.Target != nil {
		var fingerprint string
		if fingerprint, note = s.certificateOf(ctx, v.NodeID, *change.Target); fingerprint != "" {
			args.Certificate = &fingerprint
		}
	}
	v, err = s.run(ctx, x, v.NodeID, native.ServiceUpdate, args)
	return updateOut{describePublished(v), v.Title, v.Enabled, v.SignIn}, publishedAt(v, in.AuthRequired) + note, err
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
			out := serviceOut{ID: string(v.ID), Title: v.Title, URL: v.Target, PublicURL: v.URL}
			if v.Terminal != nil {
				out.Command = v.Terminal.Command
			}
			list = append(list, out)
		}
	}
	return &list
}
