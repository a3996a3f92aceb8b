package policy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func readFile(t testing.TB, name string) File {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/policies", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var f File
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSenselessRulesAreRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rules, want string }{
		{`{"rules":[{"tool":"Bash","argv":["ls"],"verdict":"maybe"}]}`, `verdict "maybe"`},
		{`{"rules":[{"tool":"Bash","argv":["ls"]}]}`, `verdict is missing`},
		{`{"default":"yes","rules":[]}`, `default "yes"`},
		{`{"default":"","rules":[]}`, `default ""`},
		{`{"rules":[{"tool":"Bash","argv":[],"verdict":"allow"}]}`, "argv is empty"},
		{`{"rules":[{"tool":"Bash","argv":[],"verdict":"deny"}]}`, "argv is empty"},
		{`{"rules":[{"tool":"Bash","argv":null,"verdict":"deny"}]}`, "argv is empty"},
		{`{"rules":[{"tool":"Bash","argv":[""],"verdict":"allow"}]}`, "argv is empty"},
		{`{"rules":[{"tool":"Bash","argv":["git","**","x"],"verdict":"deny"}]}`, "may only stand at the end"},
		{`{"rules":[{"tool":"Bash","argv":["*","x"],"verdict":"allow"}]}`, "must name its program"},
		{`{"rules":[{"tool":"Bash","argv":["**"],"verdict":"allow"}]}`, "must name its program"},
		{`{"rules":[{"tool":"Bash","verdict":"allow"}]}`, "needs argv"},
		{`{"rules":[{"tool":"*","verdict":"allow"}]}`, "needs argv"},
		{`{"rules":[{"tool":"Bash","path":"x","verdict":"deny"}]}`, "about files"},
		{`{"rules":[{"argv":["ls"],"verdict":"allow"}]}`, "tool is missing"},
		{`{"rules":[{"tool":"Write","argv":["ls"],"verdict":"allow"}]}`, "runs none"},
		{`{"rules":[{"tool":"Bash","argv":["ls"],"path":"x","verdict":"deny"}]}`, "exclude each other"},
		{`{"rules":[{"tool":"Write","path":"a[","verdict":"allow"}]}`, "no pattern"},
		{`{"rules":[{"tool":"Write","path":"a**b","verdict":"allow"}]}`, "must stand alone"},
		{`{"rules":[{"tool":"Write","path":"!etc","verdict":"allow"}]}`, "no path pattern"},
		{`{"rules":[{"tool":"Bash","argv":["ls","***"],"verdict":"allow"}]}`, "stars"},
		{`{"grants":[{"argv":["ls"],"cwd":"/x","verdict":"deny"}]}`, "only allows"},
		{`{"rules":[{"tool":"Write","path":"../x","verdict":"allow"}]}`, ".. part"},
		{`{"rules":[{"tool":"Bash","argv":["ls"],"cwd":"src","verdict":"allow"}]}`, "absolute folder"},
		{`{"rules":[{"tool":"Bash","argv":["ls"],"cwd":"/a/*/b","verdict":"allow"}]}`, "absolute folder"},
		{`{"rules":[{"tool":"X","when":[{"path":"a","op":"regex","value":"("}],"verdict":"deny"}]}`, "regular expression"},
		{`{"rules":[{"tool":"X","when":[{"path":"a","op":"like","value":"x"}],"verdict":"deny"}]}`, "not known"},
		{`{"rules":[{"tool":"Bash","argv":["ls"],"source":"project","verdict":"allow"}]}`, "project"},
		{`{"rules":[{"tool":"Bash","argv":"ls","verdict":"allow"}]}`, "rule 1"},
		{`{"rules":[{"tool":"Bash","argv":["ls"],"verdict":"allow","expires":"soon"}]}`, "rule 1"},
		{`{"grants":[{"argv":["ls"]}]}`, "absolute folder"},
		{`{"grants":[{"cwd":"/x"}]}`, "exactly one"},
		{`{"grants":[{"argv":["ls"],"command":"ls","cwd":"/x"}]}`, "exactly one"},
		{`{"grants":[{"argv":["ls"],"cwd":"/x","scope":"forever"}]}`, "scope"},
		{`{"rules":[]} x`, "after the end"},
		{`{"rules":{}}`, "reading rules"},
		{`[]`, "reading rules"},
		{``, "reading rules"},
	} {
		if _, _, err := Parse([]byte(c.rules)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.rules, err, c.want)
		}
	}
}

