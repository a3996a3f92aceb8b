package skills

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// split takes a file apart at its front matter, which begins with its first byte.
func split(data []byte) (front, body []byte) {
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\uFEFF")), []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	rest, ok := bytes.CutPrefix(data, []byte("---\n"))
	if !ok {
		return nil, data
	}
	if body, ok := bytes.CutPrefix(rest, []byte("---")); ok && (len(body) == 0 || body[0] == '\n') {
		return nil, body
	}
	if i := bytes.Index(rest, []byte("\n---\n")); i >= 0 {
		return rest[:i+1], rest[i+5:]
	}
	if front, ok := bytes.CutSuffix(rest, []byte("\n---")); ok {
		return front, nil
	}
	return nil, data
}

// fields are the front matter's top level.
type fields map[string]any

func (f fields) text(key string) string {
	switch v := f[key].(type) {
	case nil:
		return ""
	case string:
		return v
	case bool, int, int64, uint64, float64:
		return fmt.Sprint(v)
	}
	return ""
}

func (f fields) is(key string) bool {
	b, _ := f[key].(bool)
	return b || strings.EqualFold(f.text(key), "true")
}

// fields reads front matter as YAML and, where that fails, line by line as the original does: many skills have a colon in a description that
// is not quoted.
func (s *Skill) fields(front []byte) fields {
	if len(bytes.TrimSpace(front)) == 0 {
		return nil
	}
	var f map[string]any
	err := safely(func() error { return yaml.Unmarshal(front, &f) })
	if err == nil {
		return f
	}
	return byLine(front)
}

// safely turns a panic of the YAML reader into an error: the file may come from anywhere.
func safely(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return f()
}

var keyLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)\s*:(.*)$`)

// byLine is the original's reader (gsv interop notes 9.1): "key: value" split at the first colon; an empty value takes the indented lines
// that follow as one block.
func byLine(front []byte) fields {
	f := make(fields)
	lines := strings.Split(string(front), "\n")
	for i := 0; i < len(lines); i++ {
		m := keyLine.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		value := strings.TrimSpace(m[2])
		if value == "" || value == "|" || value == ">" || value == "|-" || value == ">-" {
			var block []string
			for i+1 < len(lines) && (lines[i+1] == "" || lines[i+1][0] == ' ' || lines[i+1][0] == '\t') {
				i++
				block = append(block, strings.TrimSpace(lines[i]))
			}
			value = strings.TrimSpace(strings.Join(block, "\n"))
		} else if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		}
		f[m[1]] = value
	}
	return f
}
