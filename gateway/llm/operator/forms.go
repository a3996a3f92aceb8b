package operator

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// form is one kind of request that the operator understands.
type form struct {
	re      *regexp.Regexp
	example string
	// words that make this form the likely meaning of a request that was not understood
	words []string
	// act gets the values of the blanks, m[0] being the whole line, and as the last one the code
	// block.
	act   func(h hands, node protocol.NodeID, m []string) (call, string)
	exact bool // the line's punctuation is preserved
}

const (
	quoted = `"[^"]*"|'[^']*'|` + "`[^`]*`|“[^”]*”|„[^“]*“|«[^»]*»|‘[^’]*’"
	path   = `((?:` + quoted + `)|\S+)`
	text   = `((?:` + quoted + `)|.+?)`
	within = `(?:\s+(?:in|under|inside|of)\s+(?:the\s+(?:folder|directory)\s+)?` + path + `)?`
	polite = `(?:\s+(?:me|all|the|of|my))*\s+`
)

func rx(body string) *regexp.Regexp { return regexp.MustCompile(`(?is)^` + body + `\s*$`) }

// forms are tried in this order.
func forms() []form {
	return []form{
		{
			re: rx(`(?:(?:run|execute)(?:\s+the\s+command)?:?\s|\$\s)\s*(.+)`), example: "run make test", exact: true,
			words: []string{"run", "execute", "start", "make", "build", "install", "command"},
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				return h.call(n, "Bash", map[string]any{"command": unquoteWhole(m[1])})
			},
		},
		{
			re:      rx(`(?:replace|change)\s+(?:(?:all|every)\s+)?` + text + `\s+(?:with|by|to)\s+((?:` + quoted + `)|.*?)\s+in\s+` + path + `(?:\s+everywhere)?`),
			example: "replace A with B in FILE", words: []string{"replace", "change", "rename", "edit", "fix"},
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				return h.call(n, "Edit", map[string]any{"path": name(m[3]), "oldString": unquote(m[1]), "newString": unquote(m[2]), "replaceAll": true})
			},
		},
		{
			re: rx(`(?:write|put|save)\s+` + text + `\s+(?:to|into|in|as)\s+(?:the\s+file\s+|file\s+)?` + path), example: "write TEXT to FILE",
			words: []string{"write", "save", "put"},
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				return write(h, n, m[2], unquote(m[1])+"\n")
			},
		},
		{
			re: rx(`create\s+(?:an\s+|the\s+)?empty\s+file\s+(?:called\s+|named\s+)?` + path), example: "create an empty file FILE",
			act: func(h hands, n protocol.NodeID, m []string) (call, string) { return write(h, n, m[1], "") },
		},
		{
			re: rx(`create\s+(?:(?:a\s+|the\s+)?file\s+)?(?:called\s+|named\s+)?` + path + `\s+(?:with|containing)(?:\s+the\s+text)?\s+(.+)`), example: "create FILE with TEXT",
			words: []string{"create", "new", "file"}, exact: true,
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				return write(h, n, m[1], unquote(m[2])+"\n")
			},
		},
		{
			re: rx(`(?:list|show|find|ls)` + polite + `((?:` + quoted + `)|\S*[*?]\S*)(?:\s+files?)?` + within), example: "list *.md in docs",
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				return glob(h, n, anywhere(name(m[1])), m[2])
			},
		},
		{
			re: rx(`find` + polite + `files?\s+(?:named|called)\s+` + path + within), example: "find files named Makefile", words: []string{"find", "where"},
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				return glob(h, n, anywhere(name(m[1])), m[2])
			},
		},
		{
			re: rx(`(?:list|show|find|what\s+are|which\s+are)` + polite + `(?:\.?(\w[\w+#]*)\s+)?(?:source\s+)?files?` + within), example: "list the Go files",
			words: []string{"list", "files", "folder", "directory", "ls"},
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				pattern := "**/*"
				if m[1] != "" {
					pattern = "**/*." + extension(m[1])
				}
				return glob(h, n, pattern, m[2])
			},
		},
		{
			re: rx(`(?:list|ls|dir)(?:` + polite + `(?:(?:folder|directory|contents\s+of)\s+)?` + path + `)?`), example: "list docs",
			act: func(h hands, n protocol.NodeID, m []string) (call, string) { return glob(h, n, "*", m[1]) },
		},
		{
			re: rx(`(?:find|where\s+is)\s+(?:the\s+)?(?:file\s+)?(\S+\.\w+)` + within), example: "find README.md",
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				if !isFile(m[1]) {
					return search(h, n, m[1], m[2], "")
				}
				return glob(h, n, anywhere(name(m[1])), m[2])
			},
		},
		{
			re: rx(`(?:search(?:\s+for)?|grep(?:\s+for)?|look\s+for|find)\s+` + text + `\s+in\s+(?:all\s+)?(?:the\s+)?(\w[\w+#]*)\s+files` + within), example: "search for TODO in the Go files",
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				return search(h, n, m[1], m[3], "*."+extension(m[2]))
			},
		},
		{
			re: rx(`(?:search(?:\s+for)?|grep(?:\s+for)?|look\s+for|find|where\s+is)\s+` + text + `(?:\s+in\s+` + path + `)?`), example: "search for TODO in gateway",
			words: []string{"search", "find", "where", "grep", "look"},
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				if strings.ContainsAny(m[2], "*?") {
					return search(h, n, m[1], "", name(m[2]))
				}
				return search(h, n, m[1], m[2], "")
			},
		},
		{
			re:      rx(`(?:read|show|print)` + polite + `(?:(first)\s+(\d+)\s+lines|lines?\s+(\d+)(?:\s*(?:-|–|to)\s*(\d+))?)\s+(?:of|in|from)\s+(?:the\s+)?(?:file\s+)?` + path),
			example: "read lines 5-9 of FILE", act: readLines,
		},
		{
			re: rx(`(?:read|show|open|cat|print|view|what\s+is\s+in|what's\s+in|what\s+does)` + polite + `(?:file\s+|contents?\s+of\s+)?` + path + `(?:\s+say)?`), example: "read README.md",
			words: []string{"read", "show", "open", "what", "print", "explain", "view"},
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				return h.call(n, "Read", map[string]any{"path": name(m[1])})
			},
		},
		{
			re: rx(`(?:send|copy|transfer)\s+(?:the\s+)?(?:file\s+)?` + path + `\s+to\s+(?:the\s+|my\s+)?(\S+)`), example: "send FILE to MACHINE",
			words: []string{"send", "copy", "transfer", "move", "upload", "download"}, act: send,
		},
	}
}

