package servers

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

const (
	// questionLimit is how long a question of a server waits for the person if the settings let
	// approvals wait forever.
	questionLimit = 15 * time.Minute
	maxQuestions  = 20 // of all servers
	maxFields     = 50
	maxMessage    = 2_000 // characters
)

// questions are the questions of servers that wait for the person. They are safe for concurrent use.
type questions struct {
	changed func()

	mu   sync.Mutex // guards open
	open []*question
}

type question struct {
	protocol.ServerQuestion
	answered chan protocol.ServerAnswerParams // has room for the answer
}

func (q *questions) list() []protocol.ServerQuestion {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := make([]protocol.ServerQuestion, len(q.open))
	for i, one := range q.open {
		list[i] = one.ServerQuestion
	}
	return list
}

// answer answers a question; the first answer counts.
func (q *questions) answer(p protocol.ServerAnswerParams) error {
	if !slices.Contains([]string{"accept", "decline", "cancel"}, p.Action) {
		return protocol.ErrBadRequest.With("action must be accept, decline or cancel")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.open, func(one *question) bool { return one.ID == p.ID })
	if i < 0 {
		return protocol.ErrNotFound.With("the question was answered already, or it expired")
	}
	one := q.open[i]
	if p.Action == "accept" {
		if err := check(one.Fields, p.Values); err != nil {
			return err
		}
	}
	q.open = slices.Delete(q.open, i, i+1)
	one.answered <- p
	return nil
}

// ask asks the person, and waits until the question is answered or expires, or ctx ends.
func (q *questions) ask(ctx context.Context, one protocol.ServerQuestion) protocol.ServerAnswerParams {
	cancelled := protocol.ServerAnswerParams{Action: "cancel"}
	w := &question{ServerQuestion: one, answered: make(chan protocol.ServerAnswerParams, 1)}
	q.mu.Lock()
	if len(q.open) >= maxQuestions {
		q.mu.Unlock()
		return cancelled
	}
	q.open = append(q.open, w)
	q.mu.Unlock()
	q.changed()
	defer q.changed()
	defer func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.open = slices.DeleteFunc(q.open, func(o *question) bool { return o == w })
	}()
	timer := time.NewTimer(time.Until(time.UnixMilli(one.ExpiresAt)))
	defer timer.Stop()
	select {
	case a := <-w.answered:
		return a
	case <-timer.C:
	case <-ctx.Done():
	}
	return cancelled
}

