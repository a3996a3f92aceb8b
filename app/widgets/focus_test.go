package widgets

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"fyne.io/fyne/v2"

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

func picture(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
