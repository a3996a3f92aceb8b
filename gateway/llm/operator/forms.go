package operator

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// form is one kind of request that the operator understands.
type form struct {
	pattern string
	example string
	// words that make this form the likely meaning of a request that was not understood
	words []string
	act   func(r formMatch) (call, string)
	exact bool // the line's punctuation is preserved
	re    *regexp.Regexp
}

type formMatch struct {
	machineTools
	node  protocol.NodeID // "" if the person named none
	m     []string        // the values of the form's blanks; m[0] is the whole line
	block string          // the code block below the line
}

const (
	quoted = `"[^"]*"|'[^']*'|` + "`[^`]*`|“[^”]*”|„[^“]*“|«[^»]*»|‘[^’]*’"
	path   = `((?:` + quoted + `)|\S+)`
	text   = `((?:` + quoted + `)|.+?)`
	within = `(?:\s+(?:in|under|inside|of)\s+(?:the\s+(?:folder|directory)\s+)?` + path + `)?`
	polite = `(?:\s+(?:me|all|the|of|my))*\s+`
)

// forms are tried in this order.
var forms = []form{
	{
		pattern: `(?:(?:run|execute)(?:\s+the\s+command)?:?\s|\$\s)\s*(.+)`, example: "run make test", exact: true,
		words: []string{"run", "execute", "start", "make", "build", "install", "command"},
		act:   func(r formMatch) (call, string) { return r.use("Bash", args{"command": unquoteWhole(r.m[1])}) },
	},
	{
		pattern: `(?:replace|change)\s+(?:(?:all|every)\s+)?` + text + `\s+(?:with|by|to)\s+((?:` + quoted + `)|.*?)\s+in\s+` + path + `(?:\s+everywhere)?`,
		example: "replace A with B in FILE", words: []string{"replace", "change", "rename", "edit", "fix"},
		act: func(r formMatch) (call, string) {
			return r.use("Edit", args{"path": name(r.m[3]), "oldString": unquote(r.m[1]), "newString": unquote(r.m[2]), "replaceAll": true})
		},
	},
	{
		pattern: `(?:write|put|save)\s+` + text + `\s+(?:to|into|in|as)\s+(?:the\s+file\s+|file\s+)?` + path, example: "write TEXT to FILE",
		words: []string{"write", "save", "put"},
		act:   func(r formMatch) (call, string) { return r.write(r.m[2], unquote(r.m[1])+"\n") },
	},
	{
		pattern: `create\s+(?:an\s+|the\s+)?empty\s+file\s+(?:called\s+|named\s+)?` + path, example: "create an empty file FILE",
		act: func(r formMatch) (call, string) { return r.write(r.m[1], "") },
	},
	{
		pattern: `create\s+(?:(?:a\s+|the\s+)?file\s+)?(?:called\s+|named\s+)?` + path + `\s+(?:with|containing)(?:\s+the\s+text)?\s+(.+)`,
		example: "create FILE with TEXT", words: []string{"create", "new", "file"}, exact: true,
		act: func(r formMatch) (call, string) { return r.write(r.m[1], unquote(r.m[2])+"\n") },
	},
	{
		pattern: `(?:list|show|find|ls)` + polite + `((?:` + quoted + `)|\S*[*?]\S*)(?:\s+files?)?` + within, example: "list *.md in docs",
		act: func(r formMatch) (call, string) { return r.glob(anywhere(name(r.m[1])), r.m[2]) },
	},
	{
		pattern: `find` + polite + `files?\s+(?:named|called)\s+` + path + within, example: "find files named Makefile", words: []string{"find", "where"},
		act: func(r formMatch) (call, string) { return r.glob(anywhere(name(r.m[1])), r.m[2]) },
	},
	{
		pattern: `(?:list|show|find|what\s+are|which\s+are)` + polite + `(?:\.?(\w[\w+#]*)\s+)?(?:source\s+)?files?` + within, example: "list the Go files",
		words: []string{"list", "files", "folder", "directory", "ls"}, act: listFiles,
	},
	{
		pattern: `(?:list|ls|dir)(?:` + polite + `(?:(?:folder|directory|contents\s+of)\s+)?` + path + `)?`, example: "list docs",
		act: func(r formMatch) (call, string) { return r.glob("*", r.m[1]) },
	},
	{pattern: `(?:find|where\s+is)\s+(?:the\s+)?(?:file\s+)?(\S+\.\w+)` + within, example: "find README.md", act: findName},
	{
		pattern: `(?:search(?:\s+for)?|grep(?:\s+for)?|look\s+for|find)\s+` + text + `\s+in\s+(?:all\s+)?(?:the\s+)?(\w[\w+#]*)\s+files` + within,
		example: "search for TODO in the Go files",
		act:     func(r formMatch) (call, string) { return r.search(r.m[1], r.m[3], "*."+extension(r.m[2])) },
	},
	{
		pattern: `(?:search(?:\s+for)?|grep(?:\s+for)?|look\s+for|find|where\s+is)\s+` + text + `(?:\s+in\s+` + path + `)?`,
		example: "search for TODO in gateway", words: []string{"search", "find", "where", "grep", "look"}, act: searchIn,
	},
	{
		pattern: `(?:read|show|print)` + polite + `(?:(first)\s+(\d+)\s+lines|lines?\s+(\d+)(?:\s*(?:-|–|to)\s*(\d+))?)\s+(?:of|in|from)\s+(?:the\s+)?(?:file\s+)?` + path,
		example: "read lines 5-9 of FILE", act: readLines,
	},
	{
		pattern: `(?:read|show|open|cat|print|view|what\s+is\s+in|what's\s+in|what\s+does)` + polite + `(?:file\s+|contents?\s+of\s+)?` + path + `(?:\s+say)?`,
		example: "read README.md", words: []string{"read", "show", "open", "what", "print", "explain", "view"},
		act: func(r formMatch) (call, string) { return r.use("Read", args{"path": name(r.m[1])}) },
	},
	{
		pattern: `(?:send|copy|transfer)\s+(?:the\s+)?(?:file\s+)?` + path + `\s+to\s+(?:the\s+|my\s+)?(\S+)`, example: "send FILE to MACHINE",
		words: []string{"send", "copy", "transfer", "move", "upload", "download"}, act: send,
	},
}

