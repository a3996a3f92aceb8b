package state

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

// FileCap is the number of bytes of an agent file that the agent's context includes.
const FileCap = 20_000

// agentFiles are the files with a meaning to the agent, with a short label and a sentence for each.
// BOOTSTRAP.md never counts as missing: the agent deletes it after its setup.
var agentFiles = []struct{ name, short, about string }{
	{"SOUL.md", "personality", "The agent's personality and behaviour. Included in every chat."},
	{"IDENTITY.md", "name", "The agent's name and way of speaking. Included in every chat."},
	{"USER.md", "about you", "What the agent knows about you. Included in every chat, also those with other people."},
	{"AGENTS.md", "working rules", "Rules for how the agent works. Included in every chat."},
	{"TOOLS.md", "tool notes", "Notes about your machines and commands. Included in every chat."},
	{"MEMORY.md", "memory", "What the agent remembers from chat to chat. Included only in your own chats."},
	{"HEARTBEAT.md", "regular checks", "What the agent checks at each heartbeat, if that is on (Schedule). While this file is empty, there are no checks."},
	{"BOOTSTRAP.md", "first steps", "What the agent does first. It deletes this file when it is done."},
}

// AboutFile describes the purpose of an agent file. capped reports whether FileCap applies.
func AboutFile(p string) (short, about string, capped bool) {
	for _, f := range agentFiles {
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

// FileLength returns a warning for a file that exceeds FileCap or nearly does, or "".
func FileLength(p, text string) (words string, over bool) {
	_, _, capped := AboutFile(p)
	switch n := len(text); {
	case !capped || n < FileCap*9/10:
		return "", false
	case n <= FileCap:
		return fmt.Sprintf("%d of the %d bytes that the agent reads.", n, FileCap), false
	default:
		return fmt.Sprintf("%d bytes too long: the agent reads only the first %d.", n-FileCap, FileCap), true
	}
}

func missingFiles(there []FileEntry) []FileEntry {
	var list []FileEntry
	for _, f := range agentFiles {
		exists := slices.ContainsFunc(there, func(e FileEntry) bool { return e.Path == f.name })
		if !exists && f.name != "BOOTSTRAP.md" {
			list = append(list, FileEntry{Path: f.name, Missing: true})
		}
	}
	return list
}

// AgentFiles reads and writes the agent's files. It implements [TextFiles]; its methods block.
type AgentFiles struct{ feed.AgentFiles }

// list lists a folder, and in the top folder those files that are missing.
func (f AgentFiles) list(ctx context.Context, dir, filter string) ([]FileEntry, error) {
	r, err := feed.Call(ctx, f.Feed, protocol.WorkspaceList, protocol.WorkspaceListParams{Path: dir})
	dirs := lists.Map(r.Directories, func(d string) FileEntry { return FileEntry{Path: strings.Trim(d, "/"), Dir: true} })
	list := append(dirs, lists.Map(r.Files, func(p string) FileEntry { return FileEntry{Path: strings.Trim(p, "/")} })...)
	if dir == "" {
		list = append(list, missingFiles(list)...)
	}
	return lists.Without(list, func(e FileEntry) bool { return !wording.Matches(e.Path, filter) }), err
}

// open opens a file for editing. A missing file starts with the content that a new agent has.
func (f AgentFiles) open(ctx context.Context, p string) (OpenFile, error) {
	missing := false
	r, err := feed.Call(ctx, f.Feed, feed.ReadFile, protocol.WorkspaceReadParams{Path: p})
	if short, _, _ := AboutFile(p); errors.Is(err, protocol.ErrNotFound) && short != "" {
		missing = true
		r, err = feed.Call(ctx, f.Feed, feed.ReadFile, protocol.WorkspaceReadParams{Path: p, Default: true})
	}
	return OpenFile{Path: p, Text: r.Content, Editable: true, Missing: missing}, err
}
