package terminal

import (
	"fmt"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Title is the title of the page.
const Title = "Terminal"

// title returns the title of the page for a machine.
func title(machine string) string { return Title + " on " + machine }

// statusText says who types, or what became of the terminal. isLarger: the screen is larger than the
// window.
func statusText(s State, isLarger bool) string {
	switch {
	case s.Phase == Connecting && s.Problem != "":
		return s.Problem + ". Connecting again…"
	case s.Phase == Connecting:
		return "Connecting…"
	case s.Phase == Failed:
		return s.Problem
	case s.Phase == Ended:
		return endText(s.End)
	case s.Now.Offline:
		return "The machine is offline. The terminal goes on when it is connected again."
	case s.Now.Typing && s.Now.Request != "":
		return fmt.Sprintf("%s wants to type.", name(s.Now.Request))
	}
	return watchText(s.Now, isLarger)
}

func watchText(now protocol.TerminalState, isLarger bool) string {
	var text string
	switch {
	case now.Typing && now.Viewers > 1:
		return "You type. " + format.Plural(now.Viewers-1, "other window watches", "other windows watch") + "."
	case now.Typing:
		return "You type."
	case now.WatchOnly:
		text = "You watch: this program takes no input."
	case now.Typist != "":
		text = fmt.Sprintf("%s types, you watch.", name(now.Typist))
	default:
		text = "You watch, and nobody types."
	}
	if isLarger {
		text += " The screen is larger than this window."
	}
	return text
}

func name(s string) string { return "“" + format.Line(s, 40) + "”" }

func endText(end protocol.TerminalEnd) string {
	switch {
	case end.Error != "":
		return format.Sentence(end.Error)
	case end.ExitCode == nil:
		return "The program was ended."
	case *end.ExitCode == 0:
		return "The program has ended."
	}
	return fmt.Sprintf("The program has ended with exit code %d.", *end.ExitCode)
}

// label names a terminal in a list.
func label(t protocol.Terminal) string {
	text := t.Title
	if text == "" {
		text = t.Command
	}
	if text == "" {
		text = "Shell"
	}
	text = format.Line(text, 30)
	switch {
	case t.CommandID != "":
		return text + " (the agent)"
	case t.Service != "":
		return text + " (published)"
	}
	return text
}
