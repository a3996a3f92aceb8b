package policy

import (
	"regexp"

	"fairlead/gateway/policy/shell"
)

// shortName is a name of the form that Windows gives a file beside its own, such as PROGRA~1 or A1B2~3.TXT, with what parts it from others.
var shortName = regexp.MustCompile(`(^|[/\\])[^/\\~. ]{1,7}~[0-9]{1,6}(\.[^/\\. ]{0,3})?([/\\]|$)`)

// widened is a word on a machine with Windows in which such names stand for any, as in a shell's pattern: nobody but the machine knows whose they are.
func (p *place) widened(w shell.Word) shell.Word {
	if !drive(p.call.Cwd) || w.Dynamic {
		return w
	}
	for range maxFolders { // two in a row share what parts them
		wide := shortName.ReplaceAllString(w.Text, "${1}*${3}")
		if wide == w.Text {
			break
		}
		w.Text, w.Glob = wide, true
	}
	return w
}
