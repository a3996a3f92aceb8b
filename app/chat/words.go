package chat

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/app/conversation"
	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// UsageWords explains a chat's counts of tokens and its cost; empty before the first answer.
func UsageWords(s protocol.SessionEntry) string {
	var parts []string
	if s.ContextTokens > 0 {
		text := "The model read " + wording.Tokens(s.ContextTokens) + " tokens in its last step: this chat, its instructions and tools."
		if s.ContextWindow > 0 {
			text += fmt.Sprintf(" That is %d%% of the %s that it can read; older messages are summarized before it is full.",
				100*s.ContextTokens/s.ContextWindow, wording.Tokens(s.ContextWindow))
		}
		parts = append(parts, text)
	}
	if u := s.Usage; u != nil && u.Total > 0 {
		text := fmt.Sprintf("All answers together: %s tokens read", wording.Tokens(u.Input+u.CacheRead+u.CacheWrite))
		if u.CacheRead > 0 {
			text += " (" + wording.Tokens(u.CacheRead) + " of them from a cache, which costs less)"
		}
		text += " and " + wording.Tokens(u.Output) + " written."
		switch {
		case u.Cost == nil:
			text += " Their cost is not known."
		case *u.Cost > 0 && *u.Cost < 0.01:
			text += " They cost less than $0.01."
		case *u.Cost > 0:
			text += fmt.Sprintf(" They cost $%.2f.", *u.Cost)
		default:
			text += " They cost nothing."
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

// usageText formats "42k · $0.12": the context size of the last step, and the chat's cost.
func usageText(s protocol.SessionEntry) string {
	var parts []string
	switch {
	case s.ContextTokens > 0 && s.ContextWindow > 0:
		parts = append(parts, wording.Tokens(s.ContextTokens)+" of "+wording.Tokens(s.ContextWindow))
	case s.ContextTokens > 0:
		parts = append(parts, wording.Tokens(s.ContextTokens))
	case s.Usage != nil && s.Usage.Total > 0:
		parts = append(parts, wording.Tokens(s.Usage.Total))
	}
	if s.Usage != nil && s.Usage.Cost != nil {
		if c := *s.Usage.Cost; c > 0 {
			parts = append(parts, format.Dollars(c))
		}
	}
	return strings.Join(parts, " · ")
}

// introduction is the text of an empty chat: how to ask the model or the operator.
func introduction(s conversation.State) string {
	if !slices.ContainsFunc(s.Nodes, func(n protocol.NodeInfo) bool { return n.Online }) {
		return "No machine is connected, so the agent cannot run commands or open files. Add a machine, or start Fairlead on it."
	}
	ask := "Ask in plain words."
	if s.Model.Provider == feed.Operator {
		ask = "The built-in operator carries out simple requests like these; “what can you do” lists them all. Connect a model in Settings to ask anything."
	}
	return ask + " Nothing is changed until you have seen and allowed it. Start with ! to run a command yourself. Drop files here to attach them."
}
