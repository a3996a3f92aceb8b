package question

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// maxFacts is the greatest length of what a card shows about a question beside its subject, in
// characters.
const maxFacts = 500

// FitsOnCard reports whether everything that the dialog would show of an approval fits on a card,
// so that the card may offer Allow once if it shows the whole subject. An approval with a risk, a
// floor, a choice or a warning is allowed in the dialog only.
func FitsOnCard(q protocol.Question) bool {
	if q.Kind == protocol.AskContinue {
		return true
	}
	p := cmp.Or(q.Preview, &protocol.CallPreview{})
	facts := CardFacts(q)
	text := display.Subject(q) + "\n" + p.Diff + "\n" + facts
	_, hidden := wording.Reveal(text)
	asksNetwork, _ := AsksNetwork(q)
	switch {
	case q.Floor, len(q.Edited) > 0, CanPick(q), asksNetwork, FilesLoose(q):
		return false
	case p.Truncated, p.Outside, p.Personal, p.Network, p.Secret+p.Problem != "", len(p.Folders) > 0:
		return false
	case hidden, Lookalikes(text) != nil, utf8.RuneCountInString(facts) > maxFacts:
		return false
	}
	return !slices.ContainsFunc(q.Parts, func(part protocol.QuestionPart) bool {
		return part.Floor || display.Risk(part)+display.Stopped(part, q) != ""
	})
}

// CardFacts describes what the dialog shows of an approval beside its subject: who asks, what a
// server says about its tool, further arguments, risks, programs, the folder, the sandbox and the
// reason.
func CardFacts(q protocol.Question) string {
	if q.Kind == protocol.AskContinue {
		return ""
	}
	var list []string
	if q.AskedBy.Kind != askedByChat && q.AskedBy.Kind != "" {
		list = append(list, "asked by "+AskerText(q.AskedBy))
	}
	if q.ServerTool != nil {
		list = append(list, strings.TrimRight(q.ServerTool.Description, ".\n "))
	}
	list = append(list, strings.ReplaceAll(display.OtherArguments(q), "\n", ", "))
	for _, part := range CommandParts(q) {
		// the font of the card has no arrow: that of another would stand too close to the word
		program := strings.ReplaceAll(part.Program, "→", "›")
		list = append(list, strings.TrimSuffix(program+": "+wording.Join(", ", part.Risk, part.Stopped), ": "))
	}
	if q.Preview != nil && q.Preview.Folder != "" {
		list = append(list, "in "+q.Preview.Folder)
	}
	if display.IsKeep(q) {
		return display.KeepNow
	}
	return wording.Join(" · ", append(list, sandboxFact(q), q.Files, display.Why(q))...)
}

// NotConfinedText says that nothing limits a command.
const NotConfinedText = "not enforced on this machine: the command can do everything you can"

func sandboxFact(q protocol.Question) string {
	switch {
	case NotConfined(q):
		return "sandbox " + NotConfinedText
	case q.Sandbox != "":
		return display.Sandbox(q.Sandbox, q.Host)
	}
	return ""
}

// AskerText says who wants a call, beside "asked by": "chat “Photos”, model gpt-x", "app “MCP CLI
// Proxy”", "ann@town.test (xmpp)".
func AskerText(by protocol.AskedBy) string {
	text := strings.TrimSpace(by.Kind + " " + quote(by.Name))
	switch by.Kind {
	case "":
		text = "you"
	case protocol.AskedByChannel, protocol.AskedByAgent:
		text = display.Asker(by)
	}
	switch provider, model, ok := strings.Cut(by.Model, "/"); {
	case by.Model == "":
	case by.Model == feed.OperatorModel:
		text += ", the built-in operator"
	case ok:
		text += ", model " + model
	default:
		text += ", model " + provider
	}
	return text
}

// Asker is [AskerText] with the title that the chat has by now: at its first message it had none.
func Asker(v feed.View, by protocol.AskedBy, key protocol.SessionKey) string {
	if s, ok := v.Session(key); ok && by.Kind == askedByChat {
		by.Name = feed.TitleOf(s)
	}
	return AskerText(by)
}

func quote(name string) string {
	if name == "" {
		return ""
	}
	return "“" + name + "”"
}

// askedByChat is the kind of an approval that one of the person's own chats caused.
const askedByChat = "chat"
