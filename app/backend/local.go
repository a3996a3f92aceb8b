package backend

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fairlead/app/computer"
	"fairlead/app/launch"
	"fairlead/app/preferences"
	"fairlead/app/settings"
	"fairlead/app/style"
	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
	"fairlead/node"
)

// local gives the settings access to this computer's own settings.
type local struct{ b *Backend }

// Local are this computer's own settings.
func (b *Backend) Local() *settings.Local {
	l := local{b}
	return &settings.Local{Agent: l, Preferences: l, System: l, Token: l.Token, LogDir: gateway.LogDir(b.opts.Home)}
}

func (l local) Workspace() string             { return l.b.node.Dir() }
func (l local) SetWorkspace(dir string) error { return l.b.setWorkspace(dir) }
func (l local) Hidden() bool                  { return l.b.Prefs.Get().Hidden }
func (l local) SetHidden(on bool) {
	l.b.Prefs.Update(func(r *preferences.Preferences) { r.Hidden = on })
}
func (l local) Listen() string { return l.b.Prefs.Get().Listen }
func (l local) SetListen(addr string) {
	l.b.Prefs.Update(func(r *preferences.Preferences) { r.Listen = addr })
}
func (l local) AtLogin() bool            { return l.program().AtLogin() }
func (l local) SetAtLogin(on bool) error { return l.program().SetAtLogin(on) }
func (l local) Links() bool              { return l.program().Links() }
func (l local) SetLinks(on bool) error   { return l.program().SetLinks(on) }

func (l local) Token() (string, error) {
	if t := keychain.FromEnv(); t != "" {
		return t.Reveal(), nil
	}
	t, err := keychain.Open(l.b.opts.Home).Get(gateway.TokenName)
	return t.Reveal(), err
}

// program returns the command line for the system: with the same data folder.
func (l local) program() launch.Program {
	p, err := launch.This(os.Getenv("FAIRLEAD_HOME"), style.AppIcon().Content())
	if err != nil {
		l.b.log.Error("Finding the path of this program failed", "err", err)
	}
	return p
}

// parseConfinement converts the stored confinement to that of a node.
func parseConfinement(c preferences.Confinement) (node.Confinement, error) {
	var grants []string
	for _, f := range c.Folders {
		grants = append(grants, f.String())
	}
	parsed, err := node.ParseConfinement(c.Mode, c.NetworkOrDefault(), grants)
	if err == nil && c.Disk {
		parsed.WholeDisk, parsed.Grants = true, nil
	}
	return parsed, err
}

func (l local) Confinement() preferences.Confinement { return l.b.Prefs.Get().Confine }

// SetConfinement changes what this computer's node may access. On an error nothing changes.
func (l local) SetConfinement(c preferences.Confinement) error {
	if _, err := parseConfinement(c); err != nil {
		return err
	}
	for _, f := range c.Folders {
		if info, err := os.Stat(f.Dir); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is not a folder that can be opened", f.Dir)
		}
	}
	b, before := l.b, l.Confinement()
	b.Prefs.Update(func(r *preferences.Preferences) { r.Confine = c })
	if err := b.startNode(b.Workspace()); err != nil {
		b.Prefs.Update(func(r *preferences.Preferences) { r.Confine = before })
		return err
	}
	b.Gateways.Nodes.Restart()
	return nil
}

// startNode replaces the running node by one with another workspace, once that has stopped.
func (b *Backend) startNode(dir string) error {
	if b.gw == nil {
		return errors.New("this window is connected to a remote gateway; change this on that computer")
	}
	opts, err := b.nodeOptions(dir)
	if err != nil {
		return err
	}
	opts.ID, opts.Dial, opts.LogDir = computer.NodeID(), b.gw.Dial, b.gw.LogDir()
	opts.AskTarget = b.Gateways.Nodes.Targets.For("")
	return b.node.Start(dir, opts, b.log)
}

// nodeOptions returns the options that all nodes of this computer share: workspace and confinement.
func (b *Backend) nodeOptions(dir string) (node.Options, error) {
	confine, err := parseConfinement(b.Prefs.Get().Confine)
	return node.Options{Workspace: dir, Confine: confine, Home: b.gw.Home(), Logger: b.log, Version: gateway.Version}, err
}

// setWorkspace moves the node to another workspace, now and after the next start.
func (b *Backend) setWorkspace(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", dir)
	}
	if err := b.startNode(dir); err != nil {
		return err
	}
	b.Prefs.Update(func(r *preferences.Preferences) { r.Workspace = dir })
	b.Gateways.Nodes.Restart()
	return nil
}

// Workspace returns the agent's folder: from the command line, else from the preferences, else the
// one that fits how the program was started.
func (b *Backend) Workspace() string {
	if b.opts.Workspace != "" {
		return b.opts.Workspace
	}
	if dir := b.Prefs.Get().Workspace; dir != "" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		b.log.Warn("The workspace in the settings does not exist", "dir", dir)
	}
	return computer.Workspace()
}
