package display

import (
	"reflect"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAValueFitsItsField(t *testing.T) {
	n := func(f float64) *float64 { return &f }
	field := func(kind string, required bool, limits ...*float64) protocol.Field {
		f := protocol.Field{Kind: kind, Required: required}
		if len(limits) == 2 {
			f.Min, f.Max = limits[0], limits[1]
		}
		return f
	}
	for _, c := range []struct {
		name    string
		field   protocol.Field
		entered any
		value   any
		problem string
	}{
		{"text", field("text", true), " a ", " a ", ""},
		{"missing text", field("text", true), "", nil, "Fill in this field."},
		{"text left out", field("text", false), "", nil, ""},
		{"short text", field("text", true, n(3), nil), "ab", nil, "Enter at least 3 characters."},
		{"long text", field("text", true, nil, n(1)), "äb", nil, "Enter at most 1 character."},
		{"integer", field("integer", true, n(1), n(5)), " 3 ", 3.0, ""},
		{"fraction", field("integer", true), "3.5", nil, "Enter a whole number."},
		{"no number", field("number", true), "three", nil, "Enter a number."},
		{"infinite", field("number", true), "Inf", nil, "Enter a number."},
		{"large number", field("number", true, n(1), n(5)), "6", nil, "Enter a number from 1 to 5."},
		{"email", field("email", true), "a@b.org", "a@b.org", ""},
		{"email with a name", field("email", true), "A <a@b.org>", nil, "Enter an email address, such as name@example.org."},
		{"no address", field("uri", true), "example", nil, "Enter a full address, such as https://example.org."},
		{"date", field("date", true), "2026-02-30", nil, "Enter a date, such as 2026-11-30."},
		{"no time", field("dateTime", true), "tomorrow", nil, "Enter a date and a time, such as 2026-11-30 09:00."},
		{"time with a zone", field("dateTime", true), "2026-11-30T09:00:00Z", "2026-11-30T09:00:00Z", ""},
		{"boolean", field("boolean", true), false, false, ""},
		{"choice", field("choice", true), "x", "x", ""},
		{"no choice", field("choice", true), "", nil, "Choose one."},
		{"choices", field("choices", false, n(2), n(3)), []string{"a", "b"}, []any{"a", "b"}, ""},
		{"few choices", field("choices", false, n(2), nil), []string{"a"}, nil, "Choose at least 2."},
		{"many choices", field("choices", true, nil, n(1)), []string{"a", "b"}, nil, "Choose at most 1."},
		{"no choices", field("choices", true), []string{}, nil, "Choose at least 1."},
		{"choices left out", field("choices", false, n(2), nil), []string{}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			value, problem := FieldValue(c.field, c.entered)
			if !reflect.DeepEqual(value, c.value) || problem != c.problem {
				t.Errorf("got %#v, %q; want %#v, %q", value, problem, c.value, c.problem)
			}
		})
	}
}
