package conversation

import (
	"fyne.io/fyne/v2"

	"fairlead/app/lists"
	"fairlead/gateway/export"
)

// ExportMenu returns the formats in which a chat can be exported.
func ExportMenu(choose func(export.Format)) []*fyne.MenuItem {
	return lists.Map(export.Formats, func(f export.Format) *fyne.MenuItem {
		return fyne.NewMenuItem(f.Title+"…", func() { choose(f) })
	})
}
