package widgets

import (
	"testing"

	"fyne.io/fyne/v2"

	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
)

func TestTitlesStandAtTheSamePlaceWithAndWithoutButtons(t *testing.T) {
	widgettest.Window(t, NewRect("", "", 0), 10, 10) // sets the theme
	for _, scale := range []float32{1, style.TextLargest} {
		fyne.CurrentApp().Settings().SetTheme(style.New(style.Light, scale))
		titleAndBody := func(actions ...fyne.CanvasObject) (title, body fyne.Position) {
			content := NewRect("", "", 0)
			p := NewPage("Activity", content, actions...)
			widgettest.Window(t, p, 800, 400)
			return p.(*fyne.Container).Objects[0].Position(), content.Position()
		}
		bareTitle, bareBody := titleAndBody()
		title, body := titleAndBody(NewButton("Export…", "export", nil))
		if title.Y != bareTitle.Y || body.Y != bareBody.Y {
			t.Errorf("text %v: with a button the title is at %v and the body at %v, without at %v and %v", scale, title.Y, body.Y, bareTitle.Y, bareBody.Y)
		}
	}
}
