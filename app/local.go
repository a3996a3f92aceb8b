package app

import (
	"os"

	"fairlead/app/launch"
	"fairlead/app/style"
	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
)

// local gives the settings window access to this computer's own settings. It implements
// settings.Local.
type local struct{ b *backend }

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
func (l local) LogDir() string                { return gateway.LogDir(l.b.home) }

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
