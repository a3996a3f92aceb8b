package settings

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/look"
	"fairlead/app/widgets"
)

// Local is what belongs to this computer and not to the gateway.
type Local interface {
	Workspace() string
	// SetWorkspace lets the agent work in another folder, at once. It blocks.
	SetWorkspace(dir string) error
	Confinement() Confinement
	// SetConfinement changes how far the agent reaches, at once; what runs on this computer is stopped. It blocks.
	SetConfinement(Confinement) error
	Hidden() bool // start in the tray
	SetHidden(bool)
	Listen() string // address of the gateway from the next start on
	SetListen(string)
	Token() (string, error) // of the gateway. It blocks: the keychain may ask the person.
	LogDir() string
}

// general is the page of appearance and start.
func (p *Page) general() fyne.CanvasObject {
	rows := p.appearance()
	if l := p.h.Local; l != nil {
		start, set := pick(starts, l.SetHidden)
		set(l.Hidden())
		rows = append(rows, section("At the start", start, muted("Where the desktop shows no tray, the window opens nevertheless.")))
	}
	return page(rows...)
}

// field is an entry with its buttons.
func field(entry fyne.CanvasObject, buttons ...fyne.CanvasObject) fyne.CanvasObject {
	return container.NewBorder(nil, nil, nil, widgets.Inset(0, 0, 0, look.Inside, container.NewCenter(widgets.Row(look.Inside, -1, buttons...))), entry)
}

// choice is a value of the configuration and its name in the window.
type choice[V comparable] struct {
	name  string
	value V
}

var (
	modes  = []choice[look.Mode]{{"As the system", look.System}, {"Light", look.Light}, {"Dark", look.Dark}}
	starts = []choice[bool]{{"Open the window", false}, {"Stay in the tray", true}}
	sizes  = []choice[float32]{{"Small", look.TextSmall}, {"Normal", look.TextNormal}, {"Large", look.TextLarge}, {"Largest", look.TextLargest}}
)

// pick makes a row of buttons of which one is chosen. It calls chosen for what the person chooses; set chooses without a call.
func pick[V comparable](list []choice[V], chosen func(V)) (row fyne.CanvasObject, set func(V)) {
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
	return widgets.Flow(look.Gap, buttons...), set
}

// appearance is theme and text size. A change is seen at once.
func (p *Page) appearance() []fyne.CanvasObject {
	result := muted("A change is seen at once, in every window.")
	mode, scale := look.System, look.TextNormal
	modeGroup, setMode := pick(modes, func(m look.Mode) {
		mode = m
		p.h.Theme(mode, scale)
		p.set("ui.theme", string(m), result)
	})
	sizeGroup, setSize := pick(sizes, func(s float32) {
		scale = s
		p.h.Theme(mode, scale)
		p.set("ui.textSize", s, result)
	})
	bind.Go(p.ctx, func(ctx context.Context) (UI, error) { return ReadUI(ctx, p.app) }, func(ui UI, err error) {
		if err != nil {
			result.Set(problem(err), look.ColorBad)
			return
		}
		mode, scale = look.Mode(ui.Theme), ui.TextSize
		setMode(mode)
		setSize(scale)
	})
	return []fyne.CanvasObject{section("Theme", modeGroup), section("Text size", sizeGroup, result)}
}
