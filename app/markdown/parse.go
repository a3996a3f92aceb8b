package markdown

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"fairlead/app/style"
	"fairlead/app/typeset"
)

// listStep is the indentation of a list item.
const listStep = 22

var commonMark = goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList)).Parser()

// parse parses Markdown into paragraphs (CommonMark 0.31 with strikethrough, task lists and
// bare links). HTML is shown as text, a picture becomes a link, and a link with a target other than
// the web or a mail address becomes text followed by its target.
func parse(source string) []paragraph {
	p := &parser{source: []byte(readableFormulas(readableNotes(source)))}
	p.blocks(commonMark.Parse(gtext.NewReader(p.source)), 0, 0, "")
	if len(p.paragraphs) == 0 && strings.TrimSpace(source) != "" { // such as a link definition
		return plainParagraphs(source, "", "text")
	}
	return p.paragraphs
}

// Footnotes: their texts, and the references to those with a number.
var (
	footnoteText = regexp.MustCompile(`(?m)^ {0,3}\[\^([^\]\s]{1,40})\]:[ \t]*`)
	footnoteMark = regexp.MustCompile(`\[\^(\d{1,3})\]`)
	superscript  = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
)

// readableNotes writes footnotes, which CommonMark does not have, as small numbers and paragraphs
// that begin with one. Text in backquotes stays as it is.
func readableNotes(source string) string {
	if !strings.Contains(source, "[^") {
		return source
	}
	number := func(mark string) string {
		name := strings.Trim(strings.TrimSpace(mark), "[^]:")
		if strings.Trim(name, "0123456789") == "" {
			return superscript.Replace(name)
		}
		return name + ":"
	}
	source = footnoteText.ReplaceAllStringFunc(source, func(mark string) string { return "\n" + number(mark) + " " })
	parts := strings.Split(source, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = footnoteMark.ReplaceAllStringFunc(parts[i], number)
	}
	return strings.Join(parts, "`")
}

type parser struct {
	source     []byte
	paragraphs []paragraph
	tight      bool
}

// blocks adds the blocks in a node. mark precedes the first one.
func (p *parser) blocks(parent ast.Node, left float32, quote int, mark string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		q := paragraph{spaceAbove: style.Inside, indent: left, quote: quote, bullet: mark, separator: "\n\n"}
		if p.tight {
			q.spaceAbove, q.separator = style.Gap, "\n"
		}
		switch n := n.(type) {
		case *ast.Heading:
			style := typeset.Style{Bold: true, Size: []float32{20.0 / 14, 17.0 / 14, 15.0 / 14}[min(n.Level, 3)-1]}
			q.spaceAbove = 12
			p.inline(&q, n, style, decoration{})
		case *ast.Paragraph, *ast.TextBlock:
			p.inline(&q, n, typeset.Style{Size: 1}, decoration{})
		case *ast.ThematicBreak:
			q.rule, q.spaceAbove = true, 12
		case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
			_, html := n.(*ast.HTMLBlock)
			lines := string(n.Lines().Value(p.source))
			if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
				lines += string(h.ClosureLine.Value(p.source))
			}
			style := typeset.Style{Size: 13.0 / 14, Mono: true}
			if html {
				style = typeset.Style{Size: 1}
			}
			q.code = !html
			q.add(strings.ReplaceAll(strings.TrimRight(lines, "\n"), "\t", "    "), style, decoration{})
		case *ast.Blockquote:
			p.blocks(n, left+14, quote+1, mark)
			mark = ""
			continue
		case *ast.List:
			p.list(n, left, quote)
			continue
		default:
			p.blocks(n, left, quote, mark)
			mark = ""
			continue
		}
		mark = ""
		p.paragraphs = append(p.paragraphs, q)
	}
	if mark != "" { // an item without text
		p.paragraphs = append(p.paragraphs, paragraph{spaceAbove: style.Gap, indent: left, quote: quote, bullet: mark, separator: "\n"})
	}
}

