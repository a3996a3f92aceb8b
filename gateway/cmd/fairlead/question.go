package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// names are the person's names for machines, by ID.
type names map[protocol.NodeID]string

// of returns a machine's name.
func (n names) of(id protocol.NodeID) string { return cmp.Or(n[id], string(id)) }

// full returns the name, followed by the ID if it differs, because commands expect the ID.
func (n names) full(id protocol.NodeID) string {
	if name := n.of(id); name != string(id) {
		return name + " (" + string(id) + ")"
	}
	return string(id)
}

func namesOf(machines []protocol.NodeInfo) names {
	all := make(names)
	for _, n := range machines {
		all[n.ID] = n.Name
	}
	return all
}

// names returns the names of the machines; empty if they are unavailable.
func (m machines) names(ctx context.Context) names {
	nodes, err := m.list(ctx)
	if err != nil {
		return nil
	}
	return namesOf(nodes)
}

// questionBox describes an approval completely, as text. name is the person's name for the machine;
// if it is empty, only the ID is shown.
func questionBox(a protocol.Question, name string) string {
	var b strings.Builder
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "│ %-9s %s\n", label, strings.ReplaceAll(clean(text), "\n", "\n│           "))
		}
	}
	fmt.Fprintf(&b, "┌ %s\n", display.QuestionTitle(a, cmp.Or(name, string(a.Node))))
	if t := a.ServerTool; t != nil {
		line("tool", strings.TrimSuffix(t.Name+": "+t.Title, ": "))
		line("server", string(t.Server))
		line("it says", t.Description)
	} else {
		line("tool", a.Tool)
		line("machine", questionMachine(a, name))
	}
	by := strings.TrimSpace(a.AskedBy.Kind + " " + a.AskedBy.Name)
	if a.AskedBy.Model != "" {
		by += ", model " + a.AskedBy.Model
	}
	line("asked by", by)
	line("what", cmp.Or(display.Subject(a), "no arguments"))
	line("with", display.OtherArguments(a))
	if a.Preview != nil {
		previewLines(*a.Preview, line)
	}
	for _, p := range a.Parts {
		for _, words := range []string{display.Risk(p), display.Stopped(p, a)} {
			if words != "" && !display.IsKeep(a) { // "what" says it
				line("", display.Program(p)+": "+words)
			}
		}
	}
	for i, o := range a.Offers {
		line("offer "+strconv.Itoa(i), offerLines(a, o))
	}
	if display.IsKeep(a) {
		line("now", display.KeepNow)
	} else {
		line("sandbox", display.Sandbox(a.Sandbox, a.Host))
		line("your rules", a.Files)
		line("reason", display.Why(a))
	}
	line("shown", shownWords(a))
	if a.ExpiresAt > 0 {
		line("time", time.Until(time.UnixMilli(a.ExpiresAt)).Round(time.Second).String()+" left")
	}
	if a.Later > 0 {
		line("postponed", "until "+time.UnixMilli(a.Later).Format("15:04"))
	}
	b.WriteString("└\n")
	return b.String()
}

// previewLines passes what is known about a call before it runs to line.
func previewLines(p protocol.CallPreview, line func(label, text string)) {
	line("in", p.Folder)
	line("shell", p.Shell)
	for _, prog := range p.Programs {
		if prog.Path != "" {
			line("", prog.Name+" is "+prog.Path)
		}
	}
	line("problem", p.Problem)
	line("change", p.Diff)
	line("content", display.FileContent(p.Content))
	for i, f := range p.Folders {
		words := f.Words()
		if f.Warning != "" {
			words += " (warning: " + f.Warning + ")"
		}
		line("folder "+strconv.Itoa(i), words)
	}
	if p.Truncated && (p.Diff != "" || p.Content == nil) {
		line("", "(the change is longer than shown here)")
	}
}

// offerLines lists the rules that allowing with an offer saves: one for each scope.
func offerLines(a protocol.Question, o protocol.RuleOffer) string {
	var lines []string
	for _, scope := range a.Choices {
		if as, ok := o.As[scope]; ok {
			lines = append(lines, scope+": "+as.Words)
		}
	}
	return cmp.Or(strings.Join(lines, "\n"), o.Words)
}

// questionMachine returns the machine's name, ID, system and address, or which other target it is.
func questionMachine(a protocol.Question, name string) string {
	machine, about := string(a.Node), ""
	if a.Node == protocol.NativePrefix {
		return "the gateway itself"
	}
	if name != "" && name != machine {
		machine, about = name, machine+", "
	}
	if a.Host != nil {
		about += a.Host.OS + ", " + display.Peer(a.Host)
	}
	if about = strings.Trim(about, ", "); about != "" || a.Host != nil {
		machine += " (" + about + ")"
	}
	return machine
}

// shownWords says where an approval was shown first, or that it was not shown in time.
func shownWords(a protocol.Question) string {
	where := map[string]string{
		protocol.SurfaceWindow: "in a window", protocol.SurfaceTerminal: "in a terminal", protocol.SurfaceNotification: "as a notification",
		protocol.SurfaceChannel: "over a channel",
	}[a.SurfaceShown]
	switch {
	case a.Shown:
		return strings.TrimSpace(where + " at " + time.UnixMilli(a.ShownAt).Format("15:04"))
	case a.Unseen > 0:
		return "not yet"
	}
	return ""
}

// nameBook has the person's names for machines and chats, for lists that contain their IDs.
type nameBook struct {
	machines names
	chats    map[protocol.SessionKey]string
}

// maxTitles is the number of latest chats whose titles are requested; others are shown by key.
const maxTitles = 500

// book requests the names. If they are unavailable, IDs are shown.
func (m machines) book(ctx context.Context) nameBook {
	k := nameBook{machines: m.names(ctx), chats: make(map[protocol.SessionKey]string)}
	r, err := call(ctx, m.c, protocol.SessionsList, protocol.SessionsListParams{Limit: maxTitles})
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

// chatName returns the title of a chat, or its key.
func (k nameBook) chatName(key protocol.SessionKey) string { return cmp.Or(k.chats[key], string(key)) }

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
