package operator

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// plan converts a message to calls. If a part of it cannot be done, it returns the reason and no
// calls.
func plan(h machineTools, text string) (string, []call) {
	var calls []call
	var answers, problems []string
	list := requests(text)
	for i, r := range list {
		c, words, ok := understand(h, r)
		switch {
		case !ok && len(list) > 1:
			problems = append(problems, fmt.Sprintf("Line %d (%s): %s", i+1, code(format.Clip(r.line, maxLine)), words))
		case !ok:
			problems = append(problems, words)
		case words != "":
			answers = append(answers, words)
		default:
			calls = append(calls, c)
		}
	}
	if len(problems) > 0 {
		if len(list) > 1 {
			problems = append([]string{"I have done nothing, because not all of it is clear."}, problems...)
		}
		return strings.Join(problems, "\n\n"), nil
	}
	return strings.Join(answers, "\n\n"), calls
}

// grammar contains what is understood in addition to the forms. It is built at the first use,
// because regular expressions cost memory.
type grammar struct {
	onFirst, onLast, polite, helpful, greeting, thanks, machines *regexp.Regexp
	forms, blocks                                                []form
}

var language = sync.OnceValue(func() grammar {
	whole := func(body string) *regexp.Regexp { return regexp.MustCompile(`(?is)^` + body + `[\s?.!]*$`) }
	return grammar{
		onFirst: regexp.MustCompile(`(?is)^(?:on\s+(?:the\s+|my\s+)?([\w@-]+)[,:]?|@([\w-]+)[,:]?)\s+(.+)$`),
		onLast:  regexp.MustCompile(`(?is)^(.+)\s+on\s+(?:the\s+|my\s+)?([\w@-]+)[.!?]?$`),
		polite: regexp.MustCompile(`(?i)^(?:(?:please,?|can you|could you|would you|will you|now|then|and|and then|hey,?|just|let's|let us|i want you to|` +
			`i would like you to|i'd like you to)\s+)+`),
		helpful:  whole(`(?:help(?: me)?|what can (?:you|i) (?:do|say|ask).*|what do you (?:do|understand).*|how do(?:es)? (?:this|it|you) work.*|commands|who are you|what are you|\?)`),
		greeting: whole(`(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|moin|hallo)(?:,? (?:there|again|fairlead|operator|everyone|you))?`),
		thanks:   whole(`(?:thanks|thank you|thx|great|perfect|nice|well done|ok|okay|cool)(?:,? (?:a lot|very much|so much|you|thanks|thank you|fairlead|operator))?`),
		machines: whole(`(?:(?:which|what|list|show)(?: (?:are|me))?(?: (?:my|the|all|all the|all my))? )?(?:machines|computers|nodes)(?: (?:are|do|can|have|is).*)?`),
		forms:    compileForms(forms), blocks: compileForms(blockForms),
	}
})

func compileForms(list []form) []form {
	out := slices.Clone(list)
	for i, f := range list {
		out[i].re = regexp.MustCompile(`(?is)^` + f.pattern + `\s*$`)
	}
	return out
}

// understand converts one request to a call, or to an answer if it is a question. If ok is false,
// it is not understood or cannot be done, and words has the reason.
func understand(h machineTools, r item) (c call, words string, ok bool) {
	g := language()
	line := r.line
	if rest := g.polite.ReplaceAllString(line, ""); rest != "" {
		line = rest
	}
	if !r.fence {
		switch {
		case g.helpful.MatchString(line):
			return call{}, help(h), true
		case g.greeting.MatchString(line):
			return call{}, "Hello. I am the built-in operator: I carry out plain requests, such as *run ls -la* or *read README.md*. Say *what can you do* for all of them.", true
		case g.thanks.MatchString(line):
			return call{}, "You are welcome.", true
		case g.machines.MatchString(line):
			return call{}, machines(h), true
		}
	}
	node := protocol.NodeID("")
	if m := g.onFirst.FindStringSubmatch(line); m != nil {
		if n, known := h.find(m[1] + m[2]); known {
			node, line = n, m[3]
		} else if f, _ := find(g, item{m[3], r.block, r.fence}); f != nil {
			return call{}, fmt.Sprintf("I know no machine called %s. %s", m[1]+m[2], machines(h)), false
		}
	} else if m := g.onLast.FindStringSubmatch(line); m != nil {
		if n, known := h.find(m[2]); known {
			node, line = n, m[1]
		}
	}
	f, m := find(g, item{line, r.block, r.fence})
	if f == nil {
		return call{}, notUnderstood(g, line), false
	}
	c, words = f.act(formMatch{h, node, m, r.block})
	return c, words, words == ""
}

func find(g grammar, r item) (*form, []string) {
	list := g.forms
	if r.fence {
		list = g.blocks
	}
	for i := range list {
		line := r.line
		if !list[i].exact {
			line = strings.TrimRight(line, "?!,;: ")
			if !strings.HasSuffix(line, "..") && !strings.HasSuffix(line, " .") && !strings.HasSuffix(line, "/.") {
				line = strings.TrimSuffix(line, ".") // the end of a sentence, not a folder
			}
		}
		if m := list[i].re.FindStringSubmatch(line); m != nil {
			return &list[i], m
		}
	}
	return nil, nil
}

// envelope matches the prefix that the gateway adds to a message from a chat network, and a
// quotation below it.
var envelope = regexp.MustCompile(`^\[[a-z0-9_-]+ · [^\]\n]*\](?:[ \n]\[in reply to: [^\]\n]*\])?[ \n]?`)

type item struct {
	line  string
	block string
	fence bool
}

// requests splits a message. A code block belongs to the line above it. A first line in brackets
// with more below it is not a request: in it the gateway gives the reason for its message, such as
// a job's name and time. The same applies to the prefix of a message from a chat network.
func requests(text string) []item {
	var out []item
	text = envelope.ReplaceAllString(text, "")
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	if first := strings.TrimSpace(lines[0]); len(lines) > 1 && strings.HasPrefix(first, "[") && strings.HasSuffix(first, "]") {
		lines = lines[1:]
	}
	for i := 0; i < len(lines); i++ {
		line, mark := fence(strings.TrimSpace(lines[i]))
		if line != "" {
			out = append(out, item{line: unlist(line)})
		}
		if mark == "" {
			continue
		}
		var block []string
		for i++; i < len(lines) && strings.TrimSpace(lines[i]) != mark; i++ {
			block = append(block, lines[i])
		}
		if len(out) == 0 || out[len(out)-1].fence {
			out = append(out, item{})
		}
		last := &out[len(out)-1]
		last.fence, last.block = true, strings.Join(block, "\n")
	}
	if len(out) == 0 {
		out = []item{{}}
	}
	return out
}

// fence returns the text of a line before a code block, and the mark that ends the block.
func fence(line string) (before, mark string) {
	i := strings.Index(line, "```")
	if i < 0 || strings.Contains(line[i+3:], "`") || strings.ContainsAny(strings.TrimSpace(line[i+3:]), " \t") {
		return line, ""
	}
	return strings.TrimSpace(line[:i]), "```"
}

func unlist(line string) string {
	for _, mark := range []string{"- ", "* ", "• "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(rest)
		}
	}
	rest := strings.TrimLeft(line, "0123456789")
	if n := len(line) - len(rest); n > 0 && n <= 2 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return strings.TrimSpace(rest[2:])
	}
	return line
}
