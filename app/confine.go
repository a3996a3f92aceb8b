package app

import (
	"fmt"
	"os"

	"fairlead/app/settings"
	"fairlead/node"
	"fairlead/node/workspace"
)

// parse converts the stored settings to the options of a node.
func (c confinement) parse() (node.Confinement, error) {
	parsed, err := node.ParseConfinement(c.Mode, c.Network, c.Grants)
	if err == nil && c.Disk {
		parsed.Access, parsed.Grants = workspace.WholeDisk, nil
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
