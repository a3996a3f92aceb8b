package files

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// fileCap is the number of bytes of an agent file that the agent's context includes.
const fileCap = 20_000

// contextFiles are the files with a meaning to the agent, with a short label and a sentence for
// each. BOOTSTRAP.md never counts as missing: the agent deletes it after its setup.
var contextFiles = []struct{ name, short, about string }{
	{"SOUL.md", "personality", "The agent's personality and behaviour. Included in every chat."},
	{"IDENTITY.md", "name", "The agent's name and way of speaking. Included in every chat."},
	{"USER.md", "about you", "What the agent knows about you. Included in every chat, also those with other people."},
	{"AGENTS.md", "working rules", "Rules for how the agent works. Included in every chat."},
	{"TOOLS.md", "tool notes", "Notes about your machines and commands. Included in every chat."},
	{"MEMORY.md", "memory", "What the agent remembers from chat to chat. Included only in your own chats."},
	{"HEARTBEAT.md", "regular checks", "What the agent checks at each heartbeat, if that is on (Schedule). While this file is empty, there are no checks."},
	{"BOOTSTRAP.md", "first steps", "What the agent does first. It deletes this file when it is done."},
}

// aboutFile describes the purpose of an agent file. capped reports whether fileCap applies.
func aboutFile(p string) (short, about string, capped bool) {
	for _, f := range contextFiles {
		if f.name == p {
			return f.short, f.about, true
		}
	}
	switch dir, name := path.Split(p); {
	case dir == "memory/" && strings.HasSuffix(name, ".md"):
		return "", "Notes of one day. The notes of today and yesterday are included in your own chats.", true
	case strings.HasPrefix(p, "skills/") && name == "SKILL.md":
		return "", "A skill: when to use it and what to do. The agent reads it when needed.", false
	}
	return "", "", false
}

// lengthWarning returns a warning for a file that exceeds fileCap or nearly does, or "".
func lengthWarning(p, text string) (words string, over bool) {
	_, _, capped := aboutFile(p)
	switch n := len(text); {
	case !capped || n < fileCap*9/10:
		return "", false
	case n <= fileCap:
		return fmt.Sprintf("%d of the %d bytes that the agent reads.", n, fileCap), false
	default:
		return fmt.Sprintf("%d bytes too long: the agent reads only the first %d.", n-fileCap, fileCap), true
	}
}

func missingFiles(there []Entry) []Entry {
	var list []Entry
	for _, f := range contextFiles {
		exists := slices.ContainsFunc(there, func(e Entry) bool { return e.Path == f.name })
		if !exists && f.name != "BOOTSTRAP.md" {
			list = append(list, Entry{Path: f.name, Missing: true})
		}
	}
	return list
}

// agentFiles reads and writes the agent's files. It implements [textFiles]; its methods block.
type agentFiles struct{ feed.AgentFiles }

// list lists a folder, and in the top folder those files that are missing.
func (f agentFiles) list(ctx context.Context, dir, filter string) ([]Entry, error) {
	r, err := feed.Call(ctx, f.Feed, protocol.WorkspaceList, protocol.WorkspaceListParams{Path: dir})
	dirs := lists.Map(r.Directories, func(d string) Entry { return Entry{Path: strings.Trim(d, "/"), Dir: true} })
	list := append(dirs, lists.Map(r.Files, func(p string) Entry { return Entry{Path: strings.Trim(p, "/")} })...)
	if dir == "" {
		list = append(list, missingFiles(list)...)
	}
	return lists.Without(list, func(e Entry) bool { return !wording.Matches(e.Path, filter) }), err
}

// open opens a file for editing. A missing file starts with the content that a new agent has.
func (f agentFiles) open(ctx context.Context, p string) (File, error) {
	missing := false
	r, err := feed.Call(ctx, f.Feed, feed.ReadFile, protocol.WorkspaceReadParams{Path: p})
	if short, _, _ := aboutFile(p); errors.Is(err, protocol.ErrNotFound) && short != "" {
		missing = true
		r, err = feed.Call(ctx, f.Feed, feed.ReadFile, protocol.WorkspaceReadParams{Path: p, Default: true})
	}
	return File{Path: p, Text: r.Content, Editable: true, Missing: missing}, err
}
