package agent

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"fairlead/gateway/protocol"
)

// Repetitions in a row, without the first call, after which a run without progress is noticed.
const (
	repeatsBeforeNote     = 2
	repeatsBeforeQuestion = 5
)

// changingFields are the fields of results that differ although nothing else does.
var changingFields = regexp.MustCompile(`"(?:durationMs|pid|sessionId|startedAt|endedAt)":[^,}]*`)

// repeatedSteps returns how many of the run's last steps brought nothing new: their calls and
// results are those of earlier steps of this run, also in turns. It works on stored messages, so
// that it counts across a restart. next are results that are not stored yet.
func (r *Run) repeatedSteps(next ...protocol.Message) (count int) {
	seen := map[[sha256.Size]byte]bool{}
	var step strings.Builder
	end := func() {
		if step.Len() == 0 {
			return
		}
		sum := sha256.Sum256([]byte(step.String()))
		step.Reset()
		if count++; !seen[sum] {
			count, seen[sum] = 0, true
		}
	}
	for _, m := range append(r.History[:len(r.History):len(r.History)], next...) {
		switch {
		case m.RunID != r.ID || m.OutsideConversation():
		case m.Role == protocol.RoleAssistant:
			end()
			for _, c := range m.Content.Calls() {
				fmt.Fprintf(&step, "%s %s\n", c.Name, c.Arguments)
			}
		case m.Role == protocol.RoleToolResult:
			step.WriteString(changingFields.ReplaceAllString(m.Content.ResultText(), "") + "\n")
		}
	}
	end()
	return count
}

// noteRepetition tells the model, with the last result, that its calls bring nothing new.
func (r *Run) noteRepetition(results []protocol.Message) {
	n := r.repeatedSteps(results...)
	if n < repeatsBeforeNote || len(results) == 0 {
		return
	}
	note := protocol.Text(fmt.Sprintf("[You have made this call before, with the same result (%d repetitions in a row). Another one will not change it: do something else, or answer.]", n))
	note.Aside = true
	last := &results[len(results)-1]
	last.Content = append(last.Content[:len(last.Content):len(last.Content)], note)
}
