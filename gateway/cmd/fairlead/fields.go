package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// fieldValues reads the values of a question's fields from words such as name=Anna. A field that is
// not given has its default.
func fieldValues(q protocol.InputSubject, words []string) (map[string]any, error) {
	given := make(map[string]string)
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		if !ok || !slices.ContainsFunc(q.Fields, func(f protocol.Field) bool { return f.Name == name }) {
			return nil, usageError("%q is not NAME=VALUE of a field:\n%s", word, fieldList(q))
		}
		given[name] = value
	}
	values := make(map[string]any)
	for _, f := range q.Fields {
		text, ok := given[f.Name]
		if !ok {
			text = fieldDefault(f)
		}
		value, problem := fieldValue(f, text)
		if problem != "" {
			return nil, usageError("%s: %s\n%s", f.Name, problem, fieldList(q))
		}
		if value != nil {
			values[f.Name] = value
		}
	}
	return values, nil
}

// fieldValue reads a value as a person types it; problem says what is wrong.
func fieldValue(f protocol.Field, text string) (value any, problem string) {
	switch f.Kind {
	case "boolean":
		switch strings.ToLower(strings.TrimSpace(text)) {
		case "yes", "y", "true":
			return true, ""
		case "no", "n", "false", "":
			return false, ""
		}
		return nil, "Enter yes or no."
	case "choice":
		chosen, ok := choiceNamed(f, text)
		if !ok && text != "" {
			return nil, "Enter one of the choices."
		}
		return display.FieldValue(f, chosen)
	case "choices":
		list := []string{}
		for name := range strings.SplitSeq(text, ",") {
			if name = strings.TrimSpace(name); name == "" {
				continue
			}
			chosen, ok := choiceNamed(f, name)
			if !ok {
				return nil, fmt.Sprintf("%q is not one of the choices.", name)
			}
			list = append(list, chosen)
		}
		return display.FieldValue(f, list)
	}
	return display.FieldValue(f, text)
}

// choiceNamed returns the value of the choice with this value or title.
func choiceNamed(f protocol.Field, text string) (string, bool) {
	text = strings.TrimSpace(text)
	i := slices.IndexFunc(f.Choices, func(c protocol.Choice) bool { return c.Value == text })
	if i < 0 {
		i = slices.IndexFunc(f.Choices, func(c protocol.Choice) bool { return strings.EqualFold(c.Title, text) })
	}
	if i < 0 {
		return "", false
	}
	return f.Choices[i].Value, true
}

// fieldDefault returns the default of a field as a person would type it.
func fieldDefault(f protocol.Field) string {
	switch d := f.Default.(type) {
	case bool:
		return map[bool]string{true: "yes", false: "no"}[d]
	case []any:
		var list []string
		for _, v := range d {
			list = append(list, fmt.Sprint(v))
		}
		return strings.Join(list, ",")
	}
	return display.TypedDefault(f)
}

// fieldList describes the fields of a question, one in a line.
func fieldList(q protocol.InputSubject) string {
	var b strings.Builder
	for _, f := range q.Fields {
		fmt.Fprintf(&b, "  %s  %s\n", flat(f.Name), flat(fieldPrompt(f)))
	}
	return b.String()
}

// fieldPrompt is the label of a field with what may be entered.
func fieldPrompt(f protocol.Field) string {
	text := display.FieldTitle(f)
	var hints []string
	for _, c := range f.Choices {
		hints = append(hints, c.Value)
	}
	switch hint := display.FieldHint(f); {
	case f.Kind == "choices":
		hints = []string{"some of " + strings.Join(hints, ", ")}
	case f.Kind == "boolean":
		hints = []string{"yes or no"}
	case hint != "":
		hints = []string{"such as " + hint}
		if f.Kind == "number" || f.Kind == "integer" {
			hints[0] = hint
		}
	}
	if d := fieldDefault(f); d != "" {
		hints = append(hints, "default "+d)
	}
	if len(hints) > 0 {
		text += " (" + strings.Join(hints, ", ") + ")"
	}
	return format.Line(text, 300)
}

// errDeclined means that the person declined a question of a server.
var errDeclined = errors.New("declined")

// askFields asks the person for each field until its value fits. Ctrl+D declines: the error is
// errDeclined.
func (t *terminal) askFields(ctx context.Context, q protocol.InputSubject) (map[string]any, error) {
	t.note(display.InputLine(q) + "\nCtrl+D declines.")
	values := make(map[string]any)
	if len(q.Fields) == 0 {
		_, err := t.readMessage(ctx, "Press Enter to accept: ")
		if isCtrlD(err) {
			err = errDeclined
		}
		return values, err
	}
	for _, f := range q.Fields {
		if f.Description != "" {
			t.note(flat(f.Description))
		}
		for {
			line, err := t.readMessage(ctx, flat(fieldPrompt(f))+": ")
			if isCtrlD(err) {
				return nil, errDeclined
			}
			if err != nil {
				return nil, err
			}
			if line == "" {
				line = fieldDefault(f)
			}
			value, problem := fieldValue(f, line)
			if problem != "" {
				t.note(problem)
				continue
			}
			if value != nil {
				values[f.Name] = value
			}
			break
		}
	}
	return values, nil
}
