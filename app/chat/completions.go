package chat

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Completion is something that the composer offers to insert.
type Completion struct {
	Icon, Label string
	Detail      string // what it is
	// Insert replaces the word. Unless it ends with a space or a command, the word continues, such as
	// a folder's path.
	Insert string
	// Item is attached to the message in place of the word.
	Item *protocol.ServerItem
}

func plain(icon, label, detail, insert string) Completion {
	return Completion{Icon: icon, Label: label, Detail: detail, Insert: insert}
}

// Continues reports whether more is offered after the insertion, such as the files of a folder.
func (c Completion) Continues() bool {
	return strings.HasPrefix(c.Insert, "@") && strings.HasSuffix(c.Insert, "/") || strings.HasPrefix(c.Insert, "/") && strings.HasSuffix(c.Insert, " ")
}

// Completions replace the text before the cursor from Start on, in bytes.
type Completions struct {
	Start int
	List  []Completion
}

const (
	maxPerKind     = 8 // completions of one kind, such as files
	maxCompletions = 30
)

// Export is the command that saves a chat to a file; the window carries it out itself.
const Export = "/export"

// slashCommands are the commands that the composer offers; a space at the end asks for an argument.
var slashCommands = []Completion{
	plain("reset", "/new", "Start this chat over; its messages are archived", "/new"),
	plain("trash", "/clear", "The same as /new", "/clear"),
	plain("list", "/compact", "Replace the older messages with a summary", "/compact"),
	plain("undo", "/compact undo", "Let the agent read the summarized messages again", "/compact undo"),
	plain("person", "/model", "Show or set the model of this chat", "/model "),
	plain("shield", "/mode", "Show or set what needs your approval", "/mode "),
	plain("thinking", "/think", "Show or set how much the model thinks", "/think "),
	plain("export", Export, "Save this chat as Markdown", Export),
	plain("stop", "/stop", "Stop the run in progress", "/stop"),
	plain("activity", "/status", "Show the model, tokens and waiting messages", "/status"),
	plain("question", "/help", "Show all commands", "/help"),
}

// completionWord finds the word before the cursor for which there may be completions: a command at
// the beginning, its argument, or a word that begins with "@". what is "/", the command, or "@";
// empty if there is no such word.
func completionWord(before string) (what, word string, start int) {
	if command, rest, hasArgument := strings.Cut(before, " "); strings.HasPrefix(before, "/") && !strings.ContainsAny(before, "\n") {
		switch {
		case !hasArgument:
			return "/", before, 0
		case !strings.Contains(rest, " ") && slices.Contains([]string{"/model", "/mode", "/think"}, command):
			return command, rest, len(command) + 1
		}
	}
	start = strings.LastIndexAny(before, " \n\t(\"“") + 1
	if r := []rune(before[max(start-1, 0):]); start > 0 && len(r) > 0 && r[0] == '“' {
		start += len("“") - 1
	}
	if strings.HasPrefix(before[start:], "@") {
		return "@", before[start+1:], start
	}
	return "", "", 0
}

// Complete returns completions for the text before the cursor. Files are those of a machine's
// workspace, or of a folder that the text names. It blocks.
func (m Model) Complete(ctx context.Context, before string, node protocol.NodeID) Completions {
	what, word, start := completionWord(before)
	out := Completions{Start: start}
	v := m.feed.View()
	switch what {
	case "":
	case "/":
		out.List = append(matching(slashCommands, word), m.skills(ctx, word[1:], func(name string) Completion {
			return Completion{Label: "/" + name, Insert: "Use the skill “" + name + "”: "}
		})...)
	case "@":
		out.List = slices.Concat(matching(machineCompletions(v), word), m.files(ctx, node, word), m.skills(ctx, word, func(name string) Completion {
			return Completion{Label: name, Insert: "the skill “" + name + "” "}
		}), m.items(ctx, word), matching(chatCompletions(v, m.Key), word))
	default:
		out.List = matching(arguments(what, v), word)
	}
	out.List = out.List[:min(len(out.List), maxCompletions)]
	return out
}

