package app

import (
	"fmt"
	"os"

	"fairlead/app/launch"
	"fairlead/app/settings"
	"fairlead/app/style"
	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
	"fairlead/node"
	"fairlead/node/workspace"
)

// local gives the settings window access to this computer's own settings.
type local struct{ b *backend }

func (l local) settings() *settings.Local {
	return &settings.Local{Agent: l, Preferences: l, System: l, Token: l.Token, LogDir: gateway.LogDir(l.b.home)}
}

func (l local) Workspace() string             { return l.b.node.dir() }
func (l local) SetWorkspace(dir string) error { return l.b.setWorkspace(dir) }
func (l local) Hidden() bool                  { return l.b.prefs.get().Hidden }
func (l local) SetHidden(on bool)             { l.b.prefs.update(func(r *preferences) { r.Hidden = on }) }
func (l local) Listen() string                { return l.b.prefs.get().Listen }
func (l local) SetListen(addr string)         { l.b.prefs.update(func(r *preferences) { r.Listen = addr }) }
func (l local) AtLogin() bool                 { return l.program().AtLogin() }
func (l local) SetAtLogin(on bool) error      { return l.program().SetAtLogin(on) }
func (l local) Links() bool                   { return l.program().Links() }
func (l local) SetLinks(on bool) error        { return l.program().SetLinks(on) }

func (l local) Token() (string, error) {
	if t := keychain.FromEnv(); t != "" {
		return t.Reveal(), nil
	}
	t, err := keychain.Open(l.b.home).Get(gateway.TokenName)
	return t.Reveal(), err
}

// program returns this program's command line as the system shall start it: with the same data
// folder, which --home also sets in the environment.
func (l local) program() launch.Program {
	p, err := launch.This(os.Getenv("FAIRLEAD_HOME"), style.AppIcon().Content())
	if err != nil {
		l.b.log.Error("Finding the path of this program failed", "err", err)
	}
	return p
}

// parse converts the stored settings to the options of a node.
func (c confinement) parse() (node.Confinement, error) {
	parsed, err := node.ParseConfinement(c.Mode, c.Network, c.Grants)
	if err == nil && c.Disk {
		parsed.WholeDisk, parsed.Grants = true, nil
	}
	return parsed, err
}

// setConfinement changes what this computer's node may access, now and after the next start. On an
// error nothing changes.
func (b *backend) setConfinement(c confinement) error {
	if _, err := c.parse(); err != nil {
		return err
	}
	for _, text := range c.Grants {
		g, err := workspace.ParseGrant(text)
		if err != nil {
			return err
		}
		if info, err := os.Stat(g.Dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is not a folder that can be opened", g.Dir)
		}
	}
	before := b.prefs.get().Confine
	b.prefs.update(func(r *preferences) { r.Confine = c })
	if err := b.startNode(b.workspace()); err != nil {
		b.prefs.update(func(r *preferences) { r.Confine = before })
		return err
	}
	b.remote.nodes.restart()
	return nil
}

func (l local) Confinement() settings.Confinement {
	c := l.b.prefs.get().Confine
	out := settings.Confinement{Disk: c.Disk, Mode: c.Mode, Network: c.Network}
	for _, text := range c.Grants {
		if g, err := workspace.ParseGrant(text); err == nil {
			out.Folders = append(out.Folders, settings.Folder(g))
		}
	}
	return out
}

func (l local) SetConfinement(c settings.Confinement) error {
	out := confinement{Disk: c.Disk, Mode: c.Mode, Network: c.Network}
	for _, f := range c.Folders {
		text := f.Dir + ":rw" // always explicit: a folder's own name may end in :ro
		if f.ReadOnly {
			text = f.Dir + ":ro"
		}
		out.Grants = append(out.Grants, text)
	}
	return l.b.setConfinement(out)
}
