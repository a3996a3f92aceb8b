package catalog

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

type commandIn struct {
	CommandID   string          `json:"command_id,omitempty" jsonschema:"continues a command"`
	Session     *commandSession `json:"session,omitempty" jsonschema:"starts a command"`
	Input       string          `json:"input,omitempty" jsonschema:"text, with escapes such as \\n"`
	Raw         bool            `json:"raw,omitempty" jsonschema:"no escapes in input"`
	Signal      signalName      `json:"signal,omitempty" jsonschema:"to send"`
	IdleTimeout *float64        `json:"idle_timeout,omitempty" jsonschema:"seconds without output; at most 600, default 5"`
}

type commandSession struct {
	NodeID      string            `json:"node_id,omitempty"`
	NetworkName string            `json:"network_name,omitempty"`
	NodeName    string            `json:"node_name,omitempty"`
	Command     string            `json:"command" jsonschema:"such as df -h; bash alone is interactive"`
	Shell       shellName         `json:"shell,omitempty" jsonschema:"auto: sh, or cmd.exe on Windows"`
	Username    string            `json:"username,omitempty" jsonschema:"only where Fairlead runs as root"`
	Workdir     string            `json:"workdir,omitempty" jsonschema:"default: the home folder"`
	Env         map[string]string `json:"env,omitempty"`
}

type commandOut struct {
	CommandID  string `json:"command_id" jsonschema:"for further calls"`
	Output     string `json:"output,omitempty" jsonschema:"output since the last call; left out if the command printed nothing"`
	ExitCode   *int   `json:"exit_code,omitempty" jsonschema:"absent while the command runs; -1 if a signal ended it, 1 on Windows"`
	State      string `json:"state" jsonschema:"running or exited"`
	DurationMs int64  `json:"duration_ms" jsonschema:"how long this call took"`
	// DroppedBytes counts output before Output that nobody fetched in time.
	DroppedBytes int64  `json:"dropped_bytes,omitempty" jsonschema:"bytes of output before this that were not fetched in time"`
	Note         string `json:"note,omitempty" jsonschema:"remarks on the start or end, such as that it ran without the login profile"`
}

// followedBy returns the result of two calls of one command.
func (out commandOut) followedBy(next commandOut) commandOut {
	next.Output, next.DroppedBytes = out.Output+next.Output, out.DroppedBytes+next.DroppedBytes
	next.Note = strings.TrimSpace(out.Note + " " + next.Note)
	return next
}

// nodeCommand are the arguments of a machine's tool command.
type nodeCommand struct {
	CommandID   string   `json:"command_id,omitempty"`
	Command     string   `json:"command,omitempty"`
	Shell       string   `json:"shell,omitempty"`
	Username    string   `json:"username,omitempty"`
	Workdir     string   `json:"workdir,omitempty"`
	Signal      string   `json:"signal,omitempty"`
	IdleTimeout *float64 `json:"idle_timeout,omitempty"`
}

const commandTool = protocol.CommandTool

// shell are the commands of programs.
type shell struct {
	net      machines
	commands *job.Commands
}

func (s shell) entry() *entry {
	return newEntry(protocol.CatalogTool{
		Name: commandTool, Title: "Run a command", Mode: OneShot, Destructive: true, OpenWorld: true, Scopes: []protocol.Scope{protocol.ScopeShell},
		Description: "Runs a command: session starts it; command_id reads on, or sends input or a signal, until 30 seconds after its end. " +
			"MACHINE__Bash is for commands in the workspace without input. To move files, use file or the fs_ tools.",
	}, nil, s.command)
}

func (s shell) command(ctx context.Context, x *call, in commandIn) (out commandOut, message string, err error) {
	began := time.Now()
	text, err := in.text()
	if err != nil {
		return out, "", err
	}
	switch {
	case in.CommandID != "" && in.Session != nil:
		return out, "", protocol.NewFault(protocol.FaultInvalidArgs, "give session to start a command or command_id to continue one, not both")
	case in.CommandID == "" && in.Session == nil:
		return out, "", protocol.NewFault(protocol.FaultInvalidArgs, "session is required to start a command")
	case in.IdleTimeout != nil && (*in.IdleTimeout < 0 || *in.IdleTimeout > 600):
		return out, "", protocol.NewFault(protocol.FaultInvalidArgs, "idle_timeout must be 0 to 600 seconds")
	}
	if in.CommandID == "" {
		out, err = s.startCommand(ctx, x, in, text != "")
		in.CommandID, in.Signal = out.CommandID, ""
	}
	if err == nil && (in.Session == nil || text != "") {
		var next commandOut
		next, err = s.continueCommand(ctx, x, in, text)
		out = out.followedBy(next)
	}
	if err != nil {
		return out, "", err
	}
	if out.State == "exited" {
		message = fmt.Sprintf("Exited with code %d", *out.ExitCode)
	} else {
		message = "Still running"
	}
	out.DurationMs = milliseconds(began)
	return out, message, nil
}

