package shell

import (
	"slices"
	"strings"

	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// confinement is what commands on this machine may reach, and what they inherit.
type confinement struct {
	box        *sandbox.Box // nil: commands are plain children
	profile    sandbox.Profile
	askNetwork bool
	env        []string // see [JobOptions]
	home       string   // see [JobOptions]
}

func newConfinement(o JobOptions) *confinement {
	return &confinement{box: o.Box, profile: o.Profile, askNetwork: o.AskNetwork, env: o.Env, home: o.Home}
}

// isEnforced reports whether the box restricts commands.
func (c *confinement) isEnforced() bool { return c.box != nil && c.profile.Mode != sandbox.Full }

// environ returns the environment of a command in a folder.
func (c *confinement) environ(dir string) []string {
	if c.isEnforced() {
		return sandbox.Environ(dir, c.env)
	}
	return environ(dir)
}

// profileOf returns the restrictions of one command.
func (c *confinement) profileOf(o startRequest) sandbox.Profile {
	profile := c.profile
	if o.network {
		profile.Network = sandbox.NetAllowed
	}
	if r := o.rules; r != nil {
		profile.Hidden, profile.ReadOnly = r.Hidden, r.ReadOnly
		for _, argv := range r.Programs {
			profile.Programs = append(profile.Programs, argv)
		}
	}
	profile.Unprotected, profile.Unpinned = o.direct, movesInFolders(o.command, o.dir)
	for _, path := range slices.Concat(o.lifts, o.records) {
		profile.Lifted = append(profile.Lifted, workspace.Unspell(path))
	}
	for _, f := range o.folders {
		f.Path = workspace.Unspell(f.Path)
		if f.Write {
			profile.Write = append(slices.Clone(profile.Write), f.Path)
		} else {
			profile.Read = append(slices.Clone(profile.Read), f.Path)
		}
	}
	return profile
}

// enforcement describes in one line how a command is contained; empty without a box.
func (c *confinement) enforcement(o startRequest) string {
	if c.box == nil {
		return ""
	}
	return Enforced(c.box.Report(), c.profileOf(o))
}

// start starts a program: in the box if there is one, else as a plain child of this process.
func (c *confinement) start(spec sandbox.Spec) (*sandbox.Process, error) {
	if c.box == nil {
		return sandbox.Direct(spec)
	}
	return c.box.Start(spec)
}

const (
	notEnforced = "not enforced on this machine"
	fullAccess  = "full access, as set for this machine, including keys and tokens of Fairlead and others"
)

// Enforced describes in one line, for approvals and results, what is enforced for commands with
// profile p on a machine with report r.
func Enforced(r sandbox.Report, p sandbox.Profile) string {
	if p.Mode == sandbox.Full {
		return fullAccess
	}
	p = p.WithDefaults()
	files := r.ConfinesFiles()
	blocked := p.Network == sandbox.NetBlocked
	net := blocked && r.BlocksNetwork()
	if !files && !net {
		return notEnforced
	}
	words := []string{"files " + string(p.Mode), "network blocked"}
	if !files {
		words[0] = "files " + notEnforced
	}
	switch {
	case !blocked:
		words[1] = "network allowed"
	case !net:
		words[1] = "network " + notEnforced
	}
	return strings.Join(words, ", ")
}
