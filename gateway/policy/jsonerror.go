package policy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"
)

// smallest is the smallest valid rules file.
const smallest = `{"default":"ask","rules":[]}`

// smallestRule is a simple valid rule.
const smallestRule = `{"tool":"Bash","argv":["ls"],"verdict":"allow"}`

// explain converts a decoding error of a rules file, or of a part of one, to an error that says
// what is wrong and what is expected. err's offset refers to data.
func explain(data []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var when *time.ParseError
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("the file is empty; the smallest one is " + smallest)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax) && syntax.Error() == "unexpected end of JSON input":
		return errors.New("the JSON ends too early: a bracket or a quote is not closed")
	case errors.As(err, &syntax):
		before := data[:min(max(int(syntax.Offset)-1, 0), len(data))]
		return fmt.Errorf("line %d, column %d: invalid JSON: %w", 1+bytes.Count(before, []byte("\n")), len(before)-bytes.LastIndexByte(before, '\n'), err)
	case errors.As(err, &when):
		return fmt.Errorf("expires %q must be a time such as \"2030-12-31T18:00:00Z\"", when.Value)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("it must be an object such as %s, not %s", smallest, describeKind(kind.Value))
	case errors.As(err, &kind):
		field := kind.Field[strings.LastIndexByte(kind.Field, '.')+1:]
		return fmt.Errorf("%s must be %s, not %s", field, expectedValue(field, kind.Type), describeKind(kind.Value))
	}
	return err
}

// describeKind names a kind of JSON value.
func describeKind(value string) string {
	known := map[string]string{"array": "a list", "object": "an object", "string": "a text", "bool": "true or false"}
	return cmp.Or(known[value], "a "+value)
}

// expectedValues describes the expected values of fields for which the type says too little.
var expectedValues = map[string]string{
	"argv":  `a list of words such as ["git","status","**"]`,
	"match": "a list of texts", "notMatch": "a list of texts", "rules": "a list", "grants": "a list",
	"when": `a list such as [{"path":"url","op":"startsWith","value":"https://"}]`,
}

func expectedValue(field string, t reflect.Type) string {
	types := map[reflect.Kind]string{reflect.String: "a text", reflect.Slice: "a list"}
	return cmp.Or(expectedValues[field], types[t.Kind()], "an object")
}

// isSimilar reports whether one name becomes the other if at most two letters, and half of them, are
// added, removed or replaced, or two neighbours change places.
func isSimilar(a, b string) bool {
	const most = 2
	a = strings.ToLower(a)
	for i := range len(a) - 1 {
		if a[:i]+a[i+1:i+2]+a[i:i+1]+a[i+2:] == b {
			return true
		}
	}
	if len(a) > len(b)+most || len(b) > len(a)+most {
		return false
	}
	row := make([]int, len(b)+1) // the changes from the first letters of a to each beginning of b
	for k := range row {
		row[k] = k
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for k := range len(b) {
			change := before
			if a[i] != b[k] {
				change++
			}
			before, row[k+1] = row[k+1], min(change, row[k]+1, row[k+1]+1)
		}
	}
	return row[len(b)] <= min(most, len(b)/2)
}

// describeUnknown lists the unknown fields and the most similar known ones.
func describeUnknown(names, known []string) string {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf("%q", shorten(n))
		if k := slices.IndexFunc(known, func(k string) bool { return isSimilar(n, strings.ToLower(k)) }); k >= 0 {
			list[i] += fmt.Sprintf(" (did you mean %q?)", known[k])
		}
	}
	if len(list) == 1 {
		return list[0] + " is unknown"
	}
	return strings.Join(list, ", ") + " are unknown"
}
