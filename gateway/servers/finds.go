package servers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

const (
	// maxChats is the number of chats whose found tools are remembered; the oldest is forgotten.
	maxChats = 1000
	// maxFound is the number of tools that one search finds.
	maxFound = 10
)

// finds are the tools that each chat found by search.
type finds struct {
	mu    sync.Mutex // guards the fields below
	tools map[protocol.SessionKey][]string
	order []protocol.SessionKey // oldest first
}

func (f *finds) of(key protocol.SessionKey) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.tools[key])
}

func (f *finds) add(key protocol.SessionKey, names []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.tools == nil {
		f.tools = make(map[protocol.SessionKey][]string)
	}
	if _, ok := f.tools[key]; !ok {
		f.order = append(f.order, key)
	}
	for _, n := range names {
		if !slices.Contains(f.tools[key], n) {
			f.tools[key] = append(f.tools[key], n)
		}
	}
	if len(f.order) > maxChats {
		delete(f.tools, f.order[0])
		f.order = slices.Delete(f.order, 0, 1)
	}
}

// toolOverhead is how many bytes a request to a model needs for a tool besides its name, description
// and schema.
const toolOverhead = 80

// ToolsFor lists the tools for the model of a chat: as many as the settings and limit allow, and of
// those first the ones that the chat found by search. A negative limit means no limit. left
// names the servers of the others with the number of their tools; it is empty if there are none.
func (b Toolbox) ToolsFor(key protocol.SessionKey, limit int) (list []protocol.ToolSpec, left string) {
	budget := b.m.o.Config.Get().MCP.ToolBudget
	tools, found := b.Tools(), b.m.found.of(key)
	found = slices.DeleteFunc(found, func(name string) bool {
		return !slices.ContainsFunc(tools, func(t protocol.ToolSpec) bool { return t.Name == name })
	})
	room := len(tools)
	if limit >= 0 {
		room = limit
	}
	found = found[max(len(found)-room, 0):] // the latest
	room -= len(found)
	missing := make(map[protocol.ServerName]int)
	for _, t := range tools {
		size := len(t.Name) + len(t.Description) + len(t.InputSchema) + toolOverhead
		switch {
		case slices.Contains(found, t.Name):
			list = append(list, t)
		case size > budget || room == 0:
			budget = 0 // no smaller tool takes its place: the list must not jump
			missing[t.Server]++
		default:
			budget, room = budget-size, room-1
			list = append(list, t)
		}
	}
	var names []string
	for _, server := range slices.Sorted(maps.Keys(missing)) {
		names = append(names, fmt.Sprintf("%s (%d)", server, missing[server]))
	}
	return list, strings.Join(names, ", ")
}

type findIn struct {
	Words string `json:"words" jsonschema:"what the tool should do, in a few words, such as: create issue github"`
}

type foundTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type findOut struct {
	Tools []foundTool `json:"tools"`
	Note  string      `json:"note"`
}

// FindTools makes the tool gsv__FindTools, with which an agent finds tools that were left out of its
// list. They are in the list from the next step on.
func (b Toolbox) FindTools() tool.Own {
	t := toolkit.Define(tool.FindTools, "Search the tools of MCP servers that are not in your list. The tools found can be called from the next step on.",
		toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true},
		func(_ context.Context, call tool.Call, in findIn) (findOut, error) {
			return b.findTools(call.Session, in.Words), nil
		})
	return tool.Own{Tool: t}
}

func (b Toolbox) findTools(key protocol.SessionKey, text string) findOut {
	out := findOut{Tools: []foundTool{}}
	type match struct {
		spec  protocol.ToolSpec
		score int
	}
	var matches []match
	words := strings.Fields(strings.ToLower(text))
	for _, t := range b.Tools() {
		name, description := strings.ToLower(t.Name), strings.ToLower(t.Description)
		score := 0
		for _, w := range words {
			if strings.Contains(name, w) {
				score += 3
			} else if strings.Contains(description, w) {
				score++
			}
		}
		if score > 0 {
			matches = append(matches, match{t, score})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	var names []string
	for _, one := range matches[:min(len(matches), maxFound)] {
		names = append(names, one.spec.Name)
		description, _, _ := strings.Cut(one.spec.Description, "\n")
		out.Tools = append(out.Tools, foundTool{one.spec.Name, description})
	}
	b.m.found.add(key, names)
	out.Note = fmt.Sprintf("%d of %d matching tools. They can be called from your next step on.", len(names), len(matches))
	if len(names) == 0 {
		out.Note = "No tool matches. Try other words."
	}
	return out
}
