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
			rows = append(rows, fact("opens", path+" for this call, to write in it"))
		case state.OpensItself(q):
			rows = append(rows, fact("opens", path+" for this call, to read in it"))
		default:
			what := "read in "
			if f.Write {
				what = "write in "
			}
			check, row := d.longCheck("Let this command "+what+path+", this once", false, func(bool) { d.changed() })
			d.opens = append(d.opens, check)
			rows = append(rows, row)
		}
		if f.Warning != "" {
			rows = append(rows, warning("Take care with "+path+": "+f.Warning+"."))
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
