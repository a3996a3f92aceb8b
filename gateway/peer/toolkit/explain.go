package toolkit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/peer/format"
)

// explain returns one sentence about what is wrong with arguments that a schema refuses: the name
// of the argument, what it is and what is allowed. refusal is the validator's error, for what is
// too rare to have a sentence.
func explain(s *jsonschema.Schema, args map[string]any, refusal error) error {
	if text := problemOf(s, args, ""); text != "" {
		return errors.New(text)
	}
	text, at := refusal.Error(), ""
	for rest, ok := strings.CutPrefix(text, "validating "); ok; rest, ok = strings.CutPrefix(text, "validating ") {
		at, text, _ = strings.Cut(rest, ": ")
	}
	if _, plain, ok := strings.Cut(text, ": "); ok {
		text = plain // without the name of the keyword
	}
	names := strings.Split(strings.TrimPrefix(at, "/"), "/")
	return fmt.Errorf("%s: %s", names[len(names)-1], text)
}

// problemOf returns a sentence about the first problem of a value called name, or "".
func problemOf(s *jsonschema.Schema, v any, name string) string {
	if s == nil {
		return ""
	}
	if types := typesOf(s); len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return isOf(v, t) }) {
		var allowed []string
		for _, t := range types {
			allowed = append(allowed, typeWords[t])
		}
		return mustBe(name, strings.Join(allowed, " or "), v)
	}
	if allowed := fixedValues(s); allowed != nil && !slices.ContainsFunc(allowed, func(a any) bool { return reflect.DeepEqual(a, v) }) {
		return mustBe(name, oneOf(allowed), v)
	}
	for _, part := range s.AllOf {
		if text := problemOf(part, v, name); text != "" {
			return text
		}
	}
	for _, forms := range [][]*jsonschema.Schema{s.AnyOf, s.OneOf} {
		if text := problemOfForms(forms, v, name); text != "" {
			return text
		}
	}
	switch v := v.(type) {
	case map[string]any:
		return problemOfObject(s, v, name)
	case []any:
		return problemOfList(s, v, name)
	case string:
		return problemOfText(s, v, name)
	case float64:
		return problemOfNumber(s, v, name)
	}
	return ""
}

// problemOfForms returns the problem of a value that has none of several forms: that with the form
// of its type, if it is the only one, otherwise the forms' types.
func problemOfForms(forms []*jsonschema.Schema, v any, name string) string {
	var fitting, words []string
	for _, form := range forms {
		text := problemOf(form, v, name)
		if text == "" {
			return ""
		}
		types := typesOf(form)
		if len(types) == 0 || slices.ContainsFunc(types, func(t string) bool { return isOf(v, t) }) {
			fitting = append(fitting, text)
		}
		for _, t := range types {
			words = append(words, typeWords[t])
		}
	}
	words = slices.Compact(words)
	switch {
	case len(forms) == 0:
		return ""
	case len(fitting) > 0:
		return strings.Join(slices.Compact(fitting), ", or ")
	}
	return mustBe(name, strings.Join(words, " or "), v)
}

func problemOfObject(s *jsonschema.Schema, v map[string]any, name string) string {
	for _, needed := range s.Required {
		if _, ok := v[needed]; !ok {
			text := "is required, but missing"
			if p := s.Properties[needed]; p != nil {
				if words := wordsFor(p); words != "" {
					text = "is required (" + words + "), but missing"
				}
			}
			return below(name, needed) + " " + text
		}
	}
	closed := s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil
	for _, key := range slices.Sorted(maps.Keys(v)) {
		p := childSchema(s, key)
		if closed && p == s.AdditionalProperties {
			return fmt.Sprintf("there is no argument %q; %s", below(name, key), allowedNames(s))
		}
		if text := problemOf(p, v[key], below(name, key)); text != "" {
			return text
		}
	}
	return ""
}

func allowedNames(s *jsonschema.Schema) string {
	names := slices.Sorted(maps.Keys(s.Properties))
	if len(names) == 0 {
		return "none are allowed"
	}
	return "allowed are " + strings.Join(names, ", ")
}

