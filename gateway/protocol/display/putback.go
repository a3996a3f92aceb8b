package display

import (
	"strings"

	"fairlead/gateway/protocol"
)

// KeepNow says what has become of a change that a command made unasked.
const KeepNow = "The change was undone. What the command wrote is in the trash."

// NoteForPerson words the remarks of a machine on a command, which are for the agent, as the person
// reads them.
func NoteForPerson(note string) string {
	if before, rest, ok := strings.Cut(note, protocol.NoteAskFor); ok {
		if _, after, ok := strings.Cut(rest, protocol.NoteAskForEnd); ok {
			note = before + ". The agent can ask you for it." + after
		}
	}
	return strings.Replace(note, protocol.NoteMayAsk, "You are asked whether to keep it.", 1)
}
