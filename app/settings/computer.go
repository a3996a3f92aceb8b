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
	"fairlead/app/confinement"
	"fairlead/app/feed"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol/display"
)

var (
	fileAccessChoices = []choice[bool]{{"Workspace and allowed folders", false}, {"Whole disk", true}}
	sandboxChoices    = []choice[string]{{"Read only", "read-only"}, {"Write in the workspace", "workspace-write"}, {"Full access", "full"}}
	networkChoices    = []choice[string]{{"Blocked", "blocked"}, {"Ask each time", "ask"}, {"Allowed", "allowed"}}
)

// computerPage is the page of the agent's access to this computer.
type computerPage struct {
	page    *view
	agent   Agent
	current preferences.Confinement
	folders *fyne.Container
	// the button that adds a folder, and the result of changing folders beside it
	folderRow    fyne.CanvasObject
	folderResult *widgets.Paragraph
	enforcement  widgets.Body // enforced restrictions
	redraw       func()
}

func (p *view) computer() fyne.CanvasObject {
	l := p.o.Local
	if l == nil {
		return form(p.section(computerTitle, mutedText("This window shows a remote gateway. Its agent does not run on this computer.")))
	}
	c := &computerPage{
		page: p, agent: l, current: l.Confinement(), folders: container.NewVBox(), enforcement: widgets.NewBody(),
	}
	reach, setReach := confinementChoice(c, fileAccessChoices, func(to *preferences.Confinement, disk bool) { to.Disk = disk })
	mode, setMode := confinementChoice(c, sandboxChoices, func(to *preferences.Confinement, m string) { to.Mode = m })
	network, setNetwork := confinementChoice(c, networkChoices, func(to *preferences.Confinement, n string) { to.Network = n })
	c.folderRow = c.newFolderRow()
	c.redraw = func() {
		setReach(c.current.Disk)
		setMode(cmp.Or(c.current.Mode, "workspace-write"))
		setNetwork(c.current.NetworkOrDefault())
		c.drawFolders()
	}
	c.redraw()
	c.showEnforcement(p.e.Feed.Machines.Get())
	built := form(p.workspace(l),
		p.section("Allowed folders", mutedText("Folders outside the workspace that the agent may also use."), c.folders),
		p.section("File access", reach, mutedText("What the agent's tools may open, read and change.")),
		p.section("What commands may change", mode, mutedText("The agent's commands can change files here and nowhere else. With Read only, the agent's tools and transfers cannot change anything on this computer either.")),
		p.section("Network access for commands", network, mutedText("Changes apply immediately and stop running calls on this computer.")),
		p.section("Enforced on this computer", c.enforcement.Box))
	bind.Watch(p.ctx, p.e.Feed.Machines, c.showEnforcement) // it updates objects that exist now
	return built
}

// confinementChoice is a choice of one part of the confinement, with the result of saving it.
func confinementChoice[V comparable](c *computerPage, list []choice[V], change func(to *preferences.Confinement, v V)) (row fyne.CanvasObject, set func(V)) {
	var result *widgets.Paragraph
	buttons, set := choiceButtons(list, func(v V) {
		next := c.current
		change(&next, v)
		c.save(next, result)
	})
	row, result = withResult(buttons)
	return row, set
}

func (c *computerPage) save(next preferences.Confinement, result *widgets.Paragraph) {
	result.Set("Saving…", style.ColorMuted)
	bind.Run(c.page.ctx, func(context.Context) error { return c.agent.SetConfinement(next) }, func(err error) {
		c.current = c.agent.Confinement()
		c.redraw()
		showSaved(result, err)
	})
}

func (c *computerPage) drawFolders() {
	c.folders.Objects = nil
	for i, f := range c.current.Folders {
		path := widgets.NewText(f.Dir, style.ColorText, "text")
		path.Ellipsis, path.IsPath = true, true
		turn := widgets.NewQuietButton(widgets.Choose(f.ReadOnly, "Read only", "Read and write"), "", func() {
			c.changeFolders(func(list []preferences.Folder) []preferences.Folder {
				list[i].ReadOnly = !list[i].ReadOnly
				return list
			})
		})
		remove := widgets.NewQuietButton("Remove", "cross", func() {
			c.changeFolders(func(list []preferences.Folder) []preferences.Folder { return slices.Delete(list, i, i+1) })
		})
		c.folders.Add(widgets.Row(style.Inside, 1, widget.NewIcon(style.IconIn("folder", style.ColorMuted)), path, turn, remove))
	}
	if len(c.current.Folders) == 0 {
		c.folders.Add(widgets.NewText("None. The agent stays in its workspace.", style.ColorMuted, "text"))
	}
	c.folders.Add(c.folderRow)
	c.folders.Refresh()
}

func (c *computerPage) newFolderRow() (row fyne.CanvasObject) {
	add := widgets.NewButton("Add folder…", "plus", func() {
		c.page.chooseFolder(func(dir string) {
			c.changeFolders(func(list []preferences.Folder) []preferences.Folder {
				if slices.ContainsFunc(list, func(f preferences.Folder) bool { return f.Dir == dir }) {
					return list
				}
				return append(list, preferences.Folder{Dir: dir, ReadOnly: true})
			})
		})
	})
	row, c.folderResult = withResult(add)
	return row
}

// changeFolders sets another list of folders; f may modify its argument.
func (c *computerPage) changeFolders(f func([]preferences.Folder) []preferences.Folder) {
	next := c.current
	next.Folders = f(slices.Clone(next.Folders))
	c.save(next, c.folderResult)
}

// showEnforcement shows the restrictions that this computer enforces, as tested.
func (c *computerPage) showEnforcement(l feed.MachineList) {
	n, ok := l.Local()
	if !ok {
		c.enforcement.Draw("", func() fyne.CanvasObject { return mutedText("This computer's tools are not running yet.") })
		return
	}
	now := display.ConfinementOf(n)
	c.enforcement.Draw(fmt.Sprint(now), func() fyne.CanvasObject { return confinement.New(now) })
}

// workspace shows the agent's folder on this computer.
func (p *view) workspace(l Agent) fyne.CanvasObject {
	status := mutedText("Reading here needs no approval. Changes and other folders do.")
	entry := widgets.NewEntry()
	entry.SetPath(l.Workspace())
	line, draft := keepDraft(p.e.Drafts, "workspace folder", entry)
	set := func(dir string) {
		status.Set("Changing the folder…", style.ColorMuted)
		p.run(status, func(context.Context) error { return l.SetWorkspace(dir) }, func() {
			entry.SetPath(l.Workspace())
			draft.Drop()
			line.Hide()
			status.Set("✓ Saved. The agent now works in this folder.", style.ColorGood)
		})
	}
	entry.OnSubmitted = set
	choose := widgets.NewButton("Choose…", "folder", func() { p.chooseFolder(set) })
	use := widgets.NewButton("Use", "check", func() { set(entry.Text) })
	return p.section("Workspace folder", line, field(entry, choose, use), status)
}