var blockForms = []form{
	{
		pattern: `(?:run|execute)(?:\s+(?:this|these|that|the\s+following))?(?:\s+(?:commands?|script))?`,
		act:     func(r formMatch) (call, string) { return r.use("Bash", args{"command": r.block}) },
	},
	{pattern: `(?:write|save|put)(?:\s+(?:this|that|the\s+following))?\s+(?:to|into|in|as)\s+(?:the\s+)?(?:file\s+)?` + path, act: writeBlock},
	{pattern: `create(?:\s+(?:a|the))?(?:\s+file)?(?:\s+(?:called|named))?\s+` + path + `(?:\s+(?:with|containing)(?:\s+(?:this|the\s+following))?)?`, act: writeBlock},
}

func writeBlock(r formMatch) (call, string) { return r.write(r.m[1], r.block+"\n") }

func (r formMatch) write(file, content string) (call, string) {
	return r.use("Write", args{"path": name(file), "content": content})
}

func listFiles(r formMatch) (call, string) {
	pattern := "**/*"
	if r.m[1] != "" {
		pattern += "." + extension(r.m[1])
	}
	return r.glob(pattern, r.m[2])
}

func findName(r formMatch) (call, string) {
	if !isFile(r.m[1]) {
		return r.search(r.m[1], r.m[2], "")
	}
	return r.glob(anywhere(name(r.m[1])), r.m[2])
}

func searchIn(r formMatch) (call, string) {
	if strings.ContainsAny(r.m[2], "*?") {
		return r.search(r.m[1], "", name(r.m[2]))
	}
	return r.search(r.m[1], r.m[2], "")
}

func readLines(r formMatch) (call, string) {
	number := func(s string) int {
		i, _ := strconv.Atoi(s) // 0 is no line either
		return i
	}
	from, to := 1, number(r.m[2])
	if r.m[1] == "" {
		from = number(r.m[3])
		to = number(cmp.Or(r.m[4], r.m[3]))
	}
	if from < 1 || to < from {
		return call{}, "Lines are counted from 1, and the first comes before the last."
	}
	return r.use("Read", args{"path": name(r.m[5]), "offset": from - 1, "limit": to - from + 1})
}

func (r formMatch) search(what, dir, include string) (call, string) {
	in := args{"pattern": regexp.QuoteMeta(unquote(what))}
	if dir != "" {
		in["path"] = name(dir)
	}
	if include != "" {
		in["include"] = include
	}
	return r.use("Grep", in)
}

func (r formMatch) glob(pattern, dir string) (call, string) {
	in := args{"pattern": pattern}
	if dir != "" {
		in["path"] = name(dir)
	}
	return r.use("Glob", in)
}

func anywhere(pattern string) string {
	if strings.Contains(pattern, "/") {
		return pattern
	}
	return "**/" + pattern
}

func send(r formMatch) (call, string) {
	to, ok := r.machineTools.find(name(r.m[2]))
	if !ok {
		return call{}, fmt.Sprintf("I know no machine called %s. %s", name(r.m[2]), machines(r.machineTools))
	}
	if tool, ok := r.tools[protocol.NativePrefix]["Transfer"]; ok {
		file := name(r.m[1])
		return call{tool, args{"source": string(cmp.Or(r.node, r.defaultNode)) + ":" + file, "destination": string(to) + ":" + file}}, ""
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
	return cmp.Or(extensions[kind], kind)
}

// fileTypes are the extensions of words that look like the name of a file: "a.md", but not
// "os.Open".
var fileTypes = strings.Fields("txt md go py js mjs ts tsx json yaml yml toml html htm css c h cc cpp hpp rs java rb sh sql xml csv pdf " +
	"png jpg jpeg gif svg webp log conf ini mod sum lock zip gz db env")

func isFile(word string) bool {
	return slices.Contains(fileTypes, word[strings.LastIndexByte(word, '.')+1:])
}
