package journal

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

func TestJournalKeepsHashesInsteadOfContents(t *testing.T) {
	args := `{"path":"a.txt","content":"secret text","edits":[{"oldString":"old text","newString":"new text"}]}`
	c := storedForm(store.Call{Info: protocol.CallInfo{Effect: protocol.EffectWrite, Args: json.RawMessage(args), Preview: &protocol.CallPreview{Diff: "+secret text", Path: "/a.txt"}}})
	raw, _ := json.Marshal(c.Info)
	for _, hidden := range []string{"secret text", "old text", "new text"} {
		if strings.Contains(string(raw), hidden) {
			t.Errorf("%q is in the journal: %s", hidden, raw)
		}
	}
	want := `"content":{"bytes":11,"sha256":"486a2d2abec341f9a9513329e29ea386e98b2a280d38d12a0b4a53c92ad8b26b"}` // of "secret text"
	if !strings.Contains(string(raw), want) || !strings.Contains(string(raw), "a.txt") {
		t.Errorf(`got %s; want %v in it and "a.txt" in it`, raw, want)
	}
	if c := storedForm(store.Call{Info: protocol.CallInfo{Effect: protocol.EffectExec, Args: json.RawMessage(`{"command":"echo content"}`)}}); !strings.Contains(string(c.Info.Args), "echo content") {
		t.Errorf(`got %s; want one that contains "echo content"`, c.Info.Args)
	}
}

// A node of GSV does not declare that its Write and Edit write.
func TestJournalKeepsNoContentsOfWhatToolsOfGSVWrite(t *testing.T) {
	for tool, args := range map[string]string{
		"Write": `{"path":"a.txt","content":"secret text"}`, "Edit": `{"path":"a.txt","oldString":"x","newString":"secret text"}`,
	} {
		t.Run(tool, func(t *testing.T) {
			c := storedForm(store.Call{Info: protocol.CallInfo{Tool: tool, Effect: protocol.EffectUnknown, Args: json.RawMessage(args)}})
			if got := string(c.Info.Args); strings.Contains(got, "secret text") || !strings.Contains(got, `"bytes":11`) || !strings.Contains(got, "a.txt") {
				t.Errorf("%s: got %s; want no \"secret text\", `\"bytes\":11` in it and \"a.txt\" in it", tool, got)
			}
		})
	}
	args := `{"to":"ann","content":"good morning"}`
	if c := storedForm(store.Call{Info: protocol.CallInfo{Tool: "Mail", Effect: protocol.EffectUnknown, Args: json.RawMessage(args)}}); string(c.Info.Args) != args {
		t.Errorf("got %s, want %s", c.Info.Args, args)
	}
}

func TestJournalCutsLongResultsAndKeepsPictures(t *testing.T) {
	long, _ := json.Marshal(strings.Repeat("x", maxOutput+1))
	c := storedForm(store.Call{ResultJSON: long})
	var part struct {
		Truncated bool
		Bytes     int
		Preview   string
	}
	if err := json.Unmarshal(c.ResultJSON, &part); err != nil || !c.Truncated || !part.Truncated || part.Bytes != len(long) || part.Preview == "" || len(c.ResultJSON) > maxOutput {
		t.Errorf("got %.100s %v; want no error, c.Truncated, part.Truncated, part.Bytes %v, some part.Preview and c.ResultJSON of length at most %v", c.ResultJSON, err, len(long), maxOutput)
	}
	picture := json.RawMessage(`{"content":[{"type":"image","data":"` + strings.Repeat("A", maxOutput) + `"}]}`)
	if c := storedForm(store.Call{ResultJSON: picture}); c.Truncated || len(c.ResultJSON) != len(picture) {
		t.Error("a picture was cut")
	}
}
