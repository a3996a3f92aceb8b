package state

import "strings"

// ChangesOf returns the section of a version in a changelog, as Markdown without its heading; for a
// version without a section, that of the newest. Empty if there is none.
func ChangesOf(changelog, version string) string {
	var newest string
	for i, section := range strings.Split("\n"+changelog, "\n## ") {
		if i == 0 {
			continue // the introduction
		}
		heading, text, _ := strings.Cut(section, "\n")
		name, _, _ := strings.Cut(heading, " ")
		text = strings.TrimSpace(text)
		if name == version {
			return text
		}
		if i == 1 {
			newest = text
		}
	}
	return newest
}
