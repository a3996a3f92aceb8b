package approve

import (
	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// folders offers to open folders outside the workspace for this one call. If the call asks for
// nothing else, a text says that allowing opens them.
func (d *Dialog) folders(q protocol.Approval) []fyne.CanvasObject {
	var rows []fyne.CanvasObject
	for _, f := range state.FolderOffers(q) {
		path, _ := state.Reveal(f.Path)
		switch {
		case state.OpensItself(q) && f.Write:
			rows = append(rows, fact("access", path+" (write, for this call only)"))
		case state.OpensItself(q):
			rows = append(rows, fact("access", path+" (read, for this call only)"))
		default:
			what := "reading "
			if f.Write {
				what = "writing to "
			}
			check, row := d.longCheck("Allow "+what+path+" (this time only)", false, func(bool) { d.changed() })
			d.opens = append(d.opens, check)
			rows = append(rows, row)
		}
		if f.Warning != "" {
			rows = append(rows, warning("Careful with "+path+": "+f.Warning+"."))
		}
	}
	return rows
}

// access returns the indexes of the folders that Allow opens.
func (d *Dialog) access() (list []int) {
	for i, c := range d.opens {
		if c.Checked {
			list = append(list, i)
		}
	}
	return list
}
