package export

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func machine(id protocol.NodeID) string { return strings.ToUpper(string(id)) }

// text returns the document of a chat with these messages and one stored picture.
func text(t *testing.T, format string, messages []protocol.Message) string {
	t.Helper()
	f, ok := FormatNamed(format)
	if !ok {
		t.Fatalf("no format %q", format)
	}
	var b strings.Builder
	if err := f.Write(&b, Chat{
		Key: "k", Title: "A chat", Messages: messages, Machine: machine, Zone: time.UTC,
		Picture: func(key string) (protocol.MediaGetResult, error) {
			if key != "media/p.png" {
				return protocol.MediaGetResult{}, protocol.ErrNotFound
			}
			return protocol.MediaGetResult{MimeType: "image/png", Data: "iVBORw0KGgo="}, nil
		},
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestExportHoldsAllMessages(t *testing.T) {
	at := time.Date(2026, 5, 3, 10, 41, 0, 0, time.UTC).UnixMilli()
	got := text(t, "markdown", []protocol.Message{
		{Role: protocol.RoleUser, Timestamp: at, Content: protocol.Content{protocol.Text("Why?"), {Type: protocol.BlockImage, Filename: "shot.png"}}},
		{Role: protocol.RoleAssistant, Timestamp: at, Content: protocol.Content{
			protocol.Text("Let me look."),
			{Type: protocol.BlockToolCall, Name: "nas__Bash", Arguments: []byte(`{"command":"ls"}`)},
		}},
		{Role: protocol.RoleToolResult, Content: protocol.Content{protocol.Text("a\n```\nb\n")}},
		{Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("Stopped.")}},
	})
	want := "# A chat\n\n## You · 3 May 2026 10:41\n\nWhy?\n\n*(picture: shot.png)*\n\n## Fairlead · 3 May 2026 10:41\n\nLet me look.\n" +
		"\n**Bash** on NAS\n\n```\nls\n```\n\n````\na\n```\nb\n````\n\n*Stopped.*\n"
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestExportHasCallsInWords(t *testing.T) {
	for args, want := range map[string]string{
		`{"path":"a.txt","oldString":"one","newString":"two\nthree"}`: "**Edit** on NAS\n\n- path: `a.txt`\n\nold text:\n\n```\none\n```\n\nnew text:\n\n```\ntwo\nthree\n```\n",
		"{\"pattern\":\"a`b\",\"limit\":5}":                           "**Edit** on NAS\n\n- pattern: `` a`b ``\n- limit: `5`\n",
		"{\"command\":\"ls\\n# ```\",\"workdir\":\"/srv\"}":           "**Edit** on NAS\n\n- workdir: `/srv`\n\n````\nls\n# ```\n````\n",
		`{}`:       "**Edit** on NAS\n",
		`[1]`:      "**Edit** on NAS\n\n```\n[1]\n```\n",
		`{"path":`: "**Edit** on NAS\n\n```\n{\"path\":\n```\n",
	} {
		t.Run(args, func(t *testing.T) {
			if got := callMarkdown(protocol.Block{Name: "nas__Edit", Arguments: json.RawMessage(args)}, Chat{Machine: machine}); got != want {
				t.Errorf("%s: %q, want %q", args, got, want)
			}
		})
	}
	if got := callMarkdown(protocol.Block{Name: "strange", Arguments: json.RawMessage(`{"a":1}`)}, Chat{Machine: machine}); got != "**strange**\n\n- a: `1`\n" {
		t.Errorf("got %q, want %q", got, "**strange**\n\n- a: `1`\n")
	}
}

func TestExportHasTheTextOfResults(t *testing.T) {
	result := func(s string) string {
		return text(t, "markdown", []protocol.Message{{Role: protocol.RoleToolResult, Content: protocol.Content{protocol.Text(s)}}})
	}
	for in, want := range map[string]string{
		`{"status":"completed","tail":"b\n","output":"a\nb\n"}`:               "\n```\na\nb\n```\n",
		`{"content":"1\tpackage main"}`:                                       "\n```\n1\tpackage main\n```\n",
		`{"matches":[{"path":"a.go","line":3,"content":"func A"}],"count":1}`: "\n```\na.go:3: func A\n```\n",
		"no JSON at all": "\n```\nno JSON at all\n```\n",
	} {
		if got := result(in); !strings.Contains(got, want) || strings.Contains(want, "`") && strings.Contains(got, "status") {
			t.Errorf("%s is exported as %s", in, got)
		}
	}
}

func TestFileNamesOfExports(t *testing.T) {
	for in, want := range map[string]string{
		"Refactor the parser": "Refactor the parser", "a/b\\c:d": "a-b-c-d", "...": "chat", "": "chat", "line\nbreak": "line-break",
		strings.Repeat("ä", 80): strings.Repeat("ä", 60),
	} {
		t.Run(in, func(t *testing.T) {
			if got := Formats[0].FileName(in); got != want+".md" {
				t.Errorf("%q: %q, want %q", in, got, want)
			}
		})
	}
}

func TestPageShowsTextAndLoadsNothing(t *testing.T) {
	got := text(t, "html", []protocol.Message{
		{Role: protocol.RoleUser, Content: protocol.Content{
			protocol.Text("Why **now**? <script>alert(1)</script>\n\n<div onclick=x>\n\n![x](https://example.com/x.png) [y](javascript:alert)"),
			{Type: protocol.BlockImage, Filename: "shot.png", MediaKey: "media/p.png"},
			{Type: protocol.BlockImage, Filename: "gone.png", MediaKey: "media/gone.png"},
		}},
		{Role: protocol.RoleAssistant, Content: protocol.Content{{Type: protocol.BlockToolCall, ID: "c1", Name: "nas__Bash", Arguments: []byte(`{"command":"ls <x>"}`)}}},
		{Role: protocol.RoleToolResult, ToolCallID: "c1", Content: protocol.Content{protocol.Text(`{"output":"a & b","exitCode":0}`)}},
		{Role: protocol.RoleAssistant, Origin: protocol.OriginNotice, Content: protocol.Content{protocol.Text("Stopped <here>.")}},
	})
	for _, want := range []string{
		"<title>A chat</title>", "<strong>now</strong>", "&lt;script&gt;", "&lt;div onclick=x&gt;", "(picture: https://example.com/x.png x)",
		`src="data:image/png;base64,iVBORw0KGgo="`, "(picture: gone.png)", "<b>Bash on NAS</b> <code>ls &lt;x&gt;</code>", "<pre>a &amp; b</pre>",
		"Stopped &lt;here&gt;.", "<b>You</b>1 Jan 1970 00:00",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s:\n%s", want, got)
		}
	}
	for _, bad := range []string{"<script", "<div", "<img src=\"http", "javascript:", "exitCode"} {
		if strings.Contains(got, bad) {
			t.Errorf("the page contains %s:\n%s", bad, got)
		}
	}
}

func TestJSONHasTheMessagesAndTheirPictures(t *testing.T) {
	var got struct {
		SessionKey, Title string
		Messages          []protocol.Message
	}
	raw := text(t, "json", []protocol.Message{{Role: protocol.RoleUser, Seq: 3, Content: protocol.Content{protocol.Text("Look"), {Type: protocol.BlockImage, MediaKey: "media/p.png"}}}})
	if err := json.Unmarshal([]byte(raw), &got); err != nil {
		t.Fatal(err)
	}
	if got.SessionKey != "k" || got.Title != "A chat" || len(got.Messages) != 1 || got.Messages[0].Seq != 3 || got.Messages[0].Content[1].Data != "iVBORw0KGgo=" {
		t.Errorf("got %s; want chat k with its message and picture", raw)
	}
	if raw := text(t, "json", nil); !strings.Contains(raw, `"messages": []`) {
		t.Errorf("an empty chat: got %s, want an empty list of messages", raw)
	}
}

func TestExportedOutputHasNoEscapeSequences(t *testing.T) {
	call := protocol.Message{Role: protocol.RoleAssistant, Content: protocol.Content{{Type: protocol.BlockToolCall, ID: "c", Name: "n__Bash", Arguments: json.RawMessage(`{"command":"ls"}`)}}}
	result := protocol.Message{Role: protocol.RoleToolResult, ToolCallID: "c", Content: protocol.Content{protocol.Text(`{"output":"\u001b[31mred\u001b[0m"}`)}}
	c := Chat{Title: "x", Messages: []protocol.Message{call, result}, Zone: time.UTC, Machine: machine}
	for _, f := range Formats[:2] {
		var b strings.Builder
		if err := f.Write(&b, c); err != nil || !strings.Contains(b.String(), "red") || strings.Contains(b.String(), "\x1b") {
			t.Errorf("%s: got %q (%v), want it to contain red without escape sequences", f.Name, b.String(), err)
		}
	}
}
