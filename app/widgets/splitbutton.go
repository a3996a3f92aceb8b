package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"
)

// SplitButton performs an action, and offers others in a menu.
type SplitButton struct {
	widget.BaseWidget
	Main *Button
	More *Button
	menu func() []*fyne.MenuItem
}

// NewSplitButton creates one; menu is called each time the menu opens.
func NewSplitButton(text string, primary bool, onTap func(), menu func() []*fyne.MenuItem) *SplitButton {
	s := &SplitButton{Main: NewButton(text, "", onTap), menu: menu}
	s.More = NewButton("", "down", s.Open)
	s.Main.Primary, s.More.Primary = primary, primary
	s.ExtendBaseWidget(s)
	return s
}

// Open shows the menu.
func (s *SplitButton) Open() {
	ShowMenu(s, s.menu())
}

// Enable enables and Disable disables both halves.
func (s *SplitButton) Enable() { s.Main.Enable(); s.More.Enable() }

func (s *SplitButton) Disable() { s.Main.Disable(); s.More.Disable() }

// CreateRenderer implements fyne.Widget.
func (s *SplitButton) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(Row(1, 0, s.Main, s.More))
}
