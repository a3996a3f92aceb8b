package policy

import (
	"regexp"

	"fairlead/gateway/policy/shell"
)

// shortName matches a short file name that Windows generates, such as PROGRA~1 or A1B2~3.TXT, with
// its separators.
var shortName = regexp.MustCompile(`(^|[/\\])[^/\\~. ]{1,7}~[0-9]{1,6}(\.[^/\\. ]{0,3})?([/\\]|$)`)

// widened replaces the short names in a word on a Windows machine by wildcards, because only the
// machine knows which files they mean.
func (p *place) widened(w shell.Word) shell.Word {
	if !drive(p.call.Cwd) || w.Dynamic {
		return w
	}
	for range maxFolders { // two adjacent ones share a separator
		wide := shortName.ReplaceAllString(w.Text, "${1}*${3}")
		if wide == w.Text {
			break
		}
		w.Text, w.Glob = wide, true
	}
	return w
}
