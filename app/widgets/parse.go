package widgets

import (
	"fmt"
	"net/url"
	"slices"
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

var markdownParser = goldmark.New(goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList)).Parser()

// parseProse parses Markdown into paragraphs (CommonMark 0.31 with strikethrough, task lists and
// bare links). HTML is shown as text, a picture becomes a link, and a link with a target other than
// the web or a mail address becomes text followed by its target.
func parseProse(source string) []para {
	p := &proseParser{source: []byte(source)}
	p.blocks(markdownParser.Parse(gtext.NewReader(p.source)), 0, 0, "")
	if len(p.paras) == 0 && strings.TrimSpace(source) != "" { // such as a link definition
		return plainParas(source, "", "text")
	}
	return p.paras
}

type proseParser struct {
	source []byte
	paras  []para
	tight  bool
}

// blocks adds the blocks in a node. mark precedes the first one.
func (p *proseParser) blocks(parent ast.Node, left float32, quote int, mark string) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		q := para{above: style.Inside, left: left, quote: quote, mark: mark, apart: "\n\n"}
		if p.tight {
			q.above, q.apart = style.Gap, "\n"
		}
		switch n := n.(type) {
		case *ast.Heading:
			style := typeset.Style{Bold: true, Size: []float32{20.0 / 14, 17.0 / 14, 15.0 / 14}[min(n.Level, 3)-1]}
			q.above = 12
			p.inline(&q, n, style, ink{})
		case *ast.Paragraph, *ast.TextBlock:
			p.inline(&q, n, typeset.Style{Size: 1}, ink{})
		case *ast.ThematicBreak:
			q.rule, q.above = true, 12
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
			q.add(strings.ReplaceAll(strings.TrimRight(lines, "\n"), "\t", "    "), style, ink{})
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
		p.paras = append(p.paras, q)
	}
	if mark != "" { // an item without text
		p.paras = append(p.paras, para{above: style.Gap, left: left, quote: quote, mark: mark, apart: "\n"})
	}
}

func (p *proseParser) list(n *ast.List, left float32, quote int) {
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
		first := len(p.paras)
		p.blocks(item, left+step, quote, mark)
		if first < len(p.paras) && (!p.tight || item.PreviousSibling() == nil && !was) {
			p.paras[first].above = style.Inside
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

func (q *para) add(s string, style typeset.Style, k ink) {
	if s == "" {
		return
	}
	if n := len(q.runs); n > 0 && q.runs[n-1].Style == style && q.inks[n-1] == k {
		q.runs[n-1].Text += s
		return
	}
	q.runs, q.inks = append(q.runs, typeset.Run{Text: s, Style: style}), append(q.inks, k)
}

// inline adds the text in a node.
func (p *proseParser) inline(q *para, parent ast.Node, style typeset.Style, k ink) {
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
			var b strings.Builder
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					b.Write(t.Segment.Value(p.source))
				}
			}
			s, kind := style, k
			s.Mono, s.Size, kind.code = true, style.Size*13/14, true
			q.add(strings.ReplaceAll(b.String(), "\n", " "), s, kind)
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
			if u, err := url.Parse(target); err == nil && LinkAllowed(u) {
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

func (p *proseParser) link(q *para, n ast.Node, target string, style typeset.Style, k ink) {
	target = string(util.UnescapePunctuations([]byte(target)))
	u, err := url.Parse(target)
	allowed := err == nil && LinkAllowed(u)
	kind := k
	if allowed {
		kind.link = u
	}
	before := len(q.runs)
	was := slices.Clone(q.runs)
	p.inline(q, n, style, kind)
	if _, picture := n.(*ast.Image); picture && len(q.runs) == before && (before == 0 || q.runs[before-1].Text == was[before-1].Text) {
		q.add("image", style, kind)
	}
	if !allowed && target != "" {
		q.add(" ("+target+")", style, k)
	}
}
