package main

import (
	"cmp"
	"context"
	"strings"

	"fairlead/gateway/protocol"
)

// book is what the person calls machines and chats, for lists that hold their ids.
type book struct {
	machines names
	chats    map[protocol.SessionKey]string
}

// maxTitles is how many chats are asked for, the latest ones; older ones are called by their keys.
const maxTitles = 500

// book asks for the names. What cannot be asked for is called by its id.
func (c *connection) book(ctx context.Context) book {
	k := book{machines: c.machineNames(ctx), chats: make(map[protocol.SessionKey]string)}
	r, err := call(ctx, c, protocol.SessionsList, protocol.SessionsListParams{Limit: maxTitles})
	if err != nil {
		return k
	}
	for _, s := range r.Sessions {
		k.chats[s.SessionKey] = flat(s.Title)
		if s.Title == "" && s.Main {
			k.chats[s.SessionKey] = "the main chat"
		}
	}
	return k
}

// where is a tool and the machine it ran on.
func (k book) where(node protocol.NodeID, tool string) string {
	tool = strings.TrimPrefix(tool, protocol.FileAct)
	switch {
	case tool == "":
		return ""
	case node == protocol.NativePrefix || node == "":
		return tool + " in the gateway"
	}
	return tool + " on " + flat(k.machines.of(node))
}

// who names a principal of the journal. A rule is named by its words, which stand in why.
func (k book) who(principal, why string) string {
	kind, name, _ := strings.Cut(principal, " ")
	switch {
	case kind == "owner" && strings.HasPrefix(name, "cli-"):
		return "owner on the command line"
	case kind == "owner" && strings.HasPrefix(name, "desktop-"):
		return "owner in a window"
	case kind == "agent" && name != "":
		return "agent in " + cmp.Or(k.chats[protocol.SessionKey(name)], name)
	case kind == "rule":
		words, ok := strings.CutPrefix(why, name+": ")
		if !ok {
			words, ok = strings.CutPrefix(why, "your rule: ")
		}
		if ok {
			return "rule " + shortLine(words)
		}
	}
	return flat(principal)
}
