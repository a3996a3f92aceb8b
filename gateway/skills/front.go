package skills

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v4"
)

// splitFrontMatter splits a file into front matter, which begins in its first line, and body. White
// space after a fence is ignored, as in other tools.
func splitFrontMatter(data []byte) (front, body []byte) {
	data = bytes.ReplaceAll(bytes.TrimPrefix(data, []byte("\uFEFF")), []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	for at := 0; isFence(first) && at < len(rest); {
		line, after, _ := bytes.Cut(rest[at:], []byte("\n"))
		if isFence(line) {
			return rest[:at], after
		}
		at += len(line) + 1
	}
	return nil, data
}

func isFence(line []byte) bool { return string(bytes.TrimRight(line, " \t")) == "---" }

// fields is the top level of the front matter.
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

// fields parses front matter as YAML and, if that fails, line by line as the original system does:
// many skills have an unquoted colon in their description.
func (s *Skill) fields(front []byte) fields {
	if len(bytes.TrimSpace(front)) == 0 {
		return nil
	}
	var f map[string]any
	err := recoverPanic(func() error { return yaml.Unmarshal(front, &f) })
	if err == nil {
		return f
	}
	return parseLines(front)
}

// recoverPanic converts a panic of the YAML parser to an error: the file may come from anywhere.
func recoverPanic(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	return f()
}

var keyLine = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9_-]*)\s*:(.*)$`)

// parseLines parses front matter as the original system does: "key: value", split at the first
// colon; an empty value takes the following indented lines as one block.
func parseLines(front []byte) fields {
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
