package settings

import "strings"

// ChangesOf returns the section of a version in a changelog, as Markdown without its heading. For an
// unknown version it returns the newest section, and for an empty changelog an empty text.
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