// text returns the input with its escape sequences resolved.
func (in commandIn) text() (string, error) {
	if in.Raw {
		return in.Input, nil
	}
	text, err := unescape(in.Input)
	if err != nil {
		return "", protocol.NewFault(protocol.FaultInvalidArgs, err.Error())
	}
	return text, nil
}

// startCommand starts a command. With input to come, it does not wait for output.
func (s shell) startCommand(ctx context.Context, x *call, in commandIn, hasInput bool) (out commandOut, err error) {
	if in.Signal != "" {
		return out, protocol.NewFault(protocol.FaultInvalidArgs, "signal needs the command_id of a running command")
	}
	info, err := s.net.find(x.principal, &Target{in.Session.NodeID, in.Session.NetworkName, in.Session.NodeName})
	if err != nil {
		return out, err
	}
	line, err := withEnvironment(info, in.Session)
	if err != nil {
		return out, err
	}
	args := nodeCommand{Command: line, Shell: string(in.Session.Shell), Username: in.Session.Username, Workdir: in.Session.Workdir, IdleTimeout: in.IdleTimeout}
	if hasInput {
		args.IdleTimeout = new(float64)
	}
	if err := x.run(ctx, info.ID, commandTool, args, &out); err != nil {
		return out, err
	}
	text := in.Session.Command
	if out.State == "exited" {
		text = ""
	}
	x.begun(out.CommandID, info.ID, commandTool, text)
	return out, nil
}

// continueCommand sends input, which is judged like a command, and then a signal; without input it
// only fetches output.
func (s shell) continueCommand(ctx context.Context, x *call, in commandIn, text string) (out commandOut, err error) {
	open, err := s.commands.Find(x.principal, in.CommandID, commandTool)
	if err != nil {
		return out, err
	}
	args := nodeCommand{CommandID: in.CommandID, Command: text, IdleTimeout: in.IdleTimeout}
	if text != "" {
		if in.Signal != "" {
			args.IdleTimeout = new(float64)
		}
		if err := x.run(ctx, open.Node, commandTool, args, &out); err != nil || in.Signal == "" {
			return out, err
		}
	}
	args = nodeCommand{CommandID: in.CommandID, Signal: string(in.Signal), IdleTimeout: in.IdleTimeout}
	var after commandOut
	if err = x.resume(ctx, open, args, &after); err == nil && after.State == "exited" {
		s.commands.Ended(open.Node, in.CommandID)
	}
	return out.followedBy(after), err
}

// withEnvironment puts assignments before a command of a machine, so that rules and the person see
// them.
func withEnvironment(info protocol.NodeInfo, s *commandSession) (string, error) {
	assign := assignSh
	switch {
	case s.Shell == "powershell":
		assign = assignPowerShell
	case strings.HasPrefix(info.Platform, "windows"):
		assign = assignCmd
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		if !isVariable(name) {
			return "", protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("env: %q is not the name of a variable", name))
		}
		text, ok := assign(name, s.Env[name])
		if !ok || strings.ContainsRune(s.Env[name], 0) {
			return "", protocol.NewFault(protocol.FaultInvalidArgs, "env: the machine's shell cannot set "+name+" to this value")
		}
		b.WriteString(text)
	}
	return b.String() + s.Command, nil
}

func assignSh(name, value string) (text string, ok bool) {
	return fmt.Sprintf("export %s='%s'; ", name, strings.ReplaceAll(value, "'", `'\''`)), true
}

func assignPowerShell(name, value string) (text string, ok bool) {
	return fmt.Sprintf("$env:%s = '%s'; ", name, strings.ReplaceAll(value, "'", "''")), true
}

// assignCmd fails for characters that cmd.exe does not take literally between quotes.
func assignCmd(name, value string) (text string, ok bool) {
	return fmt.Sprintf(`set "%s=%s"&& `, name, value), !strings.ContainsAny(value, "\"%\r\n")
}

func isVariable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != ""
}
