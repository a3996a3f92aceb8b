package openai

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/protocol"
)

// responseEvent is any event of a responses stream; Type determines which fields are set.
type responseEvent struct {
	Type        string        `json:"type"`
	Delta       string        `json:"delta"`
	ItemID      string        `json:"item_id"`
	OutputIndex *int          `json:"output_index"`
	Item        *responseItem `json:"item"`
	Response    *struct {
		Status     string            `json:"status"`
		Output     []json.RawMessage `json:"output"`
		Usage      *responseUsage    `json:"usage"`
		Error      json.RawMessage   `json:"error"`
		Incomplete *struct {
			Reason string `json:"reason"`
		} `json:"incomplete_details"`
	} `json:"response"`
	Error json.RawMessage `json:"error"`
}

type responseItem struct {
	raw       json.RawMessage
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Summary   []struct {
		Text string `json:"text"`
	} `json:"summary"`
	Content json.RawMessage `json:"content"`
	Result  string          `json:"result"` // image_generation_call: base64
	Format  string          `json:"output_format"`
}

func (i *responseItem) UnmarshalJSON(data []byte) error {
	type plain responseItem
	if err := json.Unmarshal(data, (*plain)(i)); err != nil {
		return err
	}
	i.raw = append(json.RawMessage(nil), data...)
	return nil
}

type responseUsage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	In     struct {
		Cached int64 `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Out struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Cost *float64 `json:"cost"`
}

func (u *responseUsage) count() protocol.Usage {
	out := protocol.Usage{Input: max(0, u.Input-u.In.Cached), Output: u.Output, CacheRead: u.In.Cached, Reasoning: u.Out.Reasoning, Cost: u.Cost}
	out.Total = out.Input + out.Output + out.CacheRead
	return out
}

type responsesReader struct {
	stream
	m       *model
	calls   calls
	thought strings.Builder // of the reasoning item that is being streamed
	hasText bool            // text has been streamed
	refusal bool
	ended   bool
	cut     string // the reason why the answer is not complete; "" if it is
	counted bool
}

// End implements [ask.Reader].
func (r *responsesReader) End(bool) error {
	if !r.ended {
		return ask.Broken("the connection closed before the answer was complete")
	}
	for _, c := range r.calls {
		c.finish(r.Out, nil)
	}
	if !r.counted {
		r.Emit(llm.Event{Type: llm.EventUsage, Usage: r.estimate()})
	}
	ev, err := r.ending()
	if err == nil {
		r.Emit(ev)
	}
	return err
}

// Event implements [ask.Reader].
func (r *responsesReader) Event(ev ask.Event) error {
	var e responseEvent
	if err := ask.Decode(ev.Data, &e); err != nil {
		return err
	}
	e.Type = cmp.Or(e.Type, ev.Name)
	switch e.Type {
	case "response.output_text.delta":
		r.text(e.Delta)
	case "response.refusal.delta":
		r.refusal = true
		r.text(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		r.think(e.Delta)
	case "response.reasoning_summary_part.added":
		if r.thought.Len() > 0 {
			r.think("\n\n")
		}
	case "response.output_item.added":
		if e.Item != nil && e.Item.Type == "function_call" {
			r.call(e)
		}
	case "response.function_call_arguments.delta":
		r.callOf(e).add(e.Delta, r.Out)
	case "response.output_item.done":
		if e.Item != nil {
			r.item(e)
		}
	case "response.completed", "response.incomplete", "response.done":
		r.complete(e)
	case "response.failed", "error":
		return ask.StreamError(ev.Data)
	default:
		if ask.IsError(e.Error) {
			return ask.StreamError(ev.Data)
		}
	}
	return nil
}

func (r *responsesReader) think(piece string) {
	r.thought.WriteString(piece)
	r.Text(llm.EventThinking, piece)
}

func (r *responsesReader) text(piece string) {
	r.hasText = true
	r.Text(llm.EventText, piece)
}

// callOf returns a call by the index of its item in the output, or by the item's ID.
func (r *responsesReader) callOf(e responseEvent) *call {
	key := e.ItemID
	if key == "" && e.Item != nil {
		key = e.Item.ID
	}
	if e.OutputIndex != nil {
		key = "#" + strconv.Itoa(*e.OutputIndex)
	}
	if c := r.calls.find(key); c != nil {
		return c
	}
	return r.calls.open(key)
}

func (r *responsesReader) call(e responseEvent) *call {
	c := r.callOf(e)
	if id := e.Item.CallID; c.key == "" && c.id != "" && id != "" && c.id != id { // a server that counts no items
		c = r.calls.open(c.key)
	}
	c.id, c.name = cmp.Or(c.id, e.Item.CallID), cmp.Or(c.name, e.Item.Name)
	c.start(r.Out)
	return c
}

func (r *responsesReader) item(e responseEvent) {
	switch e.Item.Type {
	case "function_call":
		c := r.call(e)
		if c.args.Len() == 0 {
			c.add(argumentText(e.Item.Arguments), r.Out)
		}
		c.finish(r.Out, nil)
	case "reasoning":
		if r.thought.Len() == 0 { // it was not streamed
			var summary []string
			for _, s := range e.Item.Summary {
				summary = append(summary, s.Text)
			}
			r.think(strings.Join(summary, "\n\n"))
		}
		o := ask.Opaque(opaque{Origin: ask.Origin{Wire: wireResponses, Model: r.m.Model}, Item: withoutStatus(e.Item.raw)})
		r.Emit(llm.Event{Type: llm.EventSignature, Block: protocol.Block{Type: protocol.BlockThinking, Thinking: r.thought.String(), Opaque: o}})
		r.thought.Reset()
	case "image_generation_call":
		if e.Item.Result != "" {
			mime := "image/" + cmp.Or(e.Item.Format, "png")
			r.Emit(llm.Event{Type: llm.EventImage, Block: protocol.Block{Type: protocol.BlockImage, MimeType: mime, Data: e.Item.Result}})
		}
	case "message":
		if !r.hasText {
			_, answer := parts(e.Item.Content)
			r.text(answer)
		}
	}
}

// withoutStatus removes the fields that the API sends with an item but does not accept back.
func withoutStatus(raw json.RawMessage) json.RawMessage {
	var item map[string]json.RawMessage
	if json.Unmarshal(raw, &item) != nil {
		return raw
	}
	delete(item, "status")
	if string(item["content"]) == "null" {
		delete(item, "content")
	}
	if out, err := protocol.Marshal(item); err == nil {
		return out
	}
	return raw
}

func (r *responsesReader) complete(e responseEvent) {
	r.ended = true
	if e.Type == "response.incomplete" {
		r.cut = "incomplete"
	}
	if e.Response == nil {
		return
	}
	if s := e.Response.Status; s != "" && s != "completed" && s != "in_progress" {
		r.cut = s
	}
	if i := e.Response.Incomplete; i != nil && i.Reason != "" {
		r.cut = i.Reason
	}
	if u := e.Response.Usage; u != nil {
		r.counted = true
		if r.limit > 0 && u.Output >= int64(r.limit) && r.cut == "" {
			r.cut = "max_output_tokens" // llama.cpp reports a cut answer as complete
		}
		r.Emit(llm.Event{Type: llm.EventUsage, Usage: u.count()})
	}
}

func (r *responsesReader) ending() (llm.Event, error) {
	if r.refusal && r.cut == "" && len(r.calls) == 0 {
		return ask.Ending(ask.ModelRefusal, "", false)
	}
	return ask.Ending(r.cut, "", len(r.calls) > 0)
}