func TestRuleWhoseExamplesFailIsOff(t *testing.T) {
	t.Parallel()
	s, problems, err := Parse([]byte(`{"rules":[{"id":"wide","tool":"Bash","argv":["git","**"],"verdict":"allow","notMatch":["git push"]}]}`))
	if err != nil || len(problems) != 1 || problems[0].Rule != "wide" || !strings.Contains(problems[0].Reason, `"git push"`) {
		t.Fatalf("got %v %v; want no error, length 1, problems[0].Rule \"wide\" and `\"git push\"` in problems[0].Reason", problems, err)
	}
	if got := s.Decide(corpusCall("bash", "git status")); got.Verdict != Ask {
		t.Errorf("the switched-off rule still says %s", got.Verdict)
	}
}

func TestStrictRuleThatIsOffAllowsNothing(t *testing.T) {
	t.Parallel()
	s, problems, err := Parse([]byte(`{"default":"allow","rules":[{"tool":"Bash","argv":["ls"],"verdict":"allow"},
		{"id":"careful","tool":"Bash","argv":["rm","**"],"verdict":"deny","match":["mv a b"]}]}`))
	if err != nil || len(problems) != 1 {
		t.Fatalf("got %v %v; want 1 problem and no error", problems, err)
	}
	got := s.Decide(corpusCall("bash", "ls"))
	if got.Verdict != Ask || !strings.Contains(got.Reason, "careful") {
		t.Errorf(`%s: got %s; want Verdict %v and "careful" in Reason`, got.Verdict, got.Reason, Ask)
	}
}

func TestUnknownFieldSwitchesItsRuleOff(t *testing.T) {
	t.Parallel()
	s, problems, err := Parse([]byte(`{"version":1,"rules":[{"tool":"Bash","argv":["ls"],"verdict":"allow","onlyIf":"x"},
		{"tool":"Bash","argv":["pwd"],"verdict":"allow","comment":"where am I"}]}`))
	if err != nil || len(problems) != 1 || !strings.Contains(problems[0].Reason, "onlyIf") {
		t.Fatalf(`got %v %v; want no error, length 1 and "onlyIf" in problems[0].Reason`, problems, err)
	}
	if s.Decide(corpusCall("bash", "ls")).Verdict != Ask || s.Decide(corpusCall("bash", "pwd")).Verdict != Allow {
		t.Error("the wrong rule is off")
	}
}

