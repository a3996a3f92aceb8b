package widgets

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets/widgettest"
)

// heard is what a reading aid gets of an object.
type heard struct {
	label string
	role  fyne.AccessibleRole
	at    fyne.Position
}

// walkLikeFyne returns what Fyne 2.8 tells reading aids on Windows: internal/driver/glfw,
// collectAccessibleElements.
func walkLikeFyne(o fyne.CanvasObject, at fyne.Position) (list []heard) {
	if o == nil || !o.Visible() {
		return nil
	}
	at = at.Add(o.Position())
	if a, ok := o.(fyne.Accessible); ok {
		if role := a.AccessibilityRole(); role != fyne.AccessibleRoleContainer {
			list = append(list, heard{a.AccessibilityLabel(), role, at})
		}
	}
	if c, ok := o.(*fyne.Container); ok {
		for _, child := range c.Objects {
			list = append(list, walkLikeFyne(child, at)...)
		}
	}
	return list
}

func newTestFrame(content fyne.CanvasObject) *Frame {
	f := new(Frame)
	f.Compose(f, content)
	return f
}

func TestReadingAidsGetWhatScrollsAndListsContain(t *testing.T) {
	lines := NewItemList(nil)
	lines.Set([]ListItem{{Title: "TODAY", Heading: true}, {Title: "Backup", Detail: "daily"}})
	rows := NewRowList()
	rows.Item = func(i int) SidebarItem { return SidebarItem{Title: []string{"Ann", "Ben"}[i]} }
	rows.Set([]ListRow{{ID: "a"}, {ID: "b"}})
	hidden := NewText("hidden", style.ColorText, "text")
	hidden.Hide()
	scroll := NewVScroll(container.NewVBox(NewText("Logs", style.ColorText, "text"), hidden, container.NewClip(NewButton("Open", "folder", nil)), NewParagraph("The folder of log files", style.ColorMuted, "text")))
	content := newReadable(newTestFrame(container.NewGridWithRows(3, scroll, lines, rows)))
	w := widgettest.Window(t, content, 300, 330)
	labels := func() (list []string) {
		for _, h := range walkLikeFyne(w.Content(), fyne.Position{}) {
			list = append(list, h.label+" ("+string(h.role)+")")
		}
		return list
	}
	want := []string{"Logs (text)", "Open (button)", "The folder of log files (text)", "TODAY (text)", "Backup, daily (button)", "Ann (button)", "Ben (button)"}
	if got := labels(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	lines.Set(nil)
	rows.Set(nil)
	if got := labels(); !slices.Equal(got, want[:3]) {
		t.Errorf("after a change: got %q, want %q", got, want[:3])
	}
	driver := fyne.CurrentApp().Driver()
	button := widgettest.Find(content, func(b *Button) bool { return b.Text == "Open" })
	scroll.ScrollToOffset(fyne.NewPos(0, 5))
	if got, want := walkLikeFyne(w.Content(), fyne.Position{})[1].at, driver.AbsolutePositionForObject(button); got != want {
		t.Errorf("the button in a scrolled area: got it at %v, want %v", got, want)
	}
}

func TestNothingOfTheTextForReadingAidsIsDrawnTwice(t *testing.T) {
	content := newReadable(NewVScroll(NewText("Logs", style.ColorText, "text")))
	w := widgettest.Window(t, content, 300, 100)
	walkLikeFyne(w.Content(), fyne.Position{})
	if got := len(widgettest.All[*Text](w.Content())); got != 1 {
		t.Errorf("the text is in the window %d times, want once", got)
	}
}
