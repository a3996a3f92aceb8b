package policy

import (
	"regexp"
	"strings"
	"testing"
)

// lesserQuestions are the reasons of questions that a machine that contains commands does not ask,
// and why not.
var lesserQuestions = []struct {
	reason  *regexp.Regexp
	because string
}{
	{regexp.MustCompile(`is not known to be harmless( with a value)?$`), "the program changes only files of the workspace that start nothing"},
	{regexp.MustCompile(` writes (\S+|a file.*)$`), "the file is in the workspace or the machine's private /tmp, and starts nothing"},
	{regexp.MustCompile(`may show passwords, tokens or private data`), "secrets are hidden"},
	{regexp.MustCompile(`^sqlite3 .* may run any code`), "the text only queries or changes a database of the workspace"},
	{regexp.MustCompile(`runs a file in this shell`), "the file is in the workspace, and its text runs with the same restrictions as in another shell"},
	{regexp.MustCompile(`^(Searches|Packs|Copies|Reads files in|Changes files in|Writes to|Links to) a folder that may contain`), "denied files are hidden, read-only or set aside"},
	{regexp.MustCompile(`^The (file|value of) .*known only when the command runs`), "secrets and denied files are hidden, and the program only reads"},
	{regexp.MustCompile(`runs code that is not in the command|unknown program|may have access to any folder`), "rules about files hold for code"},
	{regexp.MustCompile(`may write any file in`), "protected files in an archive are read-only or set aside"},
	{regexp.MustCompile(`another repository`), "settings and hooks of all repositories in the workspace are read-only"},
	{regexp.MustCompile(`may be an alias for any command`), "an alias runs with the same restrictions"},
	{regexp.MustCompile(`^Sets `), "the variable is not known to change what programs do"},
	{regexp.MustCompile(`is outside the workspace$`), "the file is in the machine's private /tmp"},
	{regexp.MustCompile(`sed|awk`), "the script can write only in the workspace and runs no command"},
	{regexp.MustCompile(`^xargs`), "the program that it starts only reads or writes files"},
}

// Each question that only machines without containment ask has one of the reasons above.
func TestLesserQuestionsHaveAReason(t *testing.T) {
	t.Parallel()
	sets, counts := policies(t), make([]int, len(lesserQuestions))
	judge := func(line int, s *Set, call Call) {
		d := s.Decide(call)
		for i, q := range lesserQuestions {
			if q.reason.MatchString(d.Reason) {
				counts[i]++
				return
			}
		}
		t.Errorf("line %d: %q asks because %q: got no reason why a machine that contains commands need not ask", line, call.Command, d.Reason)
	}
	for _, c := range readCorpus(t) {
		if c.want != Ask || c.contained != Allow {
			continue
		}
		call := corpusCall(c.shell, c.command)
		if c.confined {
			call.Sandbox = corpusSandbox
		}
		judge(c.line, sets[c.policy], call)
	}
	for _, c := range readOptionCases(t) {
		if c.want == Ask && c.contained == Allow {
			command := strings.NewReplacer(" ( ", ` \( `, " ) ", ` \) `).Replace(c.command)
			judge(c.line, allowing(t, Rule{Tool: "Bash", Argv: strings.Fields(c.rule), Verdict: Allow}), corpusCall("bash", command))
		}
	}
	for i, q := range lesserQuestions {
		if t.Logf("%d: %s: %s", counts[i], q.reason, q.because); counts[i] == 0 {
			t.Errorf("no question has the reason %s", q.reason)
		}
	}
}
