// Package doctor looks for problems of a data folder and of a gateway, and says how to fix them. The
// command line and the windows show its findings.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Finding is the result of one check.
type Finding struct {
	Check string `json:"check"`
	State string `json:"state"` // one of the states below
	Found string `json:"found"`
	// Details are lines for experts.
	Details string `json:"details,omitempty"`
	Fix     string `json:"fix,omitempty"` // what to do
	// Action is what a window can do about it.
	Action Action `json:"-"`
}

// States of findings.
const (
	OK      = "ok"
	Note    = "note"
	Warning = "warning"
	Bad     = "bad"
)

// Action fixes a finding, or opens the place where the person can.
type Action string

// Actions. Most findings have none.
const (
	Resume   Action = "resume"   // resume the paused agent
	Model    Action = "model"    // open the settings of models
	Machines Action = "machines" // open the page of machines
	Limits   Action = "limits"   // open the settings of what commands can do on this computer
	Folder   Action = "folder"   // open the data folder
)

// Marks are the symbols of the states in texts.
var Marks = map[string]string{OK: "✓", Note: "·", Warning: "!", Bad: "✗"}

// Gateway is a connected gateway. Every method blocks.
type Gateway interface {
	Status(ctx context.Context) (protocol.Status, error)
	Nodes(ctx context.Context) ([]protocol.NodeInfo, error)
	Servers(ctx context.Context) ([]protocol.ServerStatus, error)
	TestModel(ctx context.Context, model protocol.ModelRef) (protocol.ModelsTestResult, error)
}

// Options describe the gateway.
type Options struct {
	URL     string // names the gateway in findings
	Version string // of the program that shows them
	// Limited says why a gateway that supports only the basic protocol shows less; empty otherwise.
	Limited string
}

// findings collects results.
type findings []Finding

func (f *findings) add(check, state, found, fix string, action ...Action) {
	x := Finding{Check: check, State: state, Found: found, Fix: fix}
	if len(action) > 0 {
		x.Action = action[0]
	}
	*f = append(*f, x)
}

// CheckHome checks a data folder and its secrets. It blocks on the disk and the keychain.
func CheckHome(home string) []Finding {
	var f findings
	if err := checkWritable(home); err != nil {
		fix := "make the folder writable, or set FAIRLEAD_HOME to another one"
		if errors.Is(err, syscall.ENOSPC) {
			fix = "free up space on its disk"
		}
		f.add("data folder", Bad, err.Error(), fix, Folder)
	} else {
		f.add("data folder", OK, home, "")
	}
	if where := keychain.Open(home).Where(); where == keychain.Keychain {
		f.add("secrets", OK, "in the system's keychain", "")
	} else {
		f.add("secrets", Warning, "no keychain is available; secrets are stored in "+where+", which only you can read",
			"unlock or install a keychain (Debian: gnome-keyring)")
	}
	return f
}

// checkWritable returns an error if dir cannot be written. It creates the folder if it is missing.
func checkWritable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return err
	}
	_, werr := f.WriteString("ok")
	return errors.Join(werr, f.Close(), os.Remove(filepath.Join(dir, filepath.Base(f.Name()))))
}

// CheckGateway checks a gateway, its machines and its model.
func CheckGateway(ctx context.Context, g Gateway, o Options) []Finding {
	var f findings
	status, err := g.Status(ctx)
	if err != nil {
		f.add("gateway", Bad, err.Error(), "restart the gateway")
		return f
	}
	if o.Limited != "" {
		f.add("gateway", Note, o.URL+", "+o.Limited, "")
		f.addNodes(g.Nodes(ctx))
		f.add("model", Note, modelName(status.Model)+"; this gateway cannot test it", "")
		return f
	}
	f.addStatus(status, o)
	f.addNodes(g.Nodes(ctx))
	f.addServers(g.Servers(ctx))
	if status.Model.Provider == "operator" {
		f.add("model", OK, "no model is connected; the built-in operator answers", "")
		return f
	}
	test, err := g.TestModel(ctx, status.Model)
	switch {
	case err != nil:
		f.add("model", Bad, err.Error(), "choose another model in Settings", Model)
	case !test.OK:
		f.add("model", Bad, test.Message, "check the provider and its key in Settings", Model)
	default:
		f.add("model", OK, protocol.ProviderName(status.Model.Provider)+": "+test.Message, "")
	}
	return f
}

func modelName(m protocol.ModelRef) string { return m.ID + " of " + protocol.ProviderName(m.Provider) }