// matching returns the completions whose label contains a word, those that begin with it first.
func matching(list []Completion, word string) []Completion {
	word = strings.ToLower(word)
	var begin, contain []Completion
	for _, c := range list {
		switch label := strings.ToLower(c.Label); {
		case strings.HasPrefix(label, word):
			begin = append(begin, c)
		case strings.Contains(label, word):
			contain = append(contain, c)
		}
	}
	list = append(begin, contain...)
	if word == "/" { // all commands
		return list
	}
	return list[:min(len(list), maxPerKind)]
}

func machineCompletions(v feed.View) []Completion {
	return lists.Map(v.Machines, func(n protocol.NodeInfo) Completion {
		detail := "Machine"
		if !n.Online {
			detail += ", offline"
		}
		return plain("machine", n.DisplayName(), detail, "@"+string(n.ID)+" ")
	})
}

func chatCompletions(v feed.View, but protocol.SessionKey) []Completion {
	var list []Completion
	for _, s := range v.Sessions.List {
		if s.SessionKey != but {
			title := feed.TitleOf(s)
			list = append(list, plain("chat", title, "Chat", fmt.Sprintf("the chat “%s” (%s) ", title, s.SessionKey)))
		}
	}
	return list
}

// arguments returns what a command can be followed by.
func arguments(command string, v feed.View) (list []Completion) {
	switch command {
	case "/model":
		for _, m := range v.Models {
			list = append(list, plain("person", m.Ref.String(), m.Name, m.Ref.String()))
		}
	case "/think":
		for _, level := range protocol.ThinkingLevels {
			list = append(list, plain("thinking", level, wording.Thinking(level), level))
		}
	case "/mode":
		_, trust := chats.TrustLimit(v.Machines)
		for _, m := range chats.ModeChoices {
			if m.Mode == protocol.ModeTrust && !trust {
				continue
			}
			word := m.Mode
			if m.For > 0 {
				word = fmt.Sprintf("%s %d", m.Mode, int(m.For.Minutes()))
			}
			list = append(list, plain("shield", word, m.Text, word))
		}
	}
	return list
}

// skills returns the usable skills whose name contains a word. A failure leaves them out.
func (m Model) skills(ctx context.Context, word string, of func(name string) Completion) []Completion {
	r, _ := feed.Call(ctx, m.feed, protocol.SkillsStatus, protocol.SkillsParams{})
	var list []Completion
	for _, s := range r.Skills {
		if s.Enabled && s.Eligible && strings.Contains(strings.ToLower(s.Name), strings.ToLower(word)) {
			o := of(s.Name)
			o.Icon, o.Detail = "skill", "Skill · "+s.Description
			list = append(list, o)
		}
	}
	return list[:min(len(list), maxPerKind)]
}

// files returns the files and folders of the folder that a path names, if they begin with its last
// part. A failure, such as a missing folder, leaves them out.
func (m Model) files(ctx context.Context, node protocol.NodeID, word string) []Completion {
	n, ok := m.feed.View().Machines.Find(node)
	if !ok || !n.Online || !n.Files {
		return nil
	}
	dir, base := path.Split(word)
	r, _ := feed.Call(ctx, m.feed, protocol.FilesList, protocol.FilesListParams{Node: node, Path: dir})
	var list []Completion
	for _, f := range r.Entries {
		if !strings.HasPrefix(strings.ToLower(f.Name), strings.ToLower(base)) || strings.HasPrefix(f.Name, ".") && base == "" {
			continue
		}
		o := plain("file", dir+f.Name, "File on "+n.DisplayName(), dir+f.Name+" ")
		switch {
		case f.Folder():
			o = plain("folder", dir+f.Name+"/", "Folder on "+n.DisplayName(), "@"+dir+f.Name+"/")
		case strings.ContainsAny(f.Name+dir, " \t"):
			o.Insert = fmt.Sprintf("%q ", dir+f.Name)
		}
		list = append(list, o)
	}
	slices.SortStableFunc(list, func(a, b Completion) int { return cmp.Compare(strings.ToLower(a.Label), strings.ToLower(b.Label)) })
	return list[:min(len(list), maxPerKind)]
}
