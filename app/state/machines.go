package state

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// withID returns a name, followed by the ID in the records if that differs.
func withID(name, id string) string {
	if name == id || id == "" {
		return name
	}
	return name + " (" + id + ")"
}

// MachineLine summarizes a machine: its system, latency and activity.
func MachineLine(v View, n protocol.NodeInfo) string {
	running, pending := "", ""
	if n := len(v.CallsOn(n.ID)); n > 0 {
		running = Plural(n, "call running", "calls running")
	}
	if len(n.Held) > 0 {
		pending = Plural(len(n.Held), "tool needs", "tools need") + " your approval"
	}
	return joinNonEmpty(" · ", PlatformText(n), running, pending)
}

// PlatformText returns the common name of a machine's system.
func PlatformText(n protocol.NodeInfo) string {
	if h := n.Host; h != nil && h.OS != "" {
		return joinNonEmpty(", ", h.OS, h.Arch)
	}
	return n.Platform
}

// PresenceText describes whether a machine is online, and its latency.
func PresenceText(v View, n protocol.NodeInfo, now time.Time) string {
	switch {
	case n.Online && n.Local && v.Remote:
		return "the gateway's computer"
	case n.Online && n.Local:
		return "this computer"
	case n.Online && n.PingMs > 0 && n.PingMs < 1:
		return "under 1 ms"
	case n.Online && n.PingMs > 0:
		return fmt.Sprintf("%.0f ms", n.PingMs)
	case n.Online:
		return "online"
	case n.LastSeenAt == 0:
		return "never seen"
	}
	return "last seen " + When(n.LastSeenAt, now)
}

// MachineFact is one known fact about a machine.
type MachineFact struct{ Name, Text string }

type factList []MachineFact

func (l *factList) add(name, text string) {
	if text != "" {
		*l = append(*l, MachineFact{name, text})
	}
}

// FactsOf lists the known facts about a machine.
func FactsOf(v View, n protocol.NodeInfo, now time.Time) []MachineFact {
	var list factList
	presence := PresenceText(v, n, now)
	if n.Online && n.ConnectedAt > 0 {
		presence += ", connected since " + When(n.ConnectedAt, now)
	}
	list.add("Status", display.Capital(presence))
	list.add("System", PlatformText(n))
	list.add("Version", n.Version)
	if h := n.Host; h != nil {
		list.add("Host", joinNonEmpty(", ", h.Hostname, h.Address))
		list.add("User", h.User)
		list.add("Workspace", h.Workspace)
		list.add("Shell", h.Shell)
		for _, f := range h.Folders {
			switch {
			case f.Path == h.Workspace:
			case f.ReadOnly:
				list.add("Folder", f.Path+" (read only)")
			default:
				list.add("Folder", f.Path)
			}
		}
		if h.WholeDisk {
			list.add("Files", "The whole disk")
		}
	}
	if n.Direct {
		list.add("Transfers", "Direct transfers on the local network")
	}
	list.add("Tools", strings.Join(n.Tools, ", "))
	list.add("Capabilities", strings.Join(n.Caps, ", "))
	list.add("Pending tools", strings.Join(n.Held, ", "))
	return list
}

// Machines changes the known machines.
type Machines struct{ app *App }

// Rename renames a machine; an empty name restores its own.
func (m Machines) Rename(id protocol.NodeID, name string) {
	callInBackground(m.app, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: id, Name: &name})
}

// SetColour sets a machine's [protocol.NodeColours]; empty is the automatic one.
func (m Machines) SetColour(id protocol.NodeID, colour string) {
	callInBackground(m.app, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: id, Colour: &colour})
}

// Forget removes a machine and revokes it, since it would otherwise reconnect. A notice says if the
// same device is still paired as a window. It blocks.
func (m Machines) Forget(ctx context.Context, n protocol.NodeInfo) error {
	var gone protocol.Device
	if n.Device != "" {
		var err error
		if gone, err = Call(ctx, m.app, protocol.DeviceRevoke, protocol.DeviceParams{ID: n.Device}); err != nil {
			return err
		}
	}
	err := send(ctx, m.app, protocol.NodeForget, protocol.NodeForgetParams{NodeID: n.ID, Force: true})
	if err != nil || gone.Fingerprint == "" {
		return err
	}
	list, err := Call(ctx, m.app, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return nil // already forgotten
	}
	for _, d := range list.Devices {
		if d.Fingerprint == gone.Fingerprint && d.ID != gone.ID && d.RevokedAt == 0 {
			m.app.Notify("warning", fmt.Sprintf("%s can still control Fairlead. To end that too, revoke it under Machines, Paired devices.", d.Name))
		}
	}
	return nil
}

