// Package question holds the questions of MCP servers (elicitations) until the person answers them or
// they expire.
package question

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

const (
	maxQuestions = 20 // of all servers
	maxFields    = 50
	maxText      = 2_000 // characters
	maxTitle     = 100   // characters
)

// List are the questions of servers that wait for the person. It is safe for concurrent use.
type List struct {
	changed func() // a question was added or closed

	mu   sync.Mutex // guards open
	open []*question
}

type question struct {
	protocol.ServerQuestion
	answered chan protocol.ServerAnswerParams // has room for the answer
}

// New returns an empty list. changed is called after each change.
func New(changed func()) *List { return &List{changed: changed} }

// All returns the questions, oldest first.
func (q *List) All() []protocol.ServerQuestion {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := make([]protocol.ServerQuestion, len(q.open))
	for i, one := range q.open {
		list[i] = one.ServerQuestion
	}
	return list
}

// Answer answers a question; the first answer counts. Errors are protocol.ErrBadRequest for values
// that do not fit, and protocol.ErrNotFound.
func (q *List) Answer(p protocol.ServerAnswerParams) error {
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

// Ask asks the person, and waits until the question is answered or expires, or ctx ends: then the
// action is cancel.
func (q *List) Ask(ctx context.Context, one protocol.ServerQuestion) protocol.ServerAnswerParams {
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

// Fields reads the fields of a question from its schema, which is an object without nesting: the
// required ones first, in the order of the schema, then the others by name.
func Fields(schema any) ([]protocol.Field, error) {
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
	f := protocol.Field{Title: display.Line(p.Title, maxTitle), Description: display.Line(p.Description, maxText), Default: p.Default}
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
