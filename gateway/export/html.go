package export

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/base64"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"fairlead/gateway/protocol"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// entry is a message of the page.
type entry struct {
	Kind     string // you, agent, tool or notice
	Who, At  string
	Body     template.HTML
	Call     string // a called tool and where it ran
	Argument string
	Parts    []part
	Pictures []picture
}

// part is a text of a call, with a label.
type part struct{ Label, Text string }

type picture struct {
	Name   string
	Source template.URL // empty if it could not be loaded
}

// page renders a chat as a page that needs no other file.
func page(c Chat) (string, error) {
	messages := c.withPictures()
	results := make(map[string]protocol.Message)
	for _, m := range messages {
		if m.Role == protocol.RoleToolResult {
			results[m.ToolCallID] = m
		}
	}
	var list []entry
	for _, m := range messages {
		list = append(list, c.entries(m, results)...)
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, map[string]any{"Title": c.Title, "Entries": list})
	return b.String(), err
}

// entries returns what the page shows of a message. The results of calls are shown with the calls.
func (c Chat) entries(m protocol.Message, results map[string]protocol.Message) []entry {
	text := m.Content.Text()
	e := entry{At: c.timeText(m), Pictures: pictures(m)}
	switch {
	case m.Origin == protocol.OriginNotice:
		return []entry{{Kind: "notice", Body: plain(text)}}
	case m.Origin == protocol.OriginEvent:
		return []entry{{Kind: "notice", Body: plain(c.eventText(m))}}
	case m.Role == protocol.RoleToolResult && m.Origin == protocol.OriginDirect:
		e.Kind, e.Parts = "tool", []part{{"", resultText(m)}}
	case m.Role == protocol.RoleToolResult:
		return nil
	case m.Role == protocol.RoleUser && m.Origin == protocol.OriginDirect:
		e.Kind, e.Who, e.Parts = "you", "You", []part{{"", text}}
	case m.Role == protocol.RoleUser:
		e.Kind, e.Who, e.Body = "you", "You", renderMarkdown(text)
	default:
		e.Kind, e.Who, e.Body = "agent", "Fairlead", renderMarkdown(text)
		var list []entry
		if text != "" || len(e.Pictures) > 0 {
			list = append(list, e)
		}
		for _, call := range m.Content.Calls() {
			list = append(list, c.callEntry(call, results))
		}
		if m.ErrorMessage != "" {
			list = append(list, entry{Kind: "notice", Body: plain(m.ErrorMessage)})
		}
		return list
	}
	return []entry{e}
}

func (c Chat) callEntry(call protocol.Block, results map[string]protocol.Message) entry {
	name, where := c.callName(call)
	e := entry{Kind: "tool", Call: name + where}
	args, ok := orderedArgs(call.Arguments)
	if !ok {
		args = []argument{{"", string(call.Arguments)}}
	}
	e.Argument, _, _ = strings.Cut(mainArgument(args), "\n")
	for _, a := range args {
		e.Parts = append(e.Parts, part{a.name, a.text})
	}
	if result, ok := results[call.ID]; ok {
		e.Parts = append(e.Parts, part{"result", resultText(result)})
		e.Pictures = pictures(result)
	}
	return e
}

func pictures(m protocol.Message) (list []picture) {
	for _, b := range m.Content {
		if b.Type != protocol.BlockImage {
			continue
		}
		p := picture{Name: cmp.Or(b.Filename, "picture")}
		_, err := base64.StdEncoding.DecodeString(b.Data)
		if b.Data != "" && err == nil && pictureTypes[b.MimeType] {
			p.Source = template.URL("data:" + b.MimeType + ";base64," + b.Data)
		}
		list = append(list, p)
	}
	return list
}

// pictureTypes are the types that the page contains. Others, such as SVG, could run scripts.
var pictureTypes = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}

func plain(text string) template.HTML { return template.HTML(template.HTMLEscapeString(text)) }

// document renders Markdown. HTML in it is shown as text, and pictures from the web are links: the
// page loads nothing.
var document = goldmark.New(goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(asText{}, 0))))

func renderMarkdown(markdown string) template.HTML {
	var b bytes.Buffer
	if document.Convert([]byte(markdown), &b) != nil {
		return plain(markdown)
	}
	return template.HTML(b.String())
}

// asText renders HTML and pictures in Markdown.
type asText struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (asText) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindRawHTML, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			template.HTMLEscape(w, n.(*ast.RawHTML).Segments.Value(source))
		}
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindHTMLBlock, func(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		block := n.(*ast.HTMLBlock)
		_, _ = w.WriteString("<p>")
		template.HTMLEscape(w, block.Lines().Value(source))
		if block.HasClosure() {
			template.HTMLEscape(w, block.ClosureLine.Value(source))
		}
		_, err := w.WriteString("</p>\n")
		return ast.WalkContinue, err
	})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			template.HTMLEscape(w, []byte("(picture: "+string(n.(*ast.Image).Destination)+" "))
			return ast.WalkContinue, nil
		}
		_, err := w.WriteString(")")
		return ast.WalkContinue, err
	})
}
