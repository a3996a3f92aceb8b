package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// A request that the provider refuses for its contents would be refused with every later message
// too. So the run leaves out what was refused and tries again. Once that works, a notice says so
// and stores the omission: later requests to that model have it from the beginning. The stored
// messages stay complete.

// shortestText is the number of bytes to which a text is shortened at most.
const shortestText = 500

// visibleHistory returns the history without what is left out of requests to this model.
func (r *Run) visibleHistory() []protocol.Message {
	out := slices.Clone(r.History)
	for at, notice := range r.History {
		if o := notice.Omitted; o != nil && notice.Provider == r.Ref.Provider && notice.Model == r.Ref.ID {
			for i := range at {
				out[i] = omit(out[i], *o)
			}
		}
	}
	if r.omitted != nil {
		for i := range out {
			out[i] = omit(out[i], *r.omitted)
		}
	}
	return out
}

// visibleTools returns the tools without those that this model's provider refuses.
func (r *Run) visibleTools() []protocol.ToolSpec {
	var names []string
	if r.omitted != nil {
		names = r.omitted.Tools
	}
	for _, m := range r.History {
		if m.Omitted != nil && m.Provider == r.Ref.Provider && m.Model == r.Ref.ID {
			names = append(names, m.Omitted.Tools...)
		}
	}
	return slices.DeleteFunc(slices.Clone(r.Tools()), func(t protocol.ToolSpec) bool { return slices.Contains(names, t.Name) })
}

// omit returns a message without the omitted parts. The given message is not changed.
func omit(m protocol.Message, o protocol.Omission) protocol.Message {
	if m.Origin == protocol.OriginNotice {
		return m
	}
	if slices.Contains(o.Messages, m.ID) {
		return withoutContents(m)
	}
	var content protocol.Content
	for _, b := range m.Content {
		if o.Thoughts {
			b.Opaque, b.Signature = nil, ""
		}
		switch b.Type {
		case protocol.BlockText:
			b.Text = shortenText(b.Text, o.MaxBytes)
		case protocol.BlockThinking:
			if o.Thoughts {
				continue
			}
		case protocol.BlockToolCall:
			b.Arguments = shortenArguments(b.Arguments, o.MaxBytes)
			if o.Calls {
				b = protocol.Text(fmt.Sprintf("[called %s with %s]", b.Name, b.Arguments))
			}
		case protocol.BlockImage:
			if o.Pictures {
				b = protocol.Text("[a picture that is left out, because the provider of this model refuses it]")
			}
		}
		content = append(content, b)
	}
	m.Content = content
	if o.Calls && m.Role == protocol.RoleToolResult {
		m.Role, m.Content = protocol.RoleUser, append(protocol.Content{protocol.Text("[result of " + string(m.ToolName) + "]")}, content...)
	}
	return m
}

// shortenText cuts the middle out of a text that is longer than limit bytes; 0 means no limit.
func shortenText(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	mark := fmt.Sprintf("\n[… %s left out, because this is too long for the model …]\n", format.Size(int64(len(text)-limit/2*2)))
	return format.CutMiddle(text, limit/2, limit/2, mark)
}

