package app

import (
	"os"

	"fairlead/gateway"
	"fairlead/gateway/protocol/secret"
)

// local gives the settings window what belongs to this computer. It implements settings.Local.
type local struct{ b *backend }

func (l local) Workspace() string             { return l.b.node.dir() }
func (l local) SetWorkspace(dir string) error { return l.b.setWorkspace(dir) }
func (l local) Hidden() bool                  { return l.b.prefs.get().Hidden }
func (l local) SetHidden(on bool)             { l.b.prefs.update(func(r *remembered) { r.Hidden = on }) }
func (l local) Listen() string                { return l.b.prefs.get().Listen }
func (l local) SetListen(addr string)         { l.b.prefs.update(func(r *remembered) { r.Listen = addr }) }
func (l local) LogDir() string                { return gateway.LogDir(l.b.home) }

func (l local) Token() (string, error) {
	if t := os.Getenv("FAIRLEAD_TOKEN"); t != "" {
		return t, nil
	}
	t, err := secret.Open(l.b.home).Get(gateway.TokenName)
	return t.Reveal(), err
}
