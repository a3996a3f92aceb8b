package question

import (
	"strings"

	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Answer returns the answer yes or no.
func Answer(allow bool) protocol.QuestionAnswerParams {
	if allow {
		return protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow}
	}
	return protocol.QuestionAnswerParams{Decision: protocol.DecisionDeny}
}

// Title is the title of a question other than an approval; empty for an unknown kind.
func Title(q protocol.Question) string {
	switch {
	case q.Pairing != nil:
		return RequestTitle(q)
	case q.App != nil:
		return ConsentTitle(*q.App)
	case q.Input != nil:
		return ServerQuestionTitle(*q.Input)
	case q.Tools != nil:
		return strings.TrimSuffix(display.ToolsQuestion(*q.Tools), ".")
	case q.Sender != nil:
		line, _ := wording.Reveal(display.SenderQuestion(*q.Sender))
		return line
	}
	line, _ := wording.Reveal(display.Line(q))
	return line
}

// RequestTitle is the question that a request asks.
func RequestTitle(r protocol.Question) string {
	question, _ := display.Request(r)
	return question
}

// ConsentTitle is the question of an app that asks to connect.
func ConsentTitle(c protocol.AppSubject) string {
	name, _ := wording.Reveal(c.Name)
	return "Connect “" + format.Clip(name, 60) + "”?"
}

// ConsentText says who asks and where the answer goes.
func ConsentText(c protocol.AppSubject) string {
	again := ""
	if c.Connected {
		again = " That app is connected already: what you allow is added to its permissions."
	}
	name, _ := wording.Reveal(c.Name)
	who := "“" + format.Clip(name, 60) + "” (unverified name)"
	switch {
	case c.ClientHost != "" && c.IsLocal: // any program there can name this document
		return "A program where your browser runs claims to be published by " + c.ClientHost + ". Nobody has checked that." + again
	case c.ClientHost != "":
		return "This app is published by " + c.ClientHost + ". It wants to use your machines. Your answer goes to " + c.RedirectHost + "." + again
	case c.IsLocal:
		return who + " on this computer wants to use your machines." + again
	}
	return who + " wants to use your machines. Your answer goes to " + c.RedirectHost + "." + again
}

// ServerQuestionTitle is the title of a question of an MCP server.
func ServerQuestionTitle(q protocol.InputSubject) string {
	name, _ := wording.Reveal(string(q.Server))
	if q.URL != "" {
		return "“" + format.Clip(name, 40) + "” asks you to open a page"
	}
	return "“" + format.Clip(name, 40) + "” asks you a question"
}