// shortenArguments shortens the texts in the arguments of a call.
func shortenArguments(args json.RawMessage, limit int) json.RawMessage {
	var tree any
	if limit <= 0 || len(args) <= limit || json.Unmarshal(args, &tree) != nil {
		return args
	}
	var shorten func(v any) any
	shorten = func(v any) any {
		switch v := v.(type) {
		case string:
			return shortenText(v, limit)
		case []any:
			for i := range v {
				v[i] = shorten(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = shorten(v[k])
			}
		}
		return v
	}
	if out, err := protocol.Marshal(shorten(tree)); err == nil && len(out) <= 2*limit {
		return out
	}
	out, _ := protocol.Marshal(map[string]string{"shortened": shortenText(string(args), limit)})
	return out
}

// textSizes returns the lengths of the texts that can be shortened, in bytes.
func textSizes(msgs []protocol.Message) (sizes []int) {
	for _, m := range msgs {
		if m.Origin == protocol.OriginNotice {
			continue
		}
		for _, b := range m.Content {
			sizes = append(sizes, len(b.Text)+len(b.Arguments))
		}
	}
	return sizes
}

// shorterTexts returns an omission with which the texts have at most the given number of bytes
// together. When that is not possible, it shortens them as far as allowed, or returns nil.
func (r *Run) shorterTexts(total int) *protocol.Omission {
	sizes := textSizes(r.visibleHistory())
	longest := slices.Max(append(sizes, 0))
	if longest <= shortestText+200 { // with the words in the middle
		return nil
	}
	limit := longest
	for sum := total + 1; sum > total && limit > shortestText; {
		limit = max(limit*3/4, shortestText)
		sum = 0
		for _, n := range sizes {
			sum += min(n, limit)
		}
	}
	o := protocol.Omission{MaxBytes: limit}
	if r.omitted != nil {
		o = *r.omitted
		o.MaxBytes = limit
	}
	return &o
}

// omissionFor returns what to leave out of the next requests because the provider refused this
// one, with a sentence about it; nil if nothing helps.
func (r *Run) omissionFor(ctx context.Context, cause error, tools []llm.Tool) (*protocol.Omission, string) {
	visible := r.visibleHistory()
	has := func(kind string) bool {
		return slices.ContainsFunc(visible, func(m protocol.Message) bool {
			return m.Origin != protocol.OriginNotice && slices.ContainsFunc(m.Content, func(b protocol.Block) bool { return b.Type == kind })
		})
	}
	var o protocol.Omission
	if r.omitted != nil {
		o = *r.omitted
	}
	model, text := r.Ref.ID, cause.Error()
	pictures := func(sentence string) (*protocol.Omission, string) {
		o.Pictures = true
		return &o, sentence
	}
	e, _ := errors.AsType[*protocol.Error](cause)
	switch {
	case errors.Is(cause, protocol.ErrContextOverflow):
		size, data := 0, 0
		for _, n := range textSizes(visible) {
			size += n
		}
		for _, m := range r.Conversation.Hydrate(ctx, visible) {
			for _, b := range m.Content {
				data += len(b.Data)
			}
		}
		tooMuch := "The pictures are too large for " + model + ". From now on it is only told that there are some."
		if data > size {
			return pictures(tooMuch)
		}
		if shorter := r.shorterTexts(size / 2); shorter != nil {
			return shorter, ""
		}
		if has(protocol.BlockImage) {
			return pictures(tooMuch)
		}
	case e == nil || !errors.Is(cause, protocol.ErrModel) || e.Retryable:
	case aboutTools.MatchString(text) && !aboutCalls.MatchString(text):
		if refused := r.refusedTools(text, tools); len(refused) > 0 {
			o.Tools = append(slices.Clone(o.Tools), refused...)
			return &o, fmt.Sprintf("%s cannot be used in this chat, because %s refused the description. %s", strings.Join(o.Tools, ", "), model, text)
		}
	case aboutPictures.MatchString(text) && has(protocol.BlockImage):
		return pictures(fmt.Sprintf("%s refused the pictures. It is only told that there are some. %s", model, text))
	case aboutThoughts.MatchString(text) && has(protocol.BlockThinking):
		o.Thoughts = true
		return &o, fmt.Sprintf("%s refused its earlier thoughts, so they are left out from now on. %s", model, text)
	case aboutCalls.MatchString(text) && has(protocol.BlockToolCall):
		o.Calls = true
		return &o, fmt.Sprintf("%s refused the earlier calls, so it reads them as text from now on. %s", model, text)
	}
	return nil, ""
}

// Errors of providers by what they are about. Some servers only ask for a text instead of pictures.
var (
	aboutPictures = regexp.MustCompile(`(?i)image|picture|vision|multi-?modal|mmproj|media|mime.?type|inline_?data|a string|valid string`)
	aboutTools    = regexp.MustCompile(`(?i)\btools?\b|function_?declaration|\bfunctions?\b|input_schema`)
	aboutCalls    = regexp.MustCompile(`(?i)tool_?call|tool_?use|tool_?result|function_?call\b|function_?response|call_id|response parts|role 'tool'|role "tool"`)
	aboutThoughts = regexp.MustCompile(`(?i)signature|thinking|thought|reasoning|encrypted`)
	toolIndex     = regexp.MustCompile(`(?i)(?:tools?\.|tools?\[|functions\[|function_?declarations\[)(\d+)`)
)

// refusedTools returns the tools that an error of a provider is about: those that it names, that
// with its number, or otherwise all tools of MCP servers, whose descriptions nobody has checked.
func (r *Run) refusedTools(text string, tools []llm.Tool) (names []string) {
	for _, t := range tools {
		for _, name := range []string{t.Name, string(protocol.ToolName(t.Name).ForModel())} {
			quoted := func(mark string) bool { return strings.Contains(text, mark+name+mark) }
			if slices.ContainsFunc([]string{"'", `"`, "`"}, quoted) && !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
	}
	if found := toolIndex.FindAllStringSubmatch(text, -1); len(names) == 0 && len(found) > 0 {
		var at int
		// Gemini has one list of tools, whose declarations are numbered.
		if _, err := fmt.Sscan(found[len(found)-1][1], &at); err == nil && at < len(tools) {
			return []string{tools[at].Name}
		}
	}
	if len(names) > 0 {
		return names
	}
	for _, t := range r.visibleTools() {
		if t.Server != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

// postOmission stores what was left out of a request that the provider then accepted.
func (r *Run) postOmission(ctx context.Context) error {
	if r.omitted == nil {
		return nil
	}
	o, text := *r.omitted, r.omittedText
	if o.MaxBytes > 0 {
		text = strings.TrimSpace(r.shortenedText(o.MaxBytes) + " " + text)
	}
	r.omitted, r.omittedText = nil, ""
	stored, err := r.Conversation.Append(ctx, protocol.Message{
		RunID: r.ID, Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, StopReason: protocol.StopBlind, Omitted: &o,
		Provider: r.Ref.Provider, Model: r.Ref.ID, Timestamp: time.Now().UnixMilli(), Content: protocol.Content{protocol.Text(text)},
	})
	r.History = append(r.History, stored...)
	return err
}

// shortenedText is the sentence about texts that are sent to the model with at most limit bytes.
func (r *Run) shortenedText(limit int) string {
	const rest = "Only the beginning and the end are sent to it from now on; the chat itself stays complete."
	var long []protocol.Message
	for _, m := range r.History {
		if slices.Max(append(textSizes([]protocol.Message{m}), 0)) > limit {
			long = append(long, m)
		}
	}
	what := format.Plural(len(long), "message") + " of this chat are"
	if len(long) == 1 {
		m, size := long[0], 0
		for _, n := range textSizes(long) {
			size += n
		}
		switch m.Role {
		case protocol.RoleUser:
			what = fmt.Sprintf("A message that begins “%s” (%s) is", format.Line(m.Content.Text(), 40), format.Size(int64(size)))
		case protocol.RoleToolResult:
			what = fmt.Sprintf("The result of %s (%s) is", m.ToolName, format.Size(int64(size)))
		default:
			what = fmt.Sprintf("An answer (%s) is", format.Size(int64(size)))
		}
	}
	return fmt.Sprintf("%s too long for %s. %s", what, r.Ref.ID, rest)
}
