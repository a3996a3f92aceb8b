package policy

import (
	"regexp"

	"fairlead/gateway/peer/shell"
)

// restrictingMask matches masks that let no other user write new files.
var restrictingMask = regexp.MustCompile(`^(-S|0?[0-7]?[0-7][2367]|u=[rwx]*,g=[rx]*,o=[rx]*)$`)

// isHarmlessBuiltin reports whether a builtin only prints, gives new files fewer permissions, or reads
// its input into variables, which are decided about separately.
func isHarmlessBuiltin(name string, words []shell.Word) bool {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch t := w.Text; {
		case !w.Plain():
			return false
		case name == "read" && (t == "-r" || t == "-s" || t == "-rs"):
		case name == "read" && readValue.MatchString(t) && i+1 < len(words) && words[i+1].Plain():
			i++
		case name == "read" && localVariable.MatchString(t):
		case name == "unset" && (t == "-v" || variableWord.MatchString(t)):
		case name == "umask" && restrictingMask.MatchString(t):
		case name == "ulimit" && isLetters(t):
		case (name == "history" || name == "alias") && isInteger(t) == (name == "history") && variableWord.MatchString(t):
		default:
			return false
		}
	}
	return name == "read" || name == "unset" || name == "umask" || name == "ulimit" || name == "history" || name == "alias"
}

var (
	// readValue matches options of read with a value that is neither a variable nor a file.
	readValue    = regexp.MustCompile(`^-r?[pnNtd]$`)
	variableWord = regexp.MustCompile(`^\w+$`)
)
