package state

import (
	"cmp"
	"errors"
	"strings"

	"fairlead/gateway/protocol"
)

// Guarantee is one restriction of commands that a machine was tested for. Text describes it: the
// mechanism if it is enforced, or the reason and the remedy if not.
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
	for _, w := range e.Warnings {
		w = strings.Replace(w, "the node runs as root", "Fairlead runs as root there", 1)
		c.Warnings = append(c.Warnings, Sentence(errors.New(w))+".")
	}
	var missing []Guarantee
	for _, check := range e.Checks {
		if check.Enforced {
			c.Guarantees = append(c.Guarantees, Guarantee{guaranteeText(check), true})
		} else {
			missing = append(missing, Guarantee{guaranteeText(check), false})
		}
	}
	enforced := len(c.Guarantees)
	c.Guarantees = append(c.Guarantees, missing...)
	switch {
	case e.Mode == "full":
		c.Line, c.Level, c.Guarantees = "Commands run with all your permissions: confinement is off. They can read keys and tokens, including Fairlead's own.", LevelBad, nil
	case enforced == 0:
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
			text += " " + Sentence(errors.New(more)) + "."
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