func (f *findings) addStatus(status protocol.Status, o Options) {
	if status.Version != o.Version {
		f.add("gateway", Warning, fmt.Sprintf("%s runs version %s, this program is version %s", o.URL, status.Version, o.Version), "quit the older of the two and start it again")
	} else {
		f.add("gateway", OK, o.URL, "")
	}
	if status.Storage != "" {
		f.add("database", Bad, status.Storage, "free up space on the data folder's disk; no saved messages were lost", Folder)
	} else {
		f.add("database", OK, "writable", "")
	}
	if len(status.Missing) > 0 {
		names := make([]string, len(status.Missing))
		for i, path := range status.Missing {
			names[i] = display.SecretName(path)
		}
		f.add("settings", Warning, strings.Join(names, ", ")+" cannot be read from the secret store",
			"unlock the keychain and restart the gateway, or enter them again", Model)
	}
	for _, problem := range status.ServiceProblems {
		f.add("published apps", Warning, problem, "correct the settings of published apps: docs/services.md says how")
	}
	if status.Paused {
		f.add("agent", Warning, "paused", "resume it in the tray menu or with fairlead resume", Resume)
	}
}

func (f *findings) addNodes(nodes []protocol.NodeInfo, err error) {
	if err != nil {
		f.add("machines", Bad, err.Error(), "restart the gateway")
		return
	}
	online := 0
	for _, n := range nodes {
		if n.Online {
			online++
		}
		f.addNode(n)
	}
	if online == 0 {
		f.add("machines", Warning, "no machine is connected, so the agent cannot run commands or open files",
			"start Fairlead on one of your machines; on the gateway's computer, start the desktop app or fairlead gateway --node", Machines)
	}
}

// addServers says whether the MCP servers are connected, and whether their commands may use the network.
func (f *findings) addServers(list []protocol.ServerStatus, err error) {
	if err != nil {
		f.add("MCP servers", Bad, err.Error(), "restart the gateway")
	}
	for _, s := range list {
		found := s.State
		if network := s.Spec.NetworkText(); network != "" {
			found += ", " + network
		}
		state, fix := OK, ""
		switch {
		case s.Error != "":
			found, state, fix = found+": "+s.Error, Warning, "see what it wrote: fairlead servers logs "+string(s.Name)
		case s.State == protocol.ServerSignIn:
			state, fix = Warning, "sign in: fairlead servers sign-in "+string(s.Name)
		}
		f.add("MCP server "+string(s.Name), state, found, fix)
	}
}

// addNode says whether a machine is connected, and what commands can do there.
func (f *findings) addNode(n protocol.NodeInfo) {
	check := "machine " + n.DisplayName()
	if !n.Online {
		found := "offline"
		if n.LastSeenAt > 0 {
			found += ", last seen " + format.Ago(n.LastSeenAt, time.Now())
		}
		f.add(check, Warning, found, "turn it on and start Fairlead there, or check its network connection", Machines)
		return
	}
	found := "online, " + format.Plural(len(n.Tools), "tool")
	if n.Host == nil || n.Host.Enforcement == nil {
		f.add(check, OK, found, "")
		return
	}
	c := display.ConfinementOf(n)
	x := Finding{Check: check, State: OK, Found: strings.Join(append([]string{found + ". " + c.Line}, c.Warnings...), " ")}
	x.Fix, x.Action = limitsFix(n, c)
	switch {
	case x.Fix != "":
		x.State = Warning
	case len(c.Warnings) > 0:
		x.State = Note
	}
	var details []string
	for _, g := range c.Guarantees {
		details = append(details, g.Text)
	}
	x.Details = strings.Join(details, "\n")
	*f = append(*f, x)
}

// limitsFix says what to do if commands on a machine do not run as they should, or are less limited
// than they could be.
func limitsFix(n protocol.NodeInfo, c display.Confinement) (fix string, action Action) {
	switch {
	case len(n.Warnings) > 0:
		return "on that machine, correct the cause and run a command again", Machines
	case n.Host.Enforcement.Mode == "full" && n.Local:
		return "limit commands in Settings, This computer, or start the node with --sandbox workspace-write", Limits
	case n.Host.Enforcement.Mode == "full":
		return "on that machine, limit commands in Settings, This computer, or start its node with --sandbox workspace-write", Machines
	case c.Level != display.LevelGood:
		return "see its details for what is missing and why", Machines
	case slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.HasPrefix(w, display.AsAdministrator) }):
		return "start Fairlead there as an ordinary user", Machines
	}
	return "", ""
}
