package main

import (
	"cmp"
	"context"
	"strings"

	"fairlead/gateway/protocol"
)

// nameBook has the person's names for machines and chats, for lists that contain their IDs.
type nameBook struct {
	machines names
	chats    map[protocol.SessionKey]string
}

// maxTitles is the number of latest chats whose titles are requested; older chats are shown by
// their keys.
const maxTitles = 500

// loadNames requests the names. If they are unavailable, IDs are shown.
func (c *connection) loadNames(ctx context.Context) nameBook {
	k := nameBook{machines: c.machineNames(ctx), chats: make(map[protocol.SessionKey]string)}
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

// toolAndMachine returns the name of a tool and of the machine on which it ran.
func (k nameBook) toolAndMachine(node protocol.NodeID, tool string) string {
	tool = strings.TrimPrefix(tool, protocol.FileAct)
	switch {
	case tool == "":
		return ""
	case node == protocol.NativePrefix || node == "":
		return tool + " in the gateway"
	}
	return tool + " on " + flat(k.machines.of(node))
}

// principalName names a principal of the journal. A rule is named by its text, which is in why.
func (k nameBook) principalName(principal, why string) string {
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
			words, ok = strings.CutPrefix(why, "Your rule: ")
		}
		if ok {
			return "rule " + shortLine(words)
		}
	}
	return flat(principal)
}