func TestExpiryNodeSessionAndFolderBindARule(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	s := must(t, `{"rules":[
		{"tool":"Bash","argv":["a"],"verdict":"allow","expires":"2030-01-02T03:04:06Z"},
		{"tool":"Bash","argv":["b"],"verdict":"allow","node":"laptop"},
		{"tool":"laptop__Bash","argv":["c"],"verdict":"allow"},
		{"tool":"Bash","argv":["d"],"verdict":"allow","session":"s1"},
		{"tool":"Bash","argv":["e"],"verdict":"allow","cwd":"/w/**"},
		{"tool":"Bash","argv":["f"],"verdict":"allow","cwd":"/w"},
		{"tool":"Bash","argv":["cd","*"],"verdict":"allow"},
		{"tool":"Bash","argv":["g"],"verdict":"allow","when":[{"path":"background","op":"equals","value":false}]}]}`)
	base := Call{Tool: "Bash", Node: "laptop", Session: "s1", Cwd: "/w", Now: now, Args: json.RawMessage(`{"background":false}`)}
	for _, c := range []struct {
		command string
		change  func(*Call)
		want    Verdict
	}{
		{"a", nil, Allow},
		{"a", func(c *Call) { c.Now = now.Add(time.Second) }, Ask},
		{"b", nil, Allow},
		{"b", func(c *Call) { c.Node = "other" }, Ask},
		{"b", func(c *Call) { c.Node = "" }, Ask},
		{"c", nil, Allow},
		{"c", func(c *Call) { c.Node = "other" }, Ask},
		{"c", func(c *Call) { c.Node = "" }, Ask},
		{"d", nil, Allow},
		{"d", func(c *Call) { c.Session = "s2" }, Ask},
		{"e", nil, Allow},
		{"e", func(c *Call) { c.Cwd = "/w/a/b" }, Allow},
		{"e", func(c *Call) { c.Cwd = "/ww" }, Ask},
		{
			"e",
			func(c *Call) { c.Cwd = "" }, Ask,
		},
		{"f", nil, Allow},
		{"f", func(c *Call) { c.Cwd = "/w/a" }, Ask},
		{"cd a; f", nil, Ask},
		{"cd a && e", nil, Allow},
		{"cd .. && e", nil, Ask},
		{"cd /; cd /w; f", nil, Ask},
		{"g", nil, Allow},
		{"g", func(c *Call) { c.Args = json.RawMessage(`{"background":true}`) }, Ask},
		{"g", func(c *Call) { c.Args = nil }, Ask},
	} {
		call := base
		call.Command = c.command
		if c.change != nil {
			c.change(&call)
		}
		if got := s.Decide(call); got.Verdict != c.want {
			t.Errorf("%q with %+v: %s (%s), want %s", c.command, call, got.Verdict, got.Reason, c.want)
		}
	}
}

func TestFileToolsAreJudgedByPath(t *testing.T) {
	t.Parallel()
	s := must(t, `{"rules":[
		{"tool":"Write","path":"src/**","verdict":"allow"},
		{"tool":"*","path":"**/.env*","verdict":"deny"},
		{"tool":"Read","path":"**","verdict":"allow"},
		{"tool":"Read","path":"!/usr/share/**","verdict":"allow"},
		{"tool":"Read","path":"~/notes/*.md","verdict":"allow"},
		{"tool":"Weather","verdict":"allow"},
		{"tool":"Mail","verdict":"deny"}]}`)
	for _, c := range []struct {
		tool, path string
		want       Verdict
	}{
		{"Write", "src/a/b.go", Allow},
		{"Write", "/home/me/project/src/x", Allow},
		{"Write", "src/../x", Ask},
		{"Write", "srcs/x", Ask},
		{"Write", "/src/x", Ask},
		{"Write", "src/.env.local", Deny},
		{"Read", ".env", Deny},
		{"Read", "a/.ENV", Deny},
		{"Read", "a/b", Allow},
		{"Read", "/etc/passwd", Ask},
		{"Read", "/usr/share/dict/words", Allow},
		{"Read", "/home/me/notes/a.md", Allow},
		{"Read", "/home/me/notes/a/b.md", Ask},
		{"Read", "/home/you/notes/a.md", Ask},
		{"Write", "src/.git/hooks/x", Ask},
		{"Edit", "src/x", Ask},
		{"Weather", "", Allow},
		{"Mail", "", Deny},
		{"Fax", "", Ask},
		{"Read", "../../me/project/x", Allow},
		{"Read", "../x", Ask},
	} {
		call := Call{Tool: c.tool, Cwd: corpusCwd, Home: corpusHome}
		if c.path != "" {
			call.Paths = []string{c.path}
		}
		if got := s.Decide(call); got.Verdict != c.want {
			t.Errorf("%s %s: %s (%s), want %s", c.tool, c.path, got.Verdict, got.Reason, c.want)
		}
	}
}

func TestAbsentSetAsksAboutEverything(t *testing.T) {
	t.Parallel()
	var s *Set
	if got := s.Decide(corpusCall("bash", "ls")); got.Verdict != Ask || got.Reason == "" {
		t.Errorf("got %+v; want Verdict %v and some Reason", got, Ask)
	}
}