// elicit asks the person what a server wants to know.
func (s *server) elicit(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	limit := cmp.Or(time.Duration(s.m.o.Config.Get().Approvals.Timeout)*time.Millisecond, questionLimit)
	now := time.Now()
	call, report := s.calls.only()
	q := protocol.ServerQuestion{
		ID: protocol.NewID(), Server: s.name, Call: call, Message: display.Clip(r.Params.Message, maxMessage), CreatedAt: now.UnixMilli(), ExpiresAt: now.Add(limit).UnixMilli(),
	}
	if r.Params.Mode == "url" || r.Params.URL != "" {
		u, err := url.Parse(r.Params.URL)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			s.log.addf("A question was declined: its address is not a web address")
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		q.URL = u.String()
	} else {
		fields, err := readFields(r.Params.RequestedSchema)
		if err != nil {
			s.log.addf("A question was declined: %v", err)
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		q.Fields = fields
	}
	if report != nil {
		report(protocol.ToolProgress{CallID: call, Tail: "Waiting for your answer to the server " + string(s.name)})
	}
	a := s.m.questions.ask(ctx, q)
	out := &mcp.ElicitResult{Action: a.Action}
	if a.Action == "accept" && q.URL == "" {
		if out.Content = a.Values; out.Content == nil {
			out.Content = map[string]any{}
		}
	}
	return out, nil
}

// property is a field in the schema of a question.
type property struct {
	Type        string   `json:"type"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Format      string   `json:"format"`
	Enum        []string `json:"enum"`
	EnumNames   []string `json:"enumNames"`
	OneOf       []option `json:"oneOf"`
	AnyOf       []option `json:"anyOf"`
	Items       *struct {
		Enum  []string `json:"enum"`
		AnyOf []option `json:"anyOf"`
		OneOf []option `json:"oneOf"`
	} `json:"items"`
	Default   any      `json:"default"`
	MinLength *float64 `json:"minLength"`
	MaxLength *float64 `json:"maxLength"`
	Minimum   *float64 `json:"minimum"`
	Maximum   *float64 `json:"maximum"`
	MinItems  *float64 `json:"minItems"`
	MaxItems  *float64 `json:"maxItems"`
}

type option struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// readFields reads the fields of a question from its schema, which is an object without nesting: the
// required ones first, in the order of the schema, then the others by name.
func readFields(schema any) ([]protocol.Field, error) {
	raw, err := protocol.Marshal(schema)
	if err != nil {
		return nil, err
	}
	var object struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("its form cannot be read: %w", err)
	}
	if len(object.Properties) > maxFields {
		return nil, fmt.Errorf("its form has %d fields, at most %d", len(object.Properties), maxFields)
	}
	names := slices.DeleteFunc(slices.Clone(object.Required), func(n string) bool { _, ok := object.Properties[n]; return !ok })
	for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var list []protocol.Field
	for _, name := range names {
		f, err := object.Properties[name].field()
		if err != nil {
			return nil, fmt.Errorf("its field %.60q cannot be shown: %w", name, err)
		}
		f.Name, f.Required = name, slices.Contains(object.Required, name)
		list = append(list, f)
	}
	return list, nil
}

// field returns the field without its name.
func (p property) field() (protocol.Field, error) {
	f := protocol.Field{Title: display.Line(p.Title, maxTitle), Description: display.Line(p.Description, maxMessage), Default: p.Default}
	switch p.Type {
	case "string":
		f.Kind, f.Min, f.Max = "text", p.MinLength, p.MaxLength
		if kind, ok := map[string]string{"email": "email", "uri": "uri", "date": "date", "date-time": "dateTime"}[p.Format]; ok {
			f.Kind = kind
		}
		if f.Choices = choices(p.Enum, p.EnumNames, append(p.OneOf, p.AnyOf...)); len(f.Choices) > 0 {
			f.Kind, f.Min, f.Max = "choice", nil, nil
		}
	case "number", "integer":
		f.Kind, f.Min, f.Max = p.Type, p.Minimum, p.Maximum
	case "boolean":
		f.Kind = "boolean"
	case "array":
		f.Kind, f.Min, f.Max = "choices", p.MinItems, p.MaxItems
		if p.Items != nil {
			f.Choices = choices(p.Items.Enum, nil, append(p.Items.AnyOf, p.Items.OneOf...))
		}
		if len(f.Choices) == 0 {
			return f, fmt.Errorf("a list without choices")
		}
	default:
		return f, fmt.Errorf("the type %.40q is unknown", p.Type)
	}
	return f, nil
}

func choices(values, titles []string, options []option) (list []protocol.Choice) {
	for i, v := range values {
		c := protocol.Choice{Value: v, Title: display.Line(v, maxTitle)}
		if i < len(titles) {
			c.Title = display.Line(titles[i], maxTitle)
		}
		list = append(list, c)
	}
	for _, o := range options {
		list = append(list, protocol.Choice{Value: o.Const, Title: display.Line(cmp.Or(o.Title, o.Const), maxTitle)})
	}
	return list
}

// check checks the values of an answer. Its error names the field.
func check(fields []protocol.Field, values map[string]any) error {
	for name := range values {
		if !slices.ContainsFunc(fields, func(f protocol.Field) bool { return f.Name == name }) {
			return protocol.ErrBadRequest.With(fmt.Sprintf("the question has no field %.60q", name))
		}
	}
	for _, f := range fields {
		v, ok := values[f.Name]
		if !ok && !f.Required {
			continue
		}
		if problem := problemOf(f, v); !ok || problem != "" {
			return protocol.ErrBadRequest.With(strings.TrimSpace(fmt.Sprintf("%s: %s", cmp.Or(f.Title, f.Name), cmp.Or(problem, "a value is required"))))
		}
	}
	return nil
}
