// Package operator is the built-in operator: a small, deterministic agent that understands plain
// requests, one per line, and carries them out with the same tools, approvals, journal and
// streaming as a model. It answers until the person connects a model. It needs no key and no
// network, and says so when it does not understand a request.
//
// The table forms has an example of each request. "on laptop" before or after a request names the
// machine. Without it, the machine is the one in the system prompt's line "Default machine: …", or
// else the first that has the tool. A command keeps its punctuation, and also an " on NAME" at its
// end unless NAME is a machine. If one of several requests is not understood or cannot be carried
// out, none of them is.
package operator

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// Info describes the operator as a model.
var Info = protocol.ModelInfo{ID: "built-in", Name: "Built-in operator", Tools: true}

// Model implements llm.Model. The zero value is ready to use.
type Model struct{}

// Stream answers the person's last message with tool calls or text.
func (Model) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		text, calls := answer(req)
		for _, piece := range strings.SplitAfter(text, " ") { // as a model would stream it
			if ctx.Err() != nil {
				yield(llm.Event{}, context.Cause(ctx))
				return
			}
			if piece != "" && !yield(llm.Event{Type: llm.EventText, Text: piece}, nil) {
				return
			}
		}
		for i, c := range calls {
			raw, err := protocol.Marshal(c.in)
			if err != nil {
				yield(llm.Event{}, err)
				return
			}
			block := protocol.Block{Type: protocol.BlockToolCall, ID: fmt.Sprintf("op_%d_%d", len(req.Messages), i), Name: string(c.name)}
			begin := llm.Event{Type: llm.EventCallStart, Index: i, Block: block}
			block.Arguments = raw
			if !yield(begin, nil) || !yield(llm.Event{Type: llm.EventCallDelta, Index: i, Text: string(block.Arguments)}, nil) ||
				!yield(llm.Event{Type: llm.EventCall, Index: i, Block: block}, nil) {
				return
			}
		}
		stop := llm.StopEnd
		if len(calls) > 0 {
			stop = llm.StopToolUse
		}
		yield(llm.Event{Type: llm.EventStop, Stop: stop}, nil)
	}
}

type call struct {
	name protocol.ToolName
	in   args
}

type args map[string]any

// answer returns the next text and calls. Calls that the person ran directly and notices of the
// gateway are not requests.
func answer(req llm.Request) (string, []call) {
	last := -1
	for i, m := range req.Messages {
		if m.Role == protocol.RoleUser && !m.OutsideConversation() {
			last = i
		}
	}
	if last < 0 {
		return help(machineToolsOf(req)), nil
	}
	since := req.Messages[last+1:]
	for _, m := range since {
		if m.Role == protocol.RoleToolResult && m.Origin == protocol.OriginPerson {
			return report(since), nil
		}
	}
	if m := req.Messages[last]; m.Origin == protocol.OriginEvent {
		c, _ := m.Completion()
		return completionText(c), nil
	}
	return plan(machineToolsOf(req), req.Messages[last].Content.Text())
}

func help(h machineTools) string {
	return strings.ReplaceAll(`I am the built-in operator. I understand plain requests and carry them out on your machines; you see and allow everything that has an effect:

- 'run make test' (or any command), 'run df -h on MACHINE'
- 'list the Go files', 'list files in docs', 'list *.md'
- 'read README.md'
- 'search for func in gateway', 'find files named Makefile'
- 'replace A with B in FILE', 'write TEXT to FILE', 'create FILE with TEXT'
- 'which machines'

Several lines are several requests. A line that begins with '!' is your own command and runs at once. For anything that needs thinking, connect a model in Settings.

`, "'", "`") + machines(h)
}

func machines(h machineTools) string {
	switch len(h.nodes) {
	case 0:
		return "No machine is connected right now."
	case 1:
		return fmt.Sprintf("One machine is connected: **%s**.", h.nodes[0])
	}
	names := make([]string, len(h.nodes))
	for i, n := range h.nodes {
		names[i] = "**" + string(n) + "**"
	}
	return fmt.Sprintf("%d machines are connected: %s. A request that names none goes to **%s**.", len(names), strings.Join(names, ", "), h.defaultNode)
}

