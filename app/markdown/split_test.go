package markdown

import (
	"slices"
	"strings"
	"testing"
)

func TestSplitMarkdownFindsBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []Block
	}{
		"paragraphs":            {"a\nb\n\nc", []Block{{Source: "a\nb"}, {Source: "c"}}},
		"fence with language":   {"x\n```go title\nf()\n```\ny", []Block{{Source: "x"}, {Kind: BlockCode, Source: "f()", Lang: "go"}, {Source: "y"}}},
		"fence not closed yet":  {"```sh\nls\n", []Block{{Kind: BlockCode, Source: "ls\n", Lang: "sh", Open: true}}},
		"blank lines in fence":  {"```\na\n\nb\n```", []Block{{Kind: BlockCode, Source: "a\n\nb"}}},
		"longer fence outside":  {"````\n```\n````", []Block{{Kind: BlockCode, Source: "```"}}},
		"tilde":                 {"~~~py\nx\n~~~", []Block{{Kind: BlockCode, Source: "x", Lang: "py"}}},
		"fence in a list":       {"- a\n  ```c\n  int x;\n  ```\n- b", []Block{{Source: "- a"}, {Kind: BlockCode, Source: "int x;", Lang: "c"}, {Source: "- b"}}},
		"list stays together":   {"- a\n\n- b\n\n  more\n\nend", []Block{{Source: "- a\n\n- b\n\n  more"}, {Source: "end"}}},
		"table":                 {"a\n\n|x|y|\n|-|-|\n|1|2|\nend", []Block{{Source: "a"}, {Kind: BlockTable, Source: "|x|y|\n|-|-|\n|1|2|"}, {Source: "end"}}},
		"a rule is no table":    {"a | b\n\n---\nc", []Block{{Source: "a | b"}, {Source: "---\nc"}}},
		"wrapped in a fence":    {"```markdown\n# A\n\n```go\nx\n```\n```", []Block{{Source: "# A"}, {Kind: BlockCode, Source: "x", Lang: "go"}}},
		"nothing":               {"\n\n", nil},
		"carriage returns":      {"a\r\n\r\nb", []Block{{Source: "a"}, {Source: "b"}}},
		"inline code, no fence": {"```inline``` text", []Block{{Source: "```inline``` text"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Split(c.text); !slices.Equal(got, c.want) {
				t.Errorf("%s: %+v\nwant %+v", name, got, c.want)
			}
		})
	}
}

const growing = "# Title\n\nSome *text* that\ngoes on.\n\n- a\n- b\n\n```go\nfunc f() {\n\n}\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd.\n"

func TestSplitMarkdownKeepsEarlierBlocksWhenTextIsAdded(t *testing.T) {
	for i := range growing {
		now, next := Split(growing[:i]), Split(growing[:i+1])
		if len(now) < 2 {
			continue
		}
		settled := now[:len(now)-1]
		if len(next) < len(settled) || !slices.Equal(next[:len(settled)-1], settled[:len(settled)-1]) {
			t.Fatalf("after %q:\n%+v\nthen\n%+v", growing[:i+1], now, next)
		}
	}
}

func TestCutMarkdownLosesNothingAndCutsNoFence(t *testing.T) {
	text := strings.Repeat(growing, 30)
	parts := SplitParts(text, 400)
	if strings.Join(parts, "") != text || len(parts) < 6 {
		t.Fatalf("got %d parts; want parts %v and length at least 6", len(parts), text)
	}
	for _, p := range parts {
		if strings.Count(p, "```")%2 != 0 {
			t.Fatalf("a fence was cut: %q", p)
		}
	}
	if got := strings.Join(SplitPlain(strings.Repeat("some line\n", 300), 200), "\n"); got != strings.Repeat("some line\n", 300) {
		t.Fatal("plain text lost something")
	}
}

func FuzzMarkdownBlocks(f *testing.F) {
	f.Add(growing)
	f.Add("|a|\n|-|\n|`x|y`|")
	f.Add("```markdown\n```")
	f.Add("~~~~\n~~~")
	f.Fuzz(func(t *testing.T, text string) {
		for _, b := range Split(text) {
			if b.Kind == BlockTable {
				cells, align := parseTable(b.Source)
				for _, row := range cells {
					if len(row) != len(align) {
						t.Fatalf("table %q: %d cells of %d", b.Source, len(row), len(align))
					}
				}
			}
		}
		if strings.Join(SplitParts(text, 10), "") != text {
			t.Fatal("CutMarkdown lost something")
		}
	})
}
