package catalog

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// Invitations makes invitations for machines ([pairing.Manager]).
type Invitations interface {
	Register(ctx context.Context, by, name string) (protocol.DeviceInvite, error)
}

type registerIn struct {
	NetworkName string `json:"network_name,omitempty" jsonschema:"network of the machine; default: the default network"`
	NodeName    string `json:"node_name,omitempty" jsonschema:"name of the machine; default: its host name"`
}

type registerOut struct {
	Shell      string `json:"shell_install_command" jsonschema:"for Linux and macOS, as the user whose files the machine shall offer"`
	PowerShell string `json:"power_shell_install_command" jsonschema:"for PowerShell on Windows"`
	Cmd        string `json:"cmd_install_command" jsonschema:"for the Command Prompt of Windows 10 1803 or later"`
}

// registration is the tool that makes commands for new machines.
type registration struct {
	net     machines
	invites Invitations
}

func (r registration) entry() *entry {
	return newEntry(protocol.CatalogTool{
		Name: "register_node", Title: "Connect a machine", Mode: OneShot, Scopes: []protocol.Scope{protocol.ScopeNodeRegister},
		Description: "Returns commands that install Fairlead on a machine and connect it. Each works once, within 10 minutes; the user is asked whether the machine may connect.",
	}, nil, r.register)
}

func (r registration) register(ctx context.Context, x *call, in registerIn) (out registerOut, message string, err error) {
	if err := r.check(x, in); err != nil {
		return out, "", err
	}
	invite, err := r.invites.Register(ctx, x.principal.String(), in.NodeName)
	switch {
	case err != nil:
		return out, "", err
	case invite.Install == "" && invite.InstallWindows == "":
		return out, "", protocol.NewFault(protocol.FaultFailedPrecondition, "this gateway ships no node programs: put fairlead-node-OS-ARCH into the folder nodes beside it")
	}
	message = "Run one of these on the machine within 10 minutes. The user is asked whether it may connect."
	if invite.InstallWindows == "" {
		message += " This gateway ships no node program for Windows."
	}
	return registerOut{invite.Install, invite.InstallWindows, invite.InstallCmd}, message, nil
}

// check returns why a machine cannot be registered. A caller that is limited to some machines would
// not reach the new one, and a device of the owner needs the right to invite machines.
func (r registration) check(x *call, in registerIn) error {
	if err := tool.CheckDevice(x.principal, protocol.ScopeAdmin, "invite machines"); err != nil {
		return err
	}
	if err := tool.CheckAccess(x.principal, protocol.NativePrefix); err != nil {
		return err
	}
	if in.NetworkName != "" {
		if n, err := r.net.network(x.principal, in.NetworkName); err != nil {
			return err
		} else if !n.Default {
			return protocol.NewFault(protocol.FaultUnsupported, "machines join the default network, from which they can be moved")
		}
	}
	if in.NodeName == "" {
		return nil
	}
	if _, err := protocol.ParseNodeID(in.NodeName); err != nil {
		return protocol.NewFault(protocol.FaultInvalidArgs, "node_name: "+err.Error())
	}
	if slices.ContainsFunc(r.net.registry.MachinesOf(x.principal), func(n protocol.NodeInfo) bool {
		return strings.EqualFold(string(n.ID), in.NodeName) || strings.EqualFold(n.DisplayName(), in.NodeName)
	}) {
		return protocol.NewFault(protocol.FaultAlreadyExists, fmt.Sprintf("a machine is already called %s: choose another name", in.NodeName))
	}
	return nil
}
