package settings

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/launch"
	"fairlead/app/preferences"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Local has the settings of this computer, not of the gateway.
type Local struct {
	Agent
	Preferences
	System
	Token  func() (string, error) // the gateway's token. It blocks: the keychain may ask the person.
	LogDir string
}

// Agent is the agent's access to this computer.
type Agent interface {
	Workspace() string
	// SetWorkspace changes the agent's folder at once. It blocks.
	SetWorkspace(dir string) error
	Confinement() preferences.Confinement
	// SetConfinement changes the agent's access at once, and stops its running calls here. It blocks.
	SetConfinement(preferences.Confinement) error
}

// Preferences are the settings of the next start.
type Preferences interface {
	Hidden() bool // start hidden in the tray
	SetHidden(bool)
	Listen() string // the gateway's address
	SetListen(string)
}

// System has the settings that the system stores about this program. Its methods block.
type System interface {
	AtLogin() bool // whether the program starts at login
	SetAtLogin(bool) error
	Links() bool // whether fairlead:// links open the program
	SetLinks(bool) error
}

// general is the page of appearance and start. It loads its values after it is displayed.
func (p *view) general() fyne.CanvasObject {
	rows, show := p.appearance()
	login, links := func(bool) {}, func(bool) {}
	l := p.o.Local
	if l != nil {
		var result *widgets.Paragraph
		start, set := choiceButtons(startChoices, func(on bool) {
			l.SetHidden(on)
			showSaved(result, nil)
		})
		start, result = withResult(start)
		set(l.Hidden())
		var row []fyne.CanvasObject
		row, login = p.systemChoice(onOffChoices, l.SetAtLogin, "Fairlead starts in the tray.")
		rows = append(rows, p.section("When Fairlead opens", start, mutedText("Without a tray, the window opens anyway.")), p.section("Start at login", row...))
		if launch.SupportsLinks {
			row, links = p.systemChoice(linkChoices, l.SetLinks, "Pairing invitations are such links. Nothing is paired without your approval.")
			rows = append(rows, p.section("fairlead:// links", row...))
		}
	}
	all := form(rows...)
	type found struct{ login, links bool }
	if l != nil {
		bind.Go(p.ctx, func(context.Context) (found, error) { return found{l.AtLogin(), l.Links()}, nil }, func(f found, _ error) {
			login(f.login)
			links(f.links)
		})
	}
	p.watchConfig(func(ctx context.Context) {
		bind.Go(ctx, func(ctx context.Context) (UI, error) { return ReadUI(ctx, p.e.Feed) }, show)
	})
	return all
}

// systemChoice are the rows of a setting of the system, and a function that shows its state.
func (p *view) systemChoice(list []choice[bool], put func(bool) error, about string) (rows []fyne.CanvasObject, set func(bool)) {
	var result *widgets.Paragraph
	buttons, set := choiceButtons(list, func(on bool) {
		bind.Run(p.ctx, func(context.Context) error { return put(on) }, func(err error) {
			if err != nil {
				set(!on)
			}
			showSaved(result, err)
		})
	})
	row, result := withResult(buttons)
	return []fyne.CanvasObject{row, mutedText(about)}, set
}

func field(entry fyne.CanvasObject, buttons ...fyne.CanvasObject) fyne.CanvasObject {
	return widgets.WithControls(180, entry, widgets.Row(style.Inside, -1, buttons...))
}

// choice is a value of the configuration with its label.
type choice[V comparable] struct {
	name  string
	value V
}

var (
	themeChoices    = []choice[style.Mode]{{"Match system", style.System}, {"Light", style.Light}, {"Dark", style.Dark}}
	startChoices    = []choice[bool]{{"Open the window", false}, {"Stay in the tray", true}}
	onOffChoices    = []choice[bool]{{"On", true}, {"Off", false}}
	linkChoices     = []choice[bool]{{"Open in Fairlead", true}, {"Off", false}}
	textSizeChoices = []choice[float32]{{"Small", style.TextSmall}, {"Normal", style.TextNormal}, {"Large", style.TextLarge}, {"Largest", style.TextLargest}}
)

// choiceButtons creates a row of buttons of which one is selected; set does not call chosen.
func choiceButtons[V comparable](list []choice[V], chosen func(V)) (row fyne.CanvasObject, set func(V)) {
	buttons := make([]fyne.CanvasObject, len(list))
	set = func(v V) {
		for i, c := range list {
			b := buttons[i].(*widgets.Button)
			if on := c.value == v; b.Primary != on {
				b.Primary = on
				b.Refresh()
			}
		}
	}
	for i, c := range list {
		buttons[i] = widgets.NewButton(c.name, "", func() {
			set(c.value)
			chosen(c.value)
		})
	}
	return widgets.Flow(style.Gap, buttons...), set
}

// appearance has theme and text size, and a function that shows their values.
func (p *view) appearance() (rows []fyne.CanvasObject, show func(UI, error)) {
	var modeResult, sizeResult *widgets.Paragraph
	modeGroup, setMode := choiceButtons(themeChoices, func(m style.Mode) { p.saveSetting("ui.theme", m, modeResult) })
	sizeGroup, setSize := choiceButtons(textSizeChoices, func(s float32) { p.saveSetting("ui.textSize", s, sizeResult) })
	modeRow, modeResult := withResult(modeGroup)
	sizeRow, sizeResult := withResult(sizeGroup)
	failed := false
	show = func(ui UI, err error) {
		if err != nil {
			failed = true
			setError(modeResult, err)
			return
		}
		if failed {
			failed = false
			modeResult.Set("", style.ColorMuted)
		}
		setMode(style.Mode(ui.Theme))
		setSize(ui.TextSize)
	}
	return []fyne.CanvasObject{p.section("Theme", modeRow), p.section("Text size", sizeRow)}, show
}

// UI has the windows' settings in the configuration.
type UI struct {
	Theme        string  `json:"theme"`
	TextSize     float32 `json:"textSize"`
	FirstRunDone bool    `json:"firstRunDone"`
}

// ReadUI loads it. It blocks.
func ReadUI(ctx context.Context, g feed.Gateway) (UI, error) {
	return feed.ConfigAt[UI](ctx, g, "ui")
}

// watchConfig calls read now, whenever the configuration changes, and after a reconnection.
func (p *view) watchConfig(read func(ctx context.Context)) {
	var newest bind.Newest
	type seen struct {
		changes   int
		connected bool
	}
	var last *seen
	bind.Watch(p.ctx, p.e.Feed.Watch(p.e.Feed.Status, p.e.Feed.Changed), func(v feed.View) {
		now := seen{v.Changed.Config, v.Status.Connected}
		if last == nil || *last != now && v.Status.Connected {
			read(newest.Context(p.ctx))
		}
		last = &now
	})
}