// blockForms are the forms of lines above a code block.
func blockForms() []form {
	return []form{
		{
			re: rx(`(?:run|execute)(?:\s+(?:this|these|that|the\s+following))?(?:\s+(?:commands?|script))?`),
			act: func(h hands, n protocol.NodeID, m []string) (call, string) {
				return h.call(n, "Bash", map[string]any{"command": m[len(m)-1]})
			},
		},
		{re: rx(`(?:write|save|put)(?:\s+(?:this|that|the\s+following))?\s+(?:to|into|in|as)\s+(?:the\s+)?(?:file\s+)?` + path), act: writeBlock},
		{re: rx(`create(?:\s+(?:a|the))?(?:\s+file)?(?:\s+(?:called|named))?\s+` + path + `(?:\s+(?:with|containing)(?:\s+(?:this|the\s+following))?)?`), act: writeBlock},
	}
}

func writeBlock(h hands, n protocol.NodeID, m []string) (call, string) {
	return write(h, n, m[1], m[len(m)-1]+"\n")
}

func write(h hands, n protocol.NodeID, file, content string) (call, string) {
	return h.call(n, "Write", map[string]any{"path": name(file), "content": content})
}

func readLines(h hands, n protocol.NodeID, m []string) (call, string) {
	number := func(s string) int {
		i, err := strconv.Atoi(s)
		if err != nil {
			return 0
		}
		return i
	}
	from, to := 1, number(m[2])
	if m[1] == "" {
		from, to = number(m[3]), number(m[3])
		if m[4] != "" {
			to = number(m[4])
		}
	}
	if from < 1 || to < from {
		return call{}, "Lines are counted from 1, and the first comes before the last."
	}
	return h.call(n, "Read", map[string]any{"path": name(m[5]), "offset": from - 1, "limit": to - from + 1})
}

func search(h hands, n protocol.NodeID, what, dir, include string) (call, string) {
	in := map[string]any{"pattern": regexp.QuoteMeta(unquote(what))}
	if dir != "" {
		in["path"] = name(dir)
	}
	if include != "" {
		in["include"] = include
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

// anywhere makes a pattern without a folder match in every folder.
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

var extensions = map[string]string{
	"go": "go", "golang": "go", "python": "py", "markdown": "md", "rust": "rs", "javascript": "js", "typescript": "{ts,tsx}", "c": "{c,h}",
	"c++": "{cc,cpp,cxx,h,hpp}", "c#": "cs", "java": "java", "shell": "sh", "bash": "sh", "text": "txt", "yaml": "{yaml,yml}", "json": "json", "html": "{html,htm}",
	"css": "css", "ruby": "rb", "sql": "sql", "xml": "xml", "image": "{png,jpg,jpeg,gif,webp,svg}", "log": "log", "test": "{test,spec}.*",
}

// extension converts a kind of file to a glob of extensions; an unknown word is used as the
// extension itself.
func extension(kind string) string {
	kind = strings.ToLower(kind)
	if ext, ok := extensions[kind]; ok {
		return ext
	}
	return kind
}

// isFile reports whether a word looks like the name of a file: "a.md", but not "os.Open".
func isFile(word string) bool {
	ext := word[strings.LastIndexByte(word, '.')+1:]
	for _, known := range []string{
		"txt", "md", "go", "py", "js", "mjs", "ts", "tsx", "json", "yaml", "yml", "toml", "html", "htm", "css", "c", "h", "cc", "cpp", "hpp", "rs",
		"java", "rb", "sh", "sql", "xml", "csv", "pdf", "png", "jpg", "jpeg", "gif", "svg", "webp", "log", "conf", "ini", "mod", "sum", "lock", "zip", "gz", "db", "env",
	} {
		if ext == known {
			return true
		}
	}
	return false
}
