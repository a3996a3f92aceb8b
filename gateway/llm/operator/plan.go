package operator

import (
	"fmt"
	"regexp"
	"strings"

	"fairlead/gateway/protocol"
)

// form is one kind of request that is understood.
type form struct {
	re      *regexp.Regexp
	example string
	words   []string // that make this form the likely meaning of something not understood
	act     func(h hands, node protocol.NodeID, m []string) (call, string)
}

const quoted = `"[^"]+"|'[^']+'|` + "`[^`]+`|“[^”]+”"

var forms = []form{
	{rx(`(?:run|execute)\s+(.+)`), "run make test", []string{"run", "execute", "start", "make", "build", "install"}, func(h hands, n protocol.NodeID, m []string) (call, string) {
		return h.call(n, "Bash", map[string]any{"command": unquoteWhole(m[1])})
	}},
	{rx(`(?:replace|change)\s+(` + quoted + `|.+?)\s+(?:with|by|to)\s+(` + quoted + `|.*?)\s+in\s+(` + quoted + `|\S+)(?:\s+everywhere)?`),
		"replace A with B in FILE", []string{"replace", "change", "rename", "edit"}, func(h hands, n protocol.NodeID, m []string) (call, string) {
			return h.call(n, "Edit", map[string]any{"path": name(m[3]), "oldString": unquote(m[1]), "newString": unquote(m[2]), "replaceAll": true})
		}},
	{rx(`(?:write|put|save)\s+(` + quoted + `|.+?)\s+(?:to|into|in)\s+(` + quoted + `|\S+)`), "write TEXT to FILE", []string{"write", "save", "put"}, func(h hands, n protocol.NodeID, m []string) (call, string) {
		return h.call(n, "Write", map[string]any{"path": name(m[2]), "content": unquote(m[1]) + "\n"})
	}},
	{rx(`create\s+(?:a\s+file\s+|the\s+file\s+)?(` + quoted + `|\S+)\s+(?:with|containing)\s+(.+)`), "create FILE with TEXT", []string{"create", "new", "file"}, func(h hands, n protocol.NodeID, m []string) (call, string) {
		return h.call(n, "Write", map[string]any{"path": name(m[1]), "content": unquote(m[2]) + "\n"})
	}},
	{rx(`(?:search|grep|look)(?:\s+for)?\s+(` + quoted + `|.+?)(?:\s+in\s+(` + quoted + `|\S+))?`), "search for TODO in gateway", []string{"search", "find", "where", "grep", "look"}, search},
	{rx(`find\s+(?:the\s+)?files?\s+(?:named|called)\s+(` + quoted + `|\S+)(?:\s+in\s+(` + quoted + `|\S+))?`), "find files named Makefile", []string{"find", "where"}, func(h hands, n protocol.NodeID, m []string) (call, string) {
		return glob(h, n, "**/"+name(m[1]), m[2])
	}},
	{rx(`find\s+(` + quoted + `|.+?)(?:\s+in\s+(` + quoted + `|\S+))?`), "find func main in gateway", []string{"find"}, search},
	{rx(`(?:list|show|find|ls)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?(` + quoted + `|\S*[*?]\S*)(?:\s+in\s+(` + quoted + `|\S+))?`), "list *.md in docs", nil, func(h hands, n protocol.NodeID, m []string) (call, string) {
		return glob(h, n, anywhere(name(m[1])), m[2])
	}},
	{rx(`(?:list|show)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?(?:(\w[\w+#]*)\s+)?files?(?:\s+(?:in|of|under)\s+(` + quoted + `|\S+))?`), "list the Go files", []string{"list", "files", "folder", "directory"}, func(h hands, n protocol.NodeID, m []string) (call, string) {
		pattern := "**/*"
		if m[1] != "" {
			ext, ok := extensions[strings.ToLower(m[1])]
			if !ok {
				ext = strings.ToLower(m[1])
			}
			pattern = "**/*." + ext
		}
		return glob(h, n, pattern, m[2])
	}},
	{rx(`(?:list|ls)(?:\s+(` + quoted + `|\S+))?`), "list docs", nil, func(h hands, n protocol.NodeID, m []string) (call, string) {
		return glob(h, n, "*", m[1])
	}},
	{rx(`(?:read|show|open|cat|print)\s+(?:me\s+)?(?:the\s+file\s+|file\s+)?(` + quoted + `|\S+)`), "read README.md", []string{"read", "show", "open", "what", "print", "explain"}, func(h hands, n protocol.NodeID, m []string) (call, string) {
		return h.call(n, "Read", map[string]any{"path": name(m[1])})
	}},
	{rx(`(?:send|copy|transfer)\s+(` + quoted + `|\S+)\s+to\s+(\S+)`), "send FILE to MACHINE", []string{"send", "copy", "transfer", "move"}, send},
}

var extensions = map[string]string{
	"go": "go", "golang": "go", "python": "py", "markdown": "md", "rust": "rs", "javascript": "js", "typescript": "{ts,tsx}", "c": "{c,h}",
	"c++": "{cc,cpp,cxx,h,hpp}", "c#": "cs", "java": "java", "shell": "sh", "bash": "sh", "text": "txt", "yaml": "{yaml,yml}", "json": "json", "html": "{html,htm}",
	"css": "css", "ruby": "rb", "sql": "sql", "xml": "xml", "image": "{png,jpg,jpeg,gif,webp,svg}", "log": "log", "test": "{test,spec}.*",
}

