package display

import (
	"cmp"
	"strings"

	"fairlead/gateway/peer/format"
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

// guarantees say what a check means to a person, by its ID: if it holds, and if it does not.
var guarantees = map[string]struct{ holds, open string }{
	"fs.write.outside":     {"Commands can write only in the workspace and the allowed folders", "Commands can write outside the workspace and the allowed folders"},
	"fs.read.secrets":      {"Commands cannot read keys, passwords and browser data", "Commands can read keys, passwords and browser data"},
	"fs.write.protected":   {"Commands cannot change files that run later, such as start-up files and git hooks", "Commands can change files that run later, such as start-up files and git hooks, until Fairlead puts them back after the command"},
	"fs.metadata":          {"Commands cannot change permissions and times outside the workspace", "Commands can change permissions and times of your files outside the workspace"},
	"net.tcp":              {noNetwork, "Commands can use the network"},
	"net.udp":              {noNetwork, "Commands can use the network"},
	"net.mptcp":            {noNetwork, "Commands can use the network"},
	"net.raw":              {noNetwork, "Commands can use the network"},
	"unix.abstract":        {noTalk, "Commands can talk to your other programs"},
	"unix.sockets":         {noTalk, "Commands can talk to your other programs"},
	"ipc":                  {noTalk, "Commands can talk to your other programs"},
	"syscall.ptrace":       {noTouch, "Commands can read the memory of your other programs"},
	"process.signal":       {noTouch, "Commands can stop your other programs"},
	"process.priority":     {noTouch, "Commands can slow down your other programs"},
	"pid.view":             {noTouch, "Commands can see your other programs"},
	"process.capabilities": {noRights, "Commands have the rights of the administrator"},
	"process.privileges":   {noRights, "Commands can become administrator, for example with sudo"},
	"syscall.io_uring":     {"Commands cannot get around these limits", "Commands can get around these limits"},
	"process.programs":     {"Your deny rules for programs also hold for what a command starts", "Your deny rules for programs hold only for the command itself"},
	"orphans":              {"Nothing keeps running when a command has ended", "Programs can keep running when their command has ended"},
	"forks":                {"A command can start only a limited number of programs", "A command can start any number of programs"},
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
		c.Warnings = append(c.Warnings, format.Capital(w)+".")
	}
	c.Warnings = append(c.Warnings, n.Warnings...)
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

// guaranteesOf words the checks, each meaning once: the ones that hold first. Of those with one
// meaning, none is listed as holding if another one does not.
func guaranteesOf(checks []protocol.EnforcedCheck) (list []Guarantee) {
	broken := make(map[string]bool)
	for _, c := range checks {
		broken[guarantees[c.ID].holds] = broken[guarantees[c.ID].holds] || !c.Enforced
	}
	var missing []Guarantee
	seen := make(map[string]bool)
	for _, c := range checks {
		words := guarantees[c.ID]
		g := Guarantee{cmp.Or(words.holds, c.ID) + ".", c.Enforced}
		if !c.Enforced {
			g.Text = openText(c)
		}
		switch {
		case seen[g.Text] || g.Enforced && words.holds != "" && broken[words.holds]:
		case g.Enforced:
			list = append(list, g)
		default:
			missing = append(missing, g)
		}
		seen[g.Text] = true
	}
	return append(list, missing...)
}

// openText says what commands can do because a check does not hold, and what would help.
func openText(c protocol.EnforcedCheck) string {
	text := cmp.Or(guarantees[c.ID].open, "Not limited: "+c.ID)
	if strings.Contains(c.Why, "root's processes") {
		return text + " (Fairlead runs as administrator)."
	}
	if c.Fix != "" {
		text += ". " + format.Capital(strings.TrimSuffix(c.Fix, "."))
	}
	return text + "."
}

func modeText(e *protocol.Enforcement) string {
	text := "Commands here can write only in your workspace"
	switch {
	case e.Mode == "read-only":
		text = "Commands here cannot change files"
	case protects(e):
		text += ", except files that start programs,"
	}
	if e.Network == "allowed" {
		return text + " and can use the network"
	}
	return text + " and have no network, unless you allow it"
}
