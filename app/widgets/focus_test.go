package widgets

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"fairlead/app/widgets/widgettest"
)

func TestFocusIsDrawn(t *testing.T) {
	list, rows := NewItemList(nil), NewRowList()
	list.Set([]ListItem{{Title: "Backup"}})
	rows.Item = func(int) SidebarItem { return SidebarItem{Title: "Ann"} }
	primary := NewButton("Send", "", nil)
	primary.Primary = true
	for name, o := range map[string]fyne.CanvasObject{
		"button": NewButton("Save", "check", nil), "quiet button": NewQuietButton("Save", "", nil), "primary button": primary,
		"icon button": NewIconButton("trash", "Delete", nil), "clickable": NewClickable(NewText("Backup", "", "text"), nil),
		"select": NewSelect([]string{"Daily"}, nil), "field": NewEntry(), "key": NewPasswordEntry(), "text area": NewTextArea(2, ""),
		"search field": NewSearchField("Search", ""), "name field": NewNameField(), "check box": NewCheckBox("Wrap lines", nil),
		"list": list, "rows": rows,
	} {
		t.Run(name, func(t *testing.T) {
			w := widgettest.Window(t, o, 200, 80)
			rows.Set([]ListRow{{ID: "a"}})
			before := picture(t, w.Canvas().Capture())
			w.Canvas().Focus(o.(fyne.Focusable))
			if bytes.Equal(before, picture(t, w.Canvas().Capture())) {
				t.Error("it looks the same with and without the focus")
			}
		})
	}
}

// The test driver treats the last window as the window of every object, as Fyne knows no window of
// what it has not painted.
func TestKeysReachTheWindowThatHasTheKeyboard(t *testing.T) {
	for name, o := range map[string]fyne.Focusable{"field": NewEntry(), "list": NewItemList(nil), "button": NewButton("Save", "", nil)} {
		t.Run(name, func(t *testing.T) {
			w := widgettest.Window(t, o.(fyne.CanvasObject), 200, 80)
			test.NewTempWindow(t, NewEntry())
			var got fyne.KeyName
			w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) { got = e.Name })
			w.Canvas().Focus(o)
			if o.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape}); got != fyne.KeyEscape {
				t.Errorf("the window got %q, want %q", got, fyne.KeyEscape)
			}
		})
	}
}

// unpainted is an app whose driver knows the window of no object, as Fyne of what it has not painted.
type unpainted struct{ fyne.App }

func (a unpainted) Driver() fyne.Driver { return unpaintedDriver{a.App.Driver()} }

type unpaintedDriver struct{ fyne.Driver }

func (unpaintedDriver) CanvasForObject(fyne.CanvasObject) fyne.Canvas { return nil }

func TestOpenedPageFocusesItsFieldBeforeItIsDrawn(t *testing.T) {
	field := NewEntry()
	c := widgettest.Window(t, field, 200, 40).Canvas()
	fyne.SetCurrentApp(unpainted{fyne.CurrentApp()})
	Focus(field)
	Opening(c, func() {})
	if got := c.Focused(); got != nil {
		t.Errorf("got the focus on %T, which another page wanted; want none", got)
	}
	Opening(c, func() { Focus(field) })
	if got := c.Focused(); got != fyne.Focusable(field) {
		t.Errorf("got the focus on %T, want the field", got)
	}
}

func picture(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
