package settings

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/bind"
	"fairlead/app/nodes"
	"fairlead/app/state"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Confinement defines what the agent may access on this computer.
type Confinement struct {
	Disk    bool   // the file tools may access all paths
	Mode    string // for commands: read-only, workspace-write or full; empty is workspace-write
	Network string // for commands: blocked, ask or allowed; empty is blocked
	Folders []Folder
}

// Folder is an additional folder outside the workspace.
type Folder struct {
	Dir      string
	ReadOnly bool
}

var (
	reaches   = []choice[bool]{{"Workspace and allowed folders", false}, {"Whole disk", true}}
	sandboxes = []choice[string]{{"Read only", "read-only"}, {"Write in the workspace", "workspace-write"}, {"Full access", "full"}}
	networks  = []choice[string]{{"Blocked", "blocked"}, {"Ask each time", "ask"}, {"Allowed", "allowed"}}
)

// computerPage is the page of the agent's access to this computer.
type computerPage struct {
	p       *Page
	l       Local
	now     Confinement
	said    *widgets.Paragraph
	folders *fyne.Container
	kept    *fyne.Container // enforced restrictions
	shown   string          // content of kept
	redraw  func()
}

// computer creates the page.
func (p *Page) computer() fyne.CanvasObject {
	l := p.h.Local
	if l == nil {
		return page(section("This computer", muted("This window shows a remote gateway. Its agent does not run on this computer.")))
	}
	c := &computerPage{
		p: p, l: l, now: l.Confinement(), folders: container.NewVBox(), kept: container.NewVBox(),
		said: muted("Changes apply immediately and stop running calls on this computer."),
	}
	reach, setReach := pick(reaches, func(disk bool) { next := c.now; next.Disk = disk; c.set(next) })
	mode, setMode := pick(sandboxes, func(m string) { next := c.now; next.Mode = m; c.set(next) })
	network, setNetwork := pick(networks, func(n string) { next := c.now; next.Network = n; c.set(next) })
	c.redraw = func() {
		setReach(c.now.Disk)
		setMode(cmp.Or(c.now.Mode, "workspace-write"))
		setNetwork(cmp.Or(c.now.Network, "blocked"))
		c.drawFolders()
	}
	c.redraw()
	c.enforced(p.app.Value.Get())
	built := page(p.workspace(l),
		section("Allowed folders", muted("Folders outside the workspace that the agent may also use."), c.folders),
		section("File access", reach, muted("What the agent's tools may open, read and change.")),
		section("Commands can write to", mode, muted("The agent's commands may write here and nowhere else. With Read only, the agent's tools and transfers cannot change anything on this computer either.")),
		section("Network access for commands", network, c.said),
		section("Enforced on this computer", c.kept))
	bind.Watch(p.ctx, p.app.Value, c.enforced) // it updates objects that exist now
	return built
}

// set saves another confinement.
func (c *computerPage) set(next Confinement) {
	c.said.Set("Saving…", style.ColorMuted)
	bind.Go(c.p.ctx, func(context.Context) (struct{}, error) { return struct{}{}, c.l.SetConfinement(next) }, func(_ struct{}, err error) {
		c.now = c.l.Confinement()
		c.redraw()
		if err != nil {
			c.said.Set(problem(err), style.ColorBad)
			return
		}
		c.said.Set("✓ Saved.", style.ColorGood)
	})
}

func (c *computerPage) drawFolders() {
	c.folders.Objects = nil
	for i, f := range c.now.Folders {
		path := widgets.NewText(f.Dir, style.ColorText, "text")
		path.Ellipsis = true
		way := "Read and write"
		if f.ReadOnly {
			way = "Read only"
		}
		turn := widgets.NewQuiet(way, "", func() { c.change(func(list []Folder) []Folder { list[i].ReadOnly = !list[i].ReadOnly; return list }) })
		remove := widgets.NewQuiet("Remove", "cross", func() { c.change(func(list []Folder) []Folder { return slices.Delete(list, i, i+1) }) })
		c.folders.Add(widgets.Row(style.Inside, 1, widget.NewIcon(style.IconIn("folder", style.ColorMuted)), path, turn, remove))
	}
	add := widgets.NewButton("Add folder…", "plus", func() {
		c.p.h.PickFolder(func(dir string) {
			c.change(func(list []Folder) []Folder {
				if slices.ContainsFunc(list, func(f Folder) bool { return f.Dir == dir }) {
					return list
				}
				return append(list, Folder{Dir: dir, ReadOnly: true})
			})
		})
	})
	if len(c.now.Folders) == 0 {
		c.folders.Add(widgets.NewText("None. The agent stays in its workspace.", style.ColorMuted, "text"))
	}
	c.folders.Add(widgets.Row(style.Inside, -1, add))
	c.folders.Refresh()
}

// change sets another list of folders; f may modify its argument.
func (c *computerPage) change(f func([]Folder) []Folder) {
	next := c.now
	next.Folders = f(slices.Clone(next.Folders))
	c.set(next)
}

// enforced shows the restrictions that this computer enforces, as tested.
func (c *computerPage) enforced(v state.View) {
	n, ok := v.Local()
	if !ok {
		c.kept.Objects = []fyne.CanvasObject{muted("This computer's tools are not running yet.")}
		c.kept.Refresh()
		c.shown = ""
		return
	}
	now := state.ConfinementOf(n)
	if key := fmt.Sprint(now); key != c.shown {
		c.shown = key
		c.kept.Objects = []fyne.CanvasObject{nodes.Confinement(now)}
		c.kept.Refresh()
	}
}

// workspace shows the agent's folder on this computer.
func (p *Page) workspace(l Local) fyne.CanvasObject {
	said := muted("Reading here needs no approval. Changes and other folders do.")
	entry := widget.NewEntry()
	entry.SetText(l.Workspace())
	set := func(dir string) {
		said.Set("Changing the folder…", style.ColorMuted)
		bind.Go(p.ctx, func(context.Context) (struct{}, error) { return struct{}{}, l.SetWorkspace(dir) }, func(_ struct{}, err error) {
			if err != nil {
				said.Set(problem(err), style.ColorBad)
				return
			}
			entry.SetText(l.Workspace())
			said.Set("✓ Saved. The agent now works in this folder.", style.ColorGood)
		})
	}
	entry.OnSubmitted = set
	choose := widgets.NewButton("Choose…", "folder", func() { p.h.PickFolder(set) })
	use := widgets.NewButton("Use", "check", func() { set(entry.Text) })
	return section("Workspace folder", field(entry, choose, use), said)
}
