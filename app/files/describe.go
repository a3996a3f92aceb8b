package files

import (
	"fyne.io/fyne/v2"

	"fairlead/app/state"
	"fairlead/app/style"
)

// describe adds to the list's marks the purpose of each agent file, and whether it is missing or
// unsaved.
func (p *Page) describe(marks map[string]string) map[string]string {
	if p.view.Place != "" {
		return marks
	}
	if marks == nil {
		marks = map[string]string{}
	}
	for _, e := range p.view.Entries {
		_, draft := p.app.Drafts.Get(e.Path)
		short, _, _ := state.AboutFile(e.Path)
		switch {
		case e.Dir:
		case draft:
			marks[e.Path] = "unsaved"
		case marks[e.Path] != "" || short == "":
		case e.Missing:
			marks[e.Path] = short + notThere
		default:
			marks[e.Path] = short
		}
	}
	return marks
}

const notThere = " · not created yet"

// markColor returns a fainter colour for a purpose than for a state.
func markColor(e state.FileEntry, mark string) fyne.ThemeColorName {
	if short, _, _ := state.AboutFile(e.Path); short != "" && (mark == short || mark == short+notThere) {
		return style.ColorMuted
	}
	return style.ColorAccent
}
