package chat

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"
)

// painted counts its redraws.
type painted struct {
	widget.BaseWidget
	times int
}

func (p *painted) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(canvas.NewText("", nil))
}

func (p *painted) Refresh() { p.times++ }

func TestLeadingButtonIsRedrawnWhenShownAgain(t *testing.T) {
	d := newDesk(t, 520, 700)
	menu := &painted{}
	menu.ExtendBaseWidget(menu)
	d.SetLeading(menu)
	d.SetLeading(nil)
	before := menu.times
	d.SetLeading(menu)
	if menu.times == before {
		t.Error("it keeps the colours of the theme that it went with")
	}
}
