package openai

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"slices"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

type call struct {
	key      string // identifies the call in the server's events
	index    int
	id       string
	name     string
	args     strings.Builder
	started  bool // EventCallStart was emitted
	finished bool // EventCall was emitted
	extra    json.RawMessage
}

type calls []*call

func (c *calls) open(key string) *call {
	n := &call{key: key, index: len(*c)}
	*c = append(*c, n)
	return n
}

// find returns the last call with the key, or nil.
func (c calls) find(key string) *call {
	for _, n := range slices.Backward(c) {
		if n.key == key {
			return n
		}
	}
	return nil
}

// isWhole reports whether the arguments so far are complete.
func (n *call) isWhole() bool {
	text := strings.TrimSpace(n.args.String())
	return strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}") && json.Valid([]byte(text))
}

// addName appends to n's name, which some servers send in pieces. Others repeat it, or its prefix
// so far. It is complete when the arguments begin.
func (n *call) addName(piece string) {
	switch {
	case n.args.Len() > 0 && n.name != "":
	case strings.HasPrefix(piece, n.name):
		n.name = piece
	default:
		n.name += piece
	}
}

func (n *call) block() protocol.Block {
	return protocol.Block{Type: protocol.BlockToolCall, ID: n.id, Name: n.name}
}

func (n *call) add(piece string, out *ask.Out) {
	if piece == "" {
		return
	}
	n.start(out)
	n.args.WriteString(piece)
	if n.started {
		out.Emit(llm.Event{Type: llm.EventCallDelta, Index: n.index, Text: piece})
	}
}

// start emits the start of a call, if its name is known.
func (n *call) start(out *ask.Out) {
	if n.started || n.name == "" {
		return
	}
	n.started = true
	n.id = cmp.Or(n.id, "call_"+rand.Text()[:16])
	out.Emit(llm.Event{Type: llm.EventCallStart, Index: n.index, Block: n.block()})
	if n.args.Len() > 0 { // arguments that came before the name
		out.Emit(llm.Event{Type: llm.EventCallDelta, Index: n.index, Text: n.args.String()})
	}
}

// finish emits a complete call, even one without a name: the model must get an error for it.
func (n *call) finish(out *ask.Out, opaque json.RawMessage) {
	if n.finished {
		return
	}
	n.finished = true
	n.name = cmp.Or(n.name, "unknown")
	n.start(out)
	b := n.block()
	b.Opaque = opaque
	out.Call(n.index, b, n.args.String())
}

// chunk is one event of a chat stream, or a complete answer of a server that does not stream.
// Fields whose types differ between servers are raw.
type chunk struct {
	Choices []struct {
		Delta        *delta  `json:"delta"`
		Message      *delta  `json:"message"`
		FinishReason *string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
	// where Groq puts the usage
	X *struct {
		Usage *usage `json:"usage"`
	} `json:"x_groq"`
}

type delta struct {
	Content          json.RawMessage `json:"content"` // text, null, or a list of parts
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	Refusal          json.RawMessage `json:"refusal"`
	ToolCalls        []toolDelta     `json:"tool_calls"`
	Images           []imagePart     `json:"images"`
}

type toolDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // text; an object from some
	} `json:"function"`
	Extra json.RawMessage `json:"extra_content"`
}

type imagePart struct {
	ImageURL json.RawMessage `json:"image_url"` // {"url": …} or the URL itself
}

func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// parts decodes content: text, or a list of text and thinking parts as Mistral sends it.
func parts(raw json.RawMessage) (thought, answer string) {
	if len(raw) == 0 || raw[0] != '[' {
		return "", text(raw)
	}
	var list []struct {
		Type     string          `json:"type"`
		Text     string          `json:"text"`
		Thinking json.RawMessage `json:"thinking"` // text or a list of text parts
	}
	if json.Unmarshal(raw, &list) != nil {
		return "", ""
	}
	for _, p := range list {
		if len(p.Thinking) > 0 {
			inner, t := parts(p.Thinking)
			thought += inner + t
			continue
		}
		answer += p.Text
	}
	return thought, answer
}

func argumentText(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if raw[0] == '"' {
		return text(raw)
	}
	return string(raw)
}

func dataURL(raw json.RawMessage) (mime, data string, ok bool) {
	url := text(raw)
	if url == "" {
		var object struct{ URL string }
		if json.Unmarshal(raw, &object) != nil {
			return "", "", false
		}
		url = object.URL
	}
	head, data, found := strings.Cut(url, ",")
	mime, isBase64 := strings.CutSuffix(strings.TrimPrefix(head, "data:"), ";base64")
	return mime, data, found && isBase64 && strings.HasPrefix(head, "data:")
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
	In         *struct {
		Cached int64 `json:"cached_tokens"`
		Write  int64 `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	Out *struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Hit  int64    `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cost *float64 `json:"cost"`                    // OpenRouter, in dollars
}

// count converts u: input without cached tokens, output with thoughts.
func (u *usage) count() protocol.Usage {
	var out protocol.Usage
	out.CacheRead = u.Hit
	if u.In != nil {
		out.CacheRead = max(out.CacheRead, u.In.Cached)
		out.CacheWrite = u.In.Write
	}
	out.Input = max(0, u.Prompt-out.CacheRead-out.CacheWrite)
	out.Output = max(0, u.Completion)
	if u.Out != nil {
		out.Reasoning = u.Out.Reasoning
		// xAI counts thoughts in addition to the completion, all others within it.
		if out.Reasoning > 0 && u.Total == u.Prompt+u.Completion+out.Reasoning {
			out.Output += out.Reasoning
		}
	}
	out.Total = out.Input + out.Output + out.CacheRead + out.CacheWrite
	out.Cost = u.Cost
	return out
}
