package skills

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Limits of a skill's file. Longer text is cut if that does no harm, and reported in Problems.
const (
	MaxFront       = 64 << 10 // bytes of front matter
	maxDescription = 1024     // runes, the limit of the open format
	// runes of a body's first paragraph that are used if there is no description
	maxFirst = 200
	maxName  = 128
	maxText  = maxPrompt // runes
)

// Skill is a parsed SKILL.md. It does not change afterwards.
type Skill struct {
	Name        string
	Description string
	Dir         string // folder below skills/, with slashes
	Always      bool
	// text after the front matter, cut if very long: the instructions of an always active skill
	Text     string
	Homepage string
	License  string
	// Compatibility is the open format's free text on the skill's requirements.
	Compatibility string
	Needs         protocol.SkillRequirementSnapshot
	// unknown capability IDs; with any, the requirements are unknown and the skill is not eligible
	Invalid []string
	// Unread means that the file could not be read: such a skill is never eligible either.
	Unread   bool
	Problems []string
}

// Parse parses a SKILL.md in the folder dir. It always returns a skill: unreadable parts of the
// front matter are omitted and reported in Problems, so that one bad line does not hide the rest.
func Parse(dir string, data []byte) Skill {
	s := Skill{Dir: dir, Needs: protocol.SkillRequirementSnapshot{Capabilities: []string{}}}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		s.problem("The file is UTF-16 or UTF-32. Save it as UTF-8.")
		s.Unread, data = true, nil
	}
	if !utf8.Valid(data) {
		data = bytes.ToValidUTF8(data, []byte("\uFFFD"))
		s.problem("The file is not valid UTF-8.")
	}
	front, body := splitFrontMatter(data)
	if len(front) > MaxFront {
		s.problem("The front matter is longer than %d KB and was not read.", MaxFront>>10)
		front = nil
	}
	fields := s.fields(front)
	s.Name = cmp.Or(oneLine(fields.text("name"), maxName), path.Base(dir))
	s.Description = strings.TrimSpace(fields.text("description"))
	if s.Description == "" {
		s.Description = format.Clip(firstParagraph(body), maxFirst)
	} else if utf8.RuneCountInString(s.Description) > maxDescription {
		s.Description = format.Clip(s.Description, maxDescription)
		s.problem("The description is longer than %d characters and was shortened.", maxDescription)
	}
	s.Homepage = oneLine(fields.text("homepage"), 500)
	s.License = oneLine(fields.text("license"), 500)
	s.Compatibility = oneLine(fields.text("compatibility"), 500)
	s.Always = fields.is("always")
	s.Text = format.Clip(strings.TrimSpace(string(body)), maxText)
	s.requirements(fields)
	return s
}

func (s *Skill) problem(format string, args ...any) {
	s.Problems = append(s.Problems, fmt.Sprintf(format, args...))
}

// namespaces are the metadata keys in order of preference. Only the first one present counts.
var namespaces = []string{"fairlead", "gsv", "openclaw", "clawdbot"}

func (s *Skill) requirements(f fields) {
	meta, ok := f["metadata"].(map[string]any)
	if text := strings.TrimSpace(f.text("metadata")); !ok && text != "" {
		if err := recoverPanic(func() error { return yaml.Unmarshal([]byte(text), &meta) }); err != nil {
			s.problem("The metadata is invalid, so the requirements of the skill are unknown.")
			s.Invalid = []string{"metadata"}
			return
		}
	}
	for _, ns := range namespaces {
		own, ok := meta[ns].(map[string]any)
		if !ok {
			continue
		}
		if always, ok := own["always"].(bool); ok && always {
			s.Always = true
		}
		if s.Homepage == "" {
			s.Homepage = oneLine(fields(own).text("homepage"), 500)
		}
		s.Needs.OS = words(own["os"])
		if r, ok := own["requires"].(map[string]any); ok {
			s.Needs.Capabilities = append(s.Needs.Capabilities, words(r["capabilities"])...)
			s.Needs.Bins, s.Needs.AnyBins, s.Needs.Env = words(r["bins"]), words(r["anyBins"]), words(r["env"])
			if r["os"] != nil {
				s.Needs.OS = words(r["os"])
			}
		}
		break
	}
	s.Invalid = append(s.Invalid, unknown(s.Needs.Capabilities)...)
}

// unknown returns the IDs that are not capabilities.
func unknown(caps []string) (list []string) {
	for _, c := range caps {
		if !slices.Contains(protocol.Capabilities, c) {
			list = append(list, c)
		}
	}
	return list
}

// words converts a list or a single value to texts, so that no requirement is hidden.
func words(v any) []string {
	var list []string
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		list = []string{v}
	case []any:
		for _, x := range v {
			t, ok := x.(string)
			if !ok {
				t = strconv.Quote(fmt.Sprint(x))
			}
			list = append(list, t)
		}
	default:
		list = []string{fmt.Sprint(v)}
	}
	for i, t := range list {
		list[i] = oneLine(t, maxName)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// firstParagraph returns the first lines of a body that are not a heading.
func firstParagraph(body []byte) string {
	var p []string
	for _, line := range strings.Split(string(body), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" && len(p) > 0:
			return strings.Join(p, " ")
		case line == "", strings.HasPrefix(line, "#"):
		default:
			p = append(p, line)
		}
	}
	return strings.Join(p, " ")
}

func oneLine(s string, n int) string { return format.Clip(strings.Join(strings.Fields(s), " "), n) }

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

// fields parses front matter as YAML and, if that fails, line by line as GSV does: many skills have
// an unquoted colon in their description.
func (s *Skill) fields(front []byte) fields {
	if len(bytes.TrimSpace(front)) == 0 {
		return nil
	}
	var f map[string]any
	if err := recoverPanic(func() error { return yaml.Unmarshal(front, &f) }); err != nil {
		return parseLines(front)
	}
	return f
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

// parseLines parses front matter as GSV does: "key: value", split at the first colon; an empty
// value takes the following indented lines as one block.
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
