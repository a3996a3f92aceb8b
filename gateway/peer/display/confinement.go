package display

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Guarantee is a tested restriction of commands. Text says so, or what is missing.
type Guarantee struct {
	Text     string
	Enforced bool
}

// Confinement describes how a machine confines commands.
type Confinement struct {
	Line string // summary in one sentence
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

// AsAdministrator begins a warning about a node that runs as root.
const AsAdministrator = "Fairlead runs as administrator here"

// guarantees describe the checks of a node's report (node/sandbox). Checks that mean the same to a
// person share a text.
var guarantees = map[string]string{
	"fs.write.outside":     "Commands can write only in the workspace and the allowed folders",
	"fs.read.secrets":      "Commands cannot read keys, passwords and browser data",
	"fs.write.protected":   "Commands cannot change files that run later, such as start-up files and git hooks",
	"fs.metadata":          "Commands cannot change permissions and times outside the workspace",
	"net.tcp":              noNetwork,
	"net.udp":              noNetwork,
	"net.mptcp":            noNetwork,
	"net.raw":              noNetwork,
	"unix.abstract":        noTalk,
	"unix.sockets":         noTalk,
	"ipc":                  noTalk,
	"syscall.ptrace":       noTouch,
	"process.signal":       noTouch,
	"process.priority":     noTouch,
	"pid.view":             noTouch,
	"process.capabilities": noRights,
	"process.privileges":   noRights,
	"syscall.io_uring":     "Commands cannot get around these limits",
	"orphans":              "Nothing keeps running when a command has ended",
	"forks":                "A command cannot flood the machine with programs",
}

const (
	noNetwork = "Commands cannot use the network"
	noTalk    = "Commands cannot talk to other programs"
	noTouch   = "Commands cannot see, stop or change other programs"
	noRights  = "Commands cannot become administrator, for example with sudo"
)

// ConfinementOf describes the confinement of commands on a machine.
func ConfinementOf(n protocol.NodeInfo) Confinement {
	if n.Host == nil || n.Host.Enforcement == nil {
		return Confinement{Line: "This machine does not report what commands can do there.", Level: LevelBad}
	}
	e := n.Host.Enforcement
	c := Confinement{Line: modeText(e) + ".", Level: LevelWarning}
	for _, w := range e.Warnings {
		w = strings.Replace(w, "the node runs as root", AsAdministrator, 1)
		c.Warnings = append(c.Warnings, Capital(w)+".")
	}
	c.Guarantees = guaranteesOf(e.Checks)
	switch {
	case e.Mode == "full":
		c.Line, c.Level, c.Guarantees = "Commands here run with all your permissions. They can read keys and tokens, including Fairlead's own.", LevelBad, nil
	case len(c.Guarantees) == 0 || !c.Guarantees[0].Enforced:
		c.Line, c.Level = "This machine cannot limit commands. They can change any file of yours and use the network.", LevelBad
	case e.Summary == "contained":
		c.Level = LevelGood
	default:
		c.Line += " Some of these limits do not hold here."
	}
	return c
}

// guaranteesOf returns the restrictions that checks prove, and those that a failed check refutes.
func guaranteesOf(checks []protocol.EnforcedCheck) (list []Guarantee) {
	var all []Guarantee
	for _, c := range checks {
		g := Guarantee{cmp.Or(guarantees[c.ID], c.ID) + ".", c.Enforced}
		if !c.Enforced {
			g.Text = "Not enforced: " + g.Text
			for _, more := range []string{c.Why, c.Fix} {
				if more != "" {
					g.Text += " " + Capital(strings.TrimSuffix(more, ".")) + "."
				}
			}
		}
		all = append(all, g)
	}
	fails := func(text string) bool {
		return slices.ContainsFunc(all, func(g Guarantee) bool { return strings.HasPrefix(g.Text, "Not enforced: "+text) })
	}
	var missing []Guarantee
	seen := map[string]bool{}
	for _, g := range all {
		switch {
		case seen[g.Text] || g.Enforced && fails(g.Text):
		case g.Enforced:
			list = append(list, g)
		default:
			missing = append(missing, g)
		}
		seen[g.Text] = true
	}
	return append(list, missing...)
}

func modeText(e *protocol.Enforcement) string {
	text := "Commands here can write only in your workspace"
	if e.Mode == "read-only" {
		text = "Commands here cannot change files"
	}
	if e.Network == "allowed" {
		return text + " and can use the network"
	}
	return text + " and have no network, unless you allow it"
}