// notUnderstood suggests the three requests that are most similar to the given one.
func notUnderstood(g grammar, line string) string {
	type near struct{ score, at int }
	var list []near
	words := strings.Fields(strings.ToLower(line))
	for i, f := range g.forms {
		score := 0
		for _, w := range f.words {
			for _, have := range words {
				if have == w {
					score += 2
				} else if strings.HasPrefix(have, w) {
					score++
				}
			}
		}
		if f.words != nil {
			list = append(list, near{score, i})
		}
	}
	slices.SortStableFunc(list, func(a, b near) int { return cmp.Compare(b.score, a.score) })
	var b strings.Builder
	b.WriteString("I did not understand that. Until a model is connected I only understand plain requests, for example:\n\n")
	for _, n := range list[:3] {
		fmt.Fprintf(&b, "- *%s*\n", g.forms[n.at].example)
	}
	b.WriteString("\n*what can you do* lists them all. Connect a model in Settings to ask anything.")
	return b.String()
}

func code(s string) string {
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{`""`, "''", "``", "“”", "„“", "«»", "‘’"} {
		open, shut := string([]rune(q)[:1]), string([]rune(q)[1:])
		if len(s) > len(open)+len(shut)-1 && strings.HasPrefix(s, open) && strings.HasSuffix(s, shut) && !strings.Contains(s[len(open):len(s)-len(shut)], open) {
			return s[len(open) : len(s)-len(shut)]
		}
	}
	return s
}

// unquoteWhole removes backticks around a command, but preserves a shell's own quotes.
func unquoteWhole(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 2 && s[0] == '`' && s[len(s)-1] == '`' && !strings.Contains(s[1:len(s)-1], "`") {
		return s[1 : len(s)-1]
	}
	return s
}

func name(s string) string { return unquote(strings.TrimSuffix(strings.TrimSpace(s), ",")) }

type machineTools struct {
	nodes       []protocol.NodeID // without the gateway itself
	tools       map[protocol.NodeID]map[string]protocol.ToolName
	defaultNode protocol.NodeID
}

func machineToolsOf(req llm.Request) machineTools {
	h := machineTools{tools: make(map[protocol.NodeID]map[string]protocol.ToolName)}
	for _, t := range req.Tools {
		node, bare, ok := protocol.ToolName(t.Name).Split()
		if !ok {
			continue
		}
		if h.tools[node] == nil {
			h.tools[node] = make(map[string]protocol.ToolName)
			if node != protocol.NativePrefix {
				h.nodes = append(h.nodes, node)
			}
		}
		h.tools[node][bare] = protocol.ToolName(t.Name)
	}
	if len(h.nodes) > 0 {
		h.defaultNode = h.nodes[0]
	}
	if _, after, ok := strings.Cut(req.System, "Default machine: "); ok {
		name, _, _ := strings.Cut(after, "\n")
		if node, ok := h.find(strings.TrimSpace(name)); ok {
			h.defaultNode = node
		}
	}
	return h
}

func (h machineTools) find(name string) (protocol.NodeID, bool) {
	name = strings.TrimPrefix(unquote(name), "@")
	if slices.Contains(h.nodes, protocol.NodeID(name)) {
		return protocol.NodeID(name), true
	}
	for _, n := range h.nodes {
		if strings.EqualFold(string(n), name) {
			return n, true
		}
	}
	return "", false
}

// use builds a call of a tool on the request's machine, or returns the reason why it cannot. If the
// person named no machine, it is the default one, or the first that has the tool.
func (r formMatch) use(bare string, in args) (call, string) {
	if len(r.nodes) == 0 {
		return call{}, "No machine is connected, so I have no hands right now."
	}
	for _, node := range append([]protocol.NodeID{cmp.Or(r.node, r.defaultNode)}, r.nodes...) {
		if tool, ok := r.tools[node][bare]; ok {
			return call{tool, in}, ""
		}
		if r.node != "" {
			return call{}, fmt.Sprintf("%s cannot do that: it has no %s tool.", node, bare)
		}
	}
	return call{}, fmt.Sprintf("None of the connected machines can do that: there is no %s tool.", bare)
}