func rx(body string) *regexp.Regexp {
	return regexp.MustCompile(`(?is)^(?:please\s+|can\s+you\s+|could\s+you\s+)?` + body + `\s*$`)
}

func search(h hands, n protocol.NodeID, m []string) (call, string) {
	in := map[string]any{"pattern": regexp.QuoteMeta(unquote(m[1]))}
	if m[2] != "" {
		in["path"] = name(m[2])
	}
	return h.call(n, "Grep", in)
}

func glob(h hands, n protocol.NodeID, pattern, dir string) (call, string) {
	in := map[string]any{"pattern": pattern}
	if dir != "" {
		in["path"] = name(dir)
	}
	return h.call(n, "Glob", in)
}

// anywhere lets a pattern without a folder match in every folder.
func anywhere(pattern string) string {
	if strings.Contains(pattern, "/") {
		return pattern
	}
	return "**/" + pattern
}

func send(h hands, n protocol.NodeID, m []string) (call, string) {
	to, ok := h.named(name(m[2]))
	if !ok {
		return call{}, fmt.Sprintf("I know no machine called %s. %s", name(m[2]), machines(h))
	}
	from := n
	if from == "" {
		from = h.first
	}
	if tool, ok := h.tools[protocol.NativePrefix]["Transfer"]; ok {
		file := name(m[1])
		return call{tool, map[string]any{"source": string(from) + ":" + file, "destination": string(to) + ":" + file}}, ""
	}
	return call{}, "Sending files between machines is not part of this version yet. Nothing was sent."
}

// plan reads a message. Each line is a request of its own, unless a code fence follows a bare "run".
func plan(h hands, text string) (string, []call) {
	var calls []call
	var said []string
	for _, line := range requests(text) {
		c, words := understand(h, line)
		if words != "" {
			said = append(said, words)
		} else {
			calls = append(calls, c)
		}
	}
	return strings.Join(said, "\n\n"), calls
}

// requests cuts a message into requests.
func requests(text string) []string {
	text = strings.TrimSpace(text)
	if m := fence.FindStringSubmatch(text); m != nil {
		return []string{"run " + strings.TrimSpace(m[1])}
	}
	var out []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-•*"))
		if line != "" {
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		out = []string{""}
	}
	return out
}

var (
	fence    = regexp.MustCompile("(?is)^(?:please\\s+)?(?:run|execute)(?:\\s+this)?:?\\s*```\\w*\\n(.+?)\\n?```$")
	onFirst  = regexp.MustCompile(`(?is)^on\s+(\S+?)[,:]?\s+(.+)$`)
	onLast   = regexp.MustCompile(`(?is)^(.+)\s+on\s+(\S+?)[.!]?$`)
	helpful  = regexp.MustCompile(`(?i)^(?:help|\?|what can (?:you|i) (?:do|say|ask).*|how do(?:es)? (?:this|it|you) work.*|commands)[?.! ]*$`)
	greeting = regexp.MustCompile(`(?i)^(?:hi|hello|hey|good (?:morning|evening|afternoon)|moin|thanks|thank you)\b.{0,20}$`)
	asksMach = regexp.MustCompile(`(?i)^(?:which|what|list|show)(?: (?:are|me))?(?: (?:my|the|all))? machines.*$`)
)

// understand turns one request into a call, or into words when it is a question or not understood.
func understand(h hands, line string) (call, string) {
	switch {
	case helpful.MatchString(line):
		return call{}, help(h)
	case greeting.MatchString(line):
		return call{}, "Hello. I am the built-in operator: I carry out plain requests, such as *run ls -la* or *read README.md*. Say *what can you do* for all of them."
	case asksMach.MatchString(line):
		return call{}, machines(h)
	}
	node := protocol.NodeID("")
	if m := onFirst.FindStringSubmatch(line); m != nil {
		if n, ok := h.named(m[1]); ok {
			node, line = n, m[2]
		}
	} else if m := onLast.FindStringSubmatch(line); m != nil {
		if n, ok := h.named(m[2]); ok {
			node, line = n, m[1]
		}
	}
	for i, f := range forms {
		clean := line
		if i > 0 { // a command keeps its punctuation
			clean = strings.TrimRight(line, "?! ")
			if !strings.HasSuffix(clean, "..") && !strings.HasSuffix(clean, " .") && !strings.HasSuffix(clean, "/.") {
				clean = strings.TrimSuffix(clean, ".") // the end of a sentence, not a folder
			}
		}
		if m := f.re.FindStringSubmatch(clean); m != nil {
			return f.act(h, node, m)
		}
	}
	return call{}, notUnderstood(line)
}

// unquote removes one pair of quotes around s.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, q := range []string{`""`, "''", "``", "“”"} {
		open, shut := string([]rune(q)[:1]), string([]rune(q)[1:])
		if len(s) > len(open)+len(shut)-1 && strings.HasPrefix(s, open) && strings.HasSuffix(s, shut) && !strings.Contains(s[len(open):len(s)-len(shut)], open) {
			return s[len(open) : len(s)-len(shut)]
		}
	}
	return s
}

// unquoteWhole removes backticks around a command, but leaves a shell's own quotes.
func unquoteWhole(s string) string {
	s = strings.TrimSpace(s)
	if len(s) > 2 && s[0] == '`' && s[len(s)-1] == '`' && !strings.Contains(s[1:len(s)-1], "`") {
		return s[1 : len(s)-1]
	}
	return s
}

// name is a file's name as written.
func name(s string) string { return unquote(strings.TrimSuffix(strings.TrimSpace(s), ",")) }
