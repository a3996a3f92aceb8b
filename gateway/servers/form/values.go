package form

import (
	"math"
	"net/mail"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// problemOf returns why a value does not fit a field, or "".
func problemOf(f protocol.Field, v any) string {
	switch f.Kind {
	case "boolean":
		if _, ok := v.(bool); !ok {
			return "it must be true or false"
		}
	case "number", "integer":
		n, ok := v.(float64)
		if !ok || f.Kind == "integer" && n != math.Trunc(n) {
			return "it must be a number"
		}
		return outside(f, n)
	case "choices":
		list, ok := v.([]any)
		if !ok {
			return "it must be a list"
		}
		for _, one := range list {
			if !isChoice(f, one) {
				return "it must be some of the choices"
			}
		}
		return outside(f, float64(len(list)))
	case "choice":
		if !isChoice(f, v) {
			return "it must be one of the choices"
		}
	default:
		text, ok := v.(string)
		if !ok || !isText(f.Kind, text) {
			return textProblems[f.Kind]
		}
		return outside(f, float64(utf8.RuneCountInString(text)))
	}
	return ""
}

// textProblems say what a kind of text must be.
var textProblems = map[string]string{
	"email": "it must be an email address", "uri": "it must be an address", "date": "it must be a date such as 2026-11-30",
	"dateTime": "it must be a time such as 2026-11-30T09:00:00Z", "text": "it must be text",
}

func outside(f protocol.Field, n float64) string {
	if f.Min != nil && n < *f.Min {
		return "it is too small"
	}
	if f.Max != nil && n > *f.Max {
		return "it is too large"
	}
	return ""
}

func isChoice(f protocol.Field, v any) bool {
	return slices.ContainsFunc(f.Choices, func(c protocol.Choice) bool { return v == c.Value })
}

func isText(kind, text string) bool {
	var err error
	switch kind {
	case "email":
		_, err = mail.ParseAddress(text)
	case "uri":
		var u *url.URL
		if u, err = url.Parse(text); err == nil && u.Scheme == "" {
			return false
		}
	case "date":
		_, err = time.Parse(time.DateOnly, text)
	case "dateTime":
		_, err = time.Parse(time.RFC3339, text)
	}
	return err == nil
}