// Logs returns the last lines of a machine's log. It blocks.
func (m Machines) Logs(ctx context.Context, id protocol.NodeID) (string, error) {
	r, err := Call(ctx, m.app, protocol.GetLogs, protocol.LogsGetParams{NodeID: id, Lines: new(300.0)})
	return strings.Join(r.Lines, "\n"), err
}

// Guarantee is a tested restriction of commands. Text has the mechanism, or what is missing.
type Guarantee struct {
	Text     string
	Enforced bool
}

// Confinement describes how a machine confines commands.
type Confinement struct {
	Line string // summary in one line
	// Level is how reliable the confinement is: LevelGood, LevelWarning or LevelBad.
	Level      string
	Guarantees []Guarantee // the enforced ones first
	Warnings   []string
}

// Levels that are shown in different colours.
const (
	LevelGood    = "good"
	LevelWarning = "warning"
	LevelBad     = "bad"
)

// guarantees describe the checks of a node's report (node/sandbox).
var guarantees = map[string]string{
	"fs.write.outside":     "Commands can write only in the workspace and the allowed folders",
	"fs.read.secrets":      "Commands cannot read keys, passwords and browser data",
	"fs.write.protected":   "Commands cannot change files that run later, such as start-up files and git hooks",
	"fs.metadata":          "Commands cannot change permissions and times outside the workspace",
	"net.tcp":              "No TCP connections",
	"net.udp":              "No UDP",
	"net.mptcp":            "No multipath TCP",
	"net.raw":              "No raw network packets",
	"syscall.io_uring":     "No bypass through io_uring",
	"syscall.ptrace":       "Commands cannot inspect other programs",
	"ipc":                  "Commands cannot use shared memory and message queues",
	"process.signal":       "Commands cannot stop other programs",
	"process.priority":     "Commands cannot change the priority and limits of other programs",
	"process.capabilities": "Commands have no system privileges",
	"process.privileges":   "Commands cannot gain privileges, for example with sudo",
	"unix.abstract":        "No abstract local sockets",
	"unix.sockets":         "No local sockets of other programs",
	"pid.view":             "Commands do not see other programs",
	"orphans":              "No process stays behind when a command ends",
	"forks":                "A command cannot flood the machine with processes",
}

// ConfinementOf describes the confinement of commands on a machine.
func ConfinementOf(n protocol.NodeInfo) Confinement {
	if n.Host == nil || n.Host.Enforcement == nil {
		return Confinement{Line: "This machine does not report how it confines commands.", Level: LevelBad}
	}
	e := n.Host.Enforcement
	c := Confinement{Line: modeText(e) + ".", Level: LevelWarning}
	c.Warnings = Map(e.Warnings, func(w string) string {
		return display.Capital(strings.Replace(w, "the node runs as root", "Fairlead runs as root there", 1)) + "."
	})
	c.Guarantees = Map(e.Checks, func(check protocol.EnforcedCheck) Guarantee {
		return Guarantee{guaranteeText(check), check.Enforced}
	})
	slices.SortStableFunc(c.Guarantees, func(a, b Guarantee) int { return trueFirst(a.Enforced, b.Enforced) })
	switch {
	case e.Mode == "full":
		c.Line, c.Level, c.Guarantees = "Commands run with all your permissions: confinement is off. They can read keys and tokens, including Fairlead's own.", LevelBad, nil
	case len(c.Guarantees) == 0 || !c.Guarantees[0].Enforced:
		c.Line, c.Level = "This machine cannot enforce these settings: "+modeText(e)+".", LevelBad
	case e.Summary == "contained":
		c.Level = LevelGood
	}
	return c
}

func guaranteeText(c protocol.EnforcedCheck) string {
	text := cmp.Or(guarantees[c.ID], c.ID)
	if c.Enforced {
		if c.By != "" {
			text += " (" + c.By + ")"
		}
		return text + "."
	}
	text = "Not enforced: " + text + "."
	for _, more := range []string{c.Why, c.Fix} {
		if more != "" {
			text += " " + display.Capital(more) + "."
		}
	}
	return text
}

func modeText(e *protocol.Enforcement) string {
	text := "Commands can write only in the workspace and the allowed folders"
	if e.Mode == "read-only" {
		text = "Commands cannot change files"
	}
	if e.Network == "allowed" {
		return text + "; they can use the network"
	}
	return text + "; they have no network access"
}
