// Package form reads the forms of MCP servers (elicitations), and checks what a person filled in.
package form

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

const (
	maxFields = 50
	maxText   = 2_000 // characters
	maxTitle  = 100   // characters
)

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
	f := protocol.Field{Title: format.Line(p.Title, maxTitle), Description: format.Line(p.Description, maxText), Default: p.Default}
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
		c := protocol.Choice{Value: v, Title: format.Line(v, maxTitle)}
		if i < len(titles) {
			c.Title = format.Line(titles[i], maxTitle)
		}
		list = append(list, c)
	}
	for _, o := range options {
		list = append(list, protocol.Choice{Value: o.Const, Title: format.Line(cmp.Or(o.Title, o.Const), maxTitle)})
	}
	return list
}

// Check checks the values of an answer. Its error is protocol.ErrBadRequest and names the field.
func Check(fields []protocol.Field, values map[string]any) error {
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
