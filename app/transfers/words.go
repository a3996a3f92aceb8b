package transfers

import (
	"fmt"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// restoredText says how many replaced files were restored, and why others were not.
func restoredText(n int, problems []protocol.TransferProblem) string {
	text := format.Plural(n, "file restored", "files restored") + "."
	if len(problems) > 0 {
		text += fmt.Sprintf(" %s: %s.", problems[0].Path, problems[0].Text)
	}
	if n := len(problems) - 1; n > 0 {
		text += fmt.Sprintf(" %d more could not be restored.", n)
	}
	return text
}
