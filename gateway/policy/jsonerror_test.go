package policy

import (
	"strings"
	"testing"
)

// TestInvalidRulesFileSaysWhatToDo parses files with typical mistakes; each error gives the
// position and the expected value.
func TestInvalidRulesFileSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"":                         `the file is empty; the smallest one is {"default":"ask","rules":[]}`,
		" \n":                      "the file is empty",
		"{":                        "ends too early",
		`{"rules":[{"tool":"Bash"`: "ends too early",
		"{\n \"rules\": [\n  {,\n": "line 3, column 4: invalid JSON",
		"[]":                       `it must be an object such as {"default":"ask","rules":[]}, not a list`,
		"null":                     "not null",
		`"allow"`:                  "not a text",
		`{"rules":{}}`:             "rules must be a list, not an object",
		`{"rules":["ls"]}`:         `rule 1: it must be an object such as {"tool":"Bash"`,
		`{"rules":[{"tool":"bash","argv":["x"],"verdict":"deny"}]}`: `the tool that runs commands is called "Bash"`,
		`{"default":1,"rules":[]}`:                                  "default must be a text, not a number",
		`{"rules":[]} {}`:                                           "text after the end",
		`{"rules":[{"argv":"ls"}]}`:                                 `rule 1: argv must be a list of words such as ["git","status","**"], not a text`,
		`{"rules":[{"id":3}]}`:                                      "rule 1: id must be a text, not a number",
		`{"grants":[{"argv":"ls"}]}`:                                "grant 1: argv must be a list of words",
		`{"rules":[{"when":"x"}]}`:                                  `when must be a list such as [{"path"`,
		`{"rules":[{"match":"x"}]}`:                                 "match must be a list of texts",
		`{"rules":[{"expires":"1"}]}`:                               `expires "1" must be a time such as "2030-12-31T18:00:00Z"`,
	} {
		_, _, err := Parse([]byte(file))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", file, err, want)
		}
		if err != nil && (strings.Contains(err.Error(), "Go ") || strings.Contains(err.Error(), "struct")) {
			t.Errorf("%q: %v speaks of Go", file, err)
		}
	}
}

func TestAFileMayBeginAsEditorsOnWindowsWriteIt(t *testing.T) {
	t.Parallel()
	s, problems, err := Parse([]byte("\xef\xbb\xbf{\"rules\":[{\"tool\":\"Bash\",\"argv\":[\"ls\"],\"verdict\":\"allow\"}]}\r\n"))
	if err != nil || len(problems) > 0 || s.Decide(Call{Tool: "Bash", Cwd: "/srv/app", Command: "ls"}).Verdict != Allow {
		t.Errorf(`got %v, %v; want no error, no problems, and verdict allow for "ls"`, problems, err)
	}
}

func TestMisspeltFieldSuggestsASimilarOne(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		`{"rules":[{"tool":"Bash","agrv":["ls"],"verdict":"deny"}]}`:            `"agrv" (did you mean "argv"?) is unknown: the rule is off`,
		`{"rules":[{"tool":"Bash","argv":["ls"],"verdict":"deny","colour":1}]}`: `"colour" is unknown: the rule is off`,
		`{"rules":[{"tool":"Bash","vgra":["ls"],"verdict":"deny"}]}`:            `"vgra" is unknown: the rule is off`,
		`{"rules":[],"grant":[]}`: `"grant" (did you mean "grants"?) is unknown and has no effect`,
		`{"rules":[],"grants":[{"argv":["x"],"cwd":"/x","sesion":"a","b":"c"}]}`: `"b", "sesion" (did you mean "session"?) are unknown: the grant is off`,
	} {
		_, problems, err := Parse([]byte(file))
		if err != nil || len(problems) != 1 || problems[0].Reason != want {
			t.Errorf("%s: got %v, %v; want no error, length 1 and problems[0].Reason %v", file, problems, err, want)
		}
	}
}