func problemOfList(s *jsonschema.Schema, v []any, name string) string {
	switch {
	case s.MinItems != nil && len(v) < *s.MinItems:
		return fmt.Sprintf("%s must have at least %d entries, not %d", orArguments(name), *s.MinItems, len(v))
	case s.MaxItems != nil && len(v) > *s.MaxItems:
		return fmt.Sprintf("%s may have at most %d entries, not %d", orArguments(name), *s.MaxItems, len(v))
	}
	for i, item := range v {
		if text := problemOf(childSchema(s, i), item, fmt.Sprintf("%s[%d]", name, i)); text != "" {
			return text
		}
	}
	return ""
}

func problemOfText(s *jsonschema.Schema, v, name string) string {
	n := utf8.RuneCountInString(v)
	switch {
	case s.MinLength != nil && n < *s.MinLength && n == 0:
		return orArguments(name) + " must not be empty"
	case s.MinLength != nil && n < *s.MinLength:
		return fmt.Sprintf("%s must have at least %d characters, not %d", orArguments(name), *s.MinLength, n)
	case s.MaxLength != nil && n > *s.MaxLength:
		return fmt.Sprintf("%s may have at most %d characters, not %d", orArguments(name), *s.MaxLength, n)
	case s.Pattern != "":
		if re, err := regexp.Compile(s.Pattern); err == nil && !re.MatchString(v) {
			return mustBe(name, "a text that matches "+s.Pattern, v)
		}
	}
	return ""
}

func problemOfNumber(s *jsonschema.Schema, v float64, name string) string {
	limit := func(words string, n float64) string { return mustBe(name, words+" "+numberText(n), v) }
	switch {
	case s.Minimum != nil && v < *s.Minimum:
		return limit("at least", *s.Minimum)
	case s.Maximum != nil && v > *s.Maximum:
		return limit("at most", *s.Maximum)
	case s.ExclusiveMinimum != nil && v <= *s.ExclusiveMinimum:
		return limit("more than", *s.ExclusiveMinimum)
	case s.ExclusiveMaximum != nil && v >= *s.ExclusiveMaximum:
		return limit("less than", *s.ExclusiveMaximum)
	}
	return ""
}

func mustBe(name, allowed string, v any) string {
	return fmt.Sprintf("%s must be %s, not %s", orArguments(name), allowed, valueWords(v))
}

// orArguments returns the name of a value; the arguments as a whole have none.
func orArguments(name string) string {
	if name == "" {
		return "the arguments"
	}
	return name
}

func below(name, key string) string {
	if name == "" {
		return key
	}
	return name + "." + key
}

// typeWords name the types of a schema.
var typeWords = map[string]string{
	kindText: "a text", kindNumber: "a number", kindInteger: "a whole number", kindBoolean: "true or false", "object": "an object", "array": "a list", "null": "null",
}

// wordsFor returns what a schema allows, in words; "" for anything.
func wordsFor(s *jsonschema.Schema) string {
	if allowed := fixedValues(s); allowed != nil {
		return oneOf(allowed)
	}
	var words []string
	for _, t := range typesOf(s) {
		words = append(words, typeWords[t])
	}
	return strings.Join(words, " or ")
}

func fixedValues(s *jsonschema.Schema) []any {
	if s.Const != nil {
		return []any{*s.Const}
	}
	return s.Enum
}

func oneOf(values []any) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, cmp.Or(string(mustJSON(v)), "null"))
	}
	last := len(texts) - 1
	if last <= 0 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

func isOf(v any, kind string) bool {
	switch v := v.(type) {
	case string:
		return kind == kindText
	case bool:
		return kind == kindBoolean
	case float64:
		return kind == kindNumber || kind == kindInteger && v == float64(int64(v))
	case map[string]any:
		return kind == "object"
	case []any:
		return kind == "array"
	case nil:
		return kind == "null"
	}
	return false
}

// maxQuoted is the number of bytes of a wrong text that a sentence quotes.
const maxQuoted = 60

// valueWords describes a value.
func valueWords(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) > maxQuoted {
			v = format.Head(v, maxQuoted) + "…"
		}
		return fmt.Sprintf("the text %q", v)
	case float64:
		return numberText(v)
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	}
	return fmt.Sprint(map[any]string{nil: "null", true: "true", false: "false"}[v])
}

func numberText(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
