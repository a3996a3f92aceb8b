package terminal

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"fairlead/app/widgets"
)

// pointer selects text, scrolls and opens links, or passes the mouse on to the program.
type pointer struct {
	keys  *keyboard
	view  *viewport
	open  func(address string)
	wheel float32 // lines that the wheel has moved, less than one
}

// isWanted reports whether the program wants the mouse. With Shift, the person selects text instead.
func (p *pointer) isWanted() bool {
	return p.view.modes().Mouse != 0 && widgets.KeyModifiers()&fyne.KeyModifierShift == 0
}

// report sends a button or the wheel to the program, if that wants the mouse.
func (p *pointer) report(button int, at fyne.Position, pressed bool) bool {
	if !p.isWanted() {
		return false
	}
	_, x, y := p.view.placeAt(at)
	p.keys.send(mouseInput(button, min(x, p.view.cols-1), max(y, 0), pressed, p.view.modes()))
	return true
}

// buttonNumber is the number of a button in the sequences of the mouse.
func buttonNumber(b desktop.MouseButton) int {
	switch b {
	case desktop.MouseButtonSecondary:
		return 2
	case desktop.MouseButtonTertiary:
		return 1
	}
	return 0
}

// press begins to select, or opens a link.
func (p *pointer) press(e *desktop.MouseEvent) {
	if p.report(buttonNumber(e.Button), e.Position, true) || e.Button != desktop.MouseButtonPrimary {
		return
	}
	at, _, _ := p.view.placeAt(e.Position)
	if address := p.view.linkAt(at); address != "" && e.Modifier&fyne.KeyModifierShortcutDefault != 0 {
		p.open(address)
		return
	}
	p.view.selected = selected{at, at}
	p.view.show()
}

// drag selects up to a position, and scrolls beyond the edges.
func (p *pointer) drag(to fyne.Position) {
	if p.isWanted() {
		return
	}
	switch {
	case to.Y < 0:
		p.view.scrollBy(1)
	case to.Y > p.view.size.Height:
		p.view.scrollBy(-1)
	}
	p.view.selected.to, _, _ = p.view.placeAt(to.AddXY(p.view.cell.Width/2, 0))
	p.view.show()
}

// menu opens the menu of the secondary button.
func (p *pointer) menu(e *fyne.PointEvent) {
	if p.isWanted() {
		return
	}
	var items []*fyne.MenuItem
	at, _, _ := p.view.placeAt(e.Position)
	if address := p.view.linkAt(at); address != "" {
		items = append(items, fyne.NewMenuItem("Open link", func() { p.open(address) }), fyne.NewMenuItem("Copy link", func() { p.keys.copy(address) }))
	}
	if !p.view.selected.isEmpty() {
		items = append(items, fyne.NewMenuItem("Copy", p.keys.copySelected))
	}
	items = append(items, fyne.NewMenuItem("Paste", p.keys.paste), fyne.NewMenuItem("Select all", p.view.selectAll))
	widgets.ShowMenuAt(p.keys.owner, e.AbsolutePosition, items)
}

// scroll moves the history, or the program gets the wheel; by is positive upwards.
func (p *pointer) scroll(by float32, at fyne.Position) {
	p.wheel += by / p.view.cell.Height
	n := int(p.wheel)
	p.wheel -= float32(n)
	if n == 0 {
		return
	}
	button, key := 64, fyne.KeyUp
	if n < 0 {
		button, key = 65, fyne.KeyDown
	}
	switch modes := p.view.modes(); {
	case p.report(button, at, true):
	case modes.Alternate:
		p.keys.send(strings.Repeat(keyInput(key, 0, modes), max(n, -n)))
	default:
		p.view.scrollBy(n)
	}
}