func (p *parser) list(n *ast.List, left float32, quote int) {
	was := p.tight
	p.tight = n.IsTight
	number := n.Start
	step := float32(listStep)
	if n.IsOrdered() {
		last := number + n.ChildCount() - 1
		step += 7 * float32(len(fmt.Sprint(last))-1)
	}
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		mark := "•"
		if n.IsOrdered() {
			mark = fmt.Sprintf("%d%c", number, n.Marker)
			number++
		}
		if box := taskBox(item); box != "" {
			mark = box
		}
		first := len(p.paragraphs)
		p.blocks(item, left+step, quote, mark)
		if first < len(p.paragraphs) && (!p.tight || item.PreviousSibling() == nil && !was) {
			p.paragraphs[first].spaceAbove = style.Inside
		}
	}
	p.tight = was
}

// Check boxes of tasks.
const taskOpen, taskDone = "☐", "☑"

// taskBox returns the check box at the beginning of a list item.
func taskBox(item ast.Node) string {
	if first := item.FirstChild(); first != nil {
		if box, ok := first.FirstChild().(*east.TaskCheckBox); ok {
			if box.IsChecked {
				return taskDone
			}
			return taskOpen
		}
	}
	return ""
}

func (q *paragraph) add(s string, style typeset.Style, k decoration) {
	if s == "" {
		return
	}
	if n := len(q.runs); n > 0 && q.runs[n-1].Style == style && q.decorations[n-1] == k {
		q.runs[n-1].Text += s
		return
	}
	q.runs, q.decorations = append(q.runs, typeset.Run{Text: s, Style: style}), append(q.decorations, k)
}

func (p *parser) inline(q *paragraph, parent ast.Node, style typeset.Style, k decoration) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			value := n.Segment.Value(p.source)
			if !n.IsRaw() {
				value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
			}
			q.add(string(value), style, k)
			switch {
			case n.HardLineBreak():
				q.add("\n", style, k)
			case n.SoftLineBreak():
				q.add(" ", style, k)
			}
		case *ast.String:
			q.add(string(n.Value), style, k)
		case *ast.CodeSpan:
			s, kind := style, k
			s.Mono, s.Size, kind.code = true, style.Size*13/14, true
			q.add(p.codeText(n), s, kind)
		case *ast.Emphasis:
			s := style
			if n.Level == 1 {
				s.Italic = true
			} else {
				s.Bold = true
			}
			p.inline(q, n, s, k)
		case *east.Strikethrough:
			kind := k
			kind.strike = true
			p.inline(q, n, style, kind)
		case *ast.Link:
			p.link(q, n, string(n.Destination), style, k)
		case *ast.Image:
			p.link(q, n, string(n.Destination), style, k)
		case *ast.AutoLink:
			target := string(n.URL(p.source))
			if n.AutoLinkType == ast.AutoLinkEmail && !strings.HasPrefix(target, "mailto:") {
				target = "mailto:" + target
			}
			kind := k
			if u, err := url.Parse(target); err == nil && IsAllowedLink(u) {
				kind.link = u
			}
			q.add(string(n.Label(p.source)), style, kind)
		case *ast.RawHTML:
			for i := range n.Segments.Len() {
				s := n.Segments.At(i)
				q.add(string(s.Value(p.source)), style, k)
			}
		case *east.TaskCheckBox: // already used as the item's mark
		default:
			p.inline(q, n, style, k)
		}
	}
}

// codeText returns the text of inline code in one line.
func (p *parser) codeText(n *ast.CodeSpan) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(p.source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

func (p *parser) link(q *paragraph, n ast.Node, target string, style typeset.Style, k decoration) {
	target = string(util.UnescapePunctuations([]byte(target)))
	u, err := url.Parse(target)
	allowed := err == nil && IsAllowedLink(u)
	kind := k
	if allowed {
		kind.link = u
	}
	before := q.text()
	p.inline(q, n, style, kind)
	if _, picture := n.(*ast.Image); picture && q.text() == before {
		q.add("image", style, kind)
	}
	if !allowed && target != "" {
		q.add(" ("+target+")", style, k)
	}
}
