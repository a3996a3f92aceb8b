package display

import (
	"cmp"
	"math"
	"net/mail"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// FieldTitle is the label of a field of a form.
func FieldTitle(f protocol.Field) string {
	title := cmp.Or(f.Title, f.Name)
	if !f.Required && f.Kind != "boolean" {
		title += " (optional)"
	}
	return title
}

// FieldHint is the placeholder of a field that is filled in with the keyboard.
func FieldHint(f protocol.Field) string {
	switch f.Kind {
	case "email":
		return "name@example.org"
	case "uri":
		return "https://example.org"
	case "date":
		return "2026-11-30"
	case "dateTime":
		return "2026-11-30 09:00"
	case "number", "integer":
		return limitsText(f, "")
	}
	return ""
}

// TypedDefault returns the default of a field that is filled in with the keyboard.
func TypedDefault(f protocol.Field) string {
	switch d := f.Default.(type) {
	case string:
		if t, err := time.Parse(time.RFC3339, d); err == nil && f.Kind == "dateTime" {
			return t.Local().Format(minuteLayout)
		}
		return d
	case float64:
		return strconv.FormatFloat(d, 'f', -1, 64)
	}
	return ""
}

const minuteLayout = "2006-01-02 15:04"

// FieldValue reads what a person entered into a field: a string, a bool, or the values of the chosen
// choices as []string. value is nil if the field is left out. problem says what is wrong.
func FieldValue(f protocol.Field, entered any) (value any, problem string) {
	switch entered := entered.(type) {
	case bool:
		return entered, ""
	case []string:
		return chosenValues(f, entered)
	case string:
		if f.Kind != "choice" {
			if f.Kind != "text" {
				entered = strings.TrimSpace(entered)
			}
			return typedValue(f, entered)
		}
		if entered == "" && f.Required {
			return nil, "Choose one."
		} else if entered != "" {
			return entered, ""
		}
	}
	return nil, ""
}

func chosenValues(f protocol.Field, list []string) (any, string) {
	n := float64(len(list))
	switch {
	case len(list) == 0 && !f.Required:
		return nil, ""
	case f.Min != nil && n < *f.Min:
		return nil, "Choose at least " + number(*f.Min) + "."
	case f.Max != nil && n > *f.Max:
		return nil, "Choose at most " + number(*f.Max) + "."
	case len(list) == 0 && f.Min == nil:
		return nil, "Choose at least 1."
	}
	values := make([]any, len(list))
	for i, s := range list {
		values[i] = s
	}
	return values, ""
}

func typedValue(f protocol.Field, text string) (any, string) {
	if text == "" {
		if f.Required {
			return nil, "Fill in this field."
		}
		return nil, ""
	}
	switch f.Kind {
	case "number", "integer":
		n, err := strconv.ParseFloat(text, 64)
		switch {
		case err != nil || math.IsInf(n, 0) || math.IsNaN(n):
			return nil, "Enter a number."
		case f.Kind == "integer" && n != math.Trunc(n):
			return nil, "Enter a whole number."
		case f.Min != nil && n < *f.Min || f.Max != nil && n > *f.Max:
			return nil, "Enter a number " + limitsText(f, "") + "."
		}
		return n, ""
	case "email":
		if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
			return nil, "Enter an email address, such as name@example.org."
		}
	case "uri":
		if u, err := url.Parse(text); err != nil || u.Scheme == "" {
			return nil, "Enter a full address, such as https://example.org."
		}
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return nil, "Enter a date, such as 2026-11-30."
		}
	case "dateTime":
		t, ok := parseTime(text)
		if !ok {
			return nil, "Enter a date and a time, such as 2026-11-30 09:00."
		}
		text = t.Format(time.RFC3339)
	}
	n := float64(utf8.RuneCountInString(text))
	if f.Min != nil && n < *f.Min || f.Max != nil && n > *f.Max {
		return nil, "Enter " + limitsText(f, "characters") + "."
	}
	return text, ""
}

func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{minuteLayout, "2006-01-02T15:04", time.DateTime, "2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// limitsText says between which numbers a value must be: from 1 to 5; at least 3 characters.
func limitsText(f protocol.Field, unit string) string {
	if unit != "" && f.Max != nil && *f.Max == 1 || f.Max == nil && f.Min != nil && *f.Min == 1 {
		unit = strings.TrimSuffix(unit, "s")
	}
	text := ""
	switch {
	case f.Min != nil && f.Max != nil:
		text = "from " + number(*f.Min) + " to " + number(*f.Max)
	case f.Min != nil:
		text = "at least " + number(*f.Min)
	case f.Max != nil:
		text = "at most " + number(*f.Max)
	}
	return strings.TrimSpace(text + " " + unit)
}

func number(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
