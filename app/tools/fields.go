package tools

import (
	"maps"
	"slices"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// settings has the settings of an MCP server as texts, one argument, variable or header a line.
type settings struct {
	Command, Args, Env, Cwd string
	URL, Headers            string
	Node                    protocol.NodeID
	Network                 string
}

// settingsOf returns the settings as texts. A stored secret is [protocol.MaskedSecret].
func settingsOf(spec protocol.ServerSpec) settings {
	return settings{
		Command: spec.Command, Args: strings.Join(spec.Args, "\n"), Env: formLines(spec.Env, "="), Cwd: spec.Cwd,
		URL: spec.URL, Headers: formLines(spec.Headers, ": "), Node: spec.Node, Network: spec.Network,
	}
}

func formLines(values map[string]string, between string) string {
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		lines = append(lines, name+between+values[name])
	}
	return strings.Join(lines, "\n")
}

// Spec returns the settings of the form, with what it does not show from before, or says what is
// wrong.
func (f settings) Spec(before protocol.ServerSpec) (spec protocol.ServerSpec, problem string) {
	spec = protocol.ServerSpec{Disabled: before.Disabled, DisabledTools: before.DisabledTools}
	if before.URL != "" {
		if spec.URL = strings.TrimSpace(f.URL); spec.URL == "" {
			return spec, "Enter the address of the server."
		}
		spec.Headers, problem = readLines(f.Headers, ":", "Write each header as NAME: value, one a line.")
		return spec, problem
	}
	if spec.Command = strings.TrimSpace(f.Command); spec.Command == "" {
		return spec, "Enter the command that starts the server."
	}
	spec.Cwd, spec.Node, spec.Network = strings.TrimSpace(f.Cwd), f.Node, f.Network
	if f.Args != "" {
		spec.Args = strings.Split(strings.TrimRight(f.Args, "\n"), "\n")
	}
	if spec.Env, problem = readLines(f.Env, "=", "Write each variable as NAME=value, one a line."); problem != "" {
		return spec, problem
	}
	if problem := spec.CannotFetch(); spec.Network == protocol.ServerNetworkFetch && problem != "" {
		return spec, problem + "."
	}
	return spec, ""
}

func readLines(text, between, rule string) (map[string]string, string) {
	values := make(map[string]string)
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), between)
		name = strings.TrimSpace(name)
		if !ok || name == "" {
			return nil, rule
		}
		if between == ":" {
			value = strings.TrimSpace(value)
		}
		values[name] = value
	}
	return values, ""
}

// runnerChoice is a machine that can run the command of a server.
type runnerChoice struct {
	Node protocol.NodeID // empty: the gateway's own machine
	Text string
}

// runnerChoices lists the machines that can run servers, the gateway's own first, and a machine that
// is gone if it is the present one.
func runnerChoices(v feed.View, now protocol.NodeID) []runnerChoice {
	local, _ := v.Machines.Local()
	list := []runnerChoice{{"", machineName(v, "")}}
	known := now == "" || now == local.ID
	for _, n := range v.Machines {
		if n.ID == local.ID && n.Local {
			continue
		}
		known = known || n.ID == now
		text := n.DisplayName()
		if !n.Online {
			text += " (offline)"
		}
		list = append(list, runnerChoice{n.ID, text})
	}
	if !known {
		list = append(list, runnerChoice{now, string(now)})
	}
	return list
}

// networkChoice is a value of a server's setting for the network.
type networkChoice struct{ Value, Text string }

// networkChoices lists the choices for a server's command, the least access first.
var networkChoices = []networkChoice{
	{protocol.ServerNetworkNo, "No"}, {protocol.ServerNetworkFetch, "Only to fetch its package"}, {protocol.ServerNetworkYes, "Yes"},
}

// networkIndex returns the index in [networkChoices] of a value; an empty one is yes.
func networkIndex(value string) int {
	for i, c := range networkChoices {
		if c.Value == value {
			return i
		}
	}
	return len(networkChoices) - 1
}

// disabledTools returns the tools of a server that the agent does not get, if the listed tools are on
// as isOn says. Tools that the server does not list at present stay as they are.
func disabledTools(s protocol.ServerStatus, isOn func(tool string) bool) []string {
	list := lists.Without(s.Spec.DisabledTools, func(name string) bool {
		return slices.ContainsFunc(s.Tools, func(t protocol.ServerTool) bool { return t.Name == name })
	})
	for _, t := range s.Tools {
		if !isOn(t.Name) {
			list = append(list, t.Name)
		}
	}
	return list
}

// existsText says why a server cannot be added with a name.
func existsText(name protocol.ServerName) string {
	return "A server named “" + string(name) + "” is set up already."
}

// serversToAdd returns the found servers that can be added: without those that exist, with the
// machine that runs their commands, and a single one with the name and the network that the person chose.
func serversToAdd(v feed.View, found []protocol.FoundServer, name string, node protocol.NodeID, network string) (list []protocol.FoundServer) {
	for _, f := range found {
		if len(found) == 1 {
			f.Name = protocol.ServerName(strings.TrimSpace(name))
		}
		if _, exists := v.Servers.Server(f.Name); exists {
			continue
		}
		if f.Spec.Command != "" {
			f.Spec.Node = node
			if len(found) == 1 {
				f.Spec.Network = network
			}
		}
		list = append(list, f)
	}
	return list
}

// uniqueFound returns found servers without a second one of the same name.
func uniqueFound(list []protocol.FoundServer) (unique []protocol.FoundServer) {
	for _, f := range list {
		if _, ok := lists.Find(unique, func(u protocol.FoundServer) bool { return u.Name == f.Name }); !ok {
			unique = append(unique, f)
		}
	}
	return unique
}
