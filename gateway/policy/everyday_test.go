package policy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/shell"
)

// everydayQuestions are the numbers of commands of testdata/everyday.txt that ask, with a rule
// PROGRAM ** for every program, and with a default that allows. unknownQuestions are those of the
// corpus that ask only because of a word that is not known, or a file that it makes the program write.
// They may only become lower.
var (
	everydayQuestions = questionCounts{rules: [2]int{91, 35}, byDefault: [2]int{12, 4}}
	unknownQuestions  = [2]int{303, 115}
)

// questionCounts are numbers of questions on any machine, and on one that contains commands.
type questionCounts struct{ rules, byDefault [2]int }

// everydayCase is one line of testdata/everyday.txt.
type everydayCase struct {
	line             int
	rules, byDefault [2]Verdict // on any machine, and on one that contains commands
	command          string
}

func readEveryday(t *testing.T) (list []everydayCase) {
	t.Helper()
	data, err := os.ReadFile("testdata/everyday.txt")
	if err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(data), "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.SplitN(line, " ", 3)
		c := everydayCase{line: n + 1, command: fields[2]}
		c.rules[0], c.rules[1] = splitVerdicts(fields[0])
		c.byDefault[0], c.byDefault[1] = splitVerdicts(fields[1])
		list = append(list, c)
	}
	return list
}

// broadRules allows every program in a command with any arguments, and reading and writing the files
// of the workspace.
func broadRules(t *testing.T, command string) *Set {
	t.Helper()
	rules := []Rule{{Tool: "Read", Path: "**", Verdict: Allow}, {Tool: "Write", Path: "**", Verdict: Allow}}
	for _, c := range shell.Analyze(command, shell.Bash).Commands {
		if !c.Guess && c.Name() != "" {
			rules = append(rules, Rule{Tool: "Bash", Argv: []string{c.Name(), "**"}, Verdict: Allow})
		}
	}
	return allowing(t, rules...)
}

func TestEverydayCommandsAskAsLittleAsBefore(t *testing.T) {
	t.Parallel()
	open := must(t, `{"default":"allow","rules":[]}`)
	var got questionCounts
	cases := readEveryday(t)
	for _, c := range cases {
		broad := broadRules(t, c.command)
		for k, call := range []Call{corpusCall("bash", c.command), containedCall("bash", c.command)} {
			for _, one := range []struct {
				name  string
				set   *Set
				want  Verdict
				count *int
			}{{"rules", broad, c.rules[k], &got.rules[k]}, {"default", open, c.byDefault[k], &got.byDefault[k]}} {
				d := one.set.Decide(call)
				if d.Verdict == Ask {
					*one.count++
				}
				if d.Verdict != one.want {
					t.Errorf("line %d, %s, contained %v: %q: got %s (%s), want %s", c.line, one.name, call.Contained, c.command, d.Verdict, d.Reason, one.want)
				}
			}
		}
	}
	if len(cases) < 600 || got != everydayQuestions {
		t.Errorf("got the questions %+v for %d commands, want %+v for at least 600; lower the numbers if fewer ask, and find out why if more do", got, len(cases), everydayQuestions)
	}
}

// Where commands are contained, xargs may give any words to a program that only reads and changes
// files. Elsewhere it asks: the words may be secrets, or options.
func TestXargsGivesWordsToProgramsThatAreContained(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]Verdict{
		"ls | xargs touch": Allow, "ls | xargs -n 1 sed -i s/a/b/": Allow, "rg -l x | xargs -r prettier --check": Allow, "ls | xargs -I{} cat {}": Allow,
		"ls | xargs sed": Ask, "ls | xargs awk": Ask, "ls | xargs python3": Ask, "ls | xargs bash": Ask, "ls | xargs -I{} bash -c '{}'": Ask, "ls | xargs env": Ask,
		"ls | xargs curl": Ask, "ls | xargs git": Ask, "ls | xargs kill": Ask, "ls | xargs rm": Ask, "ls | xargs mv x": Ask, "ls | xargs find": Ask, "ls | xargs touch .envrc": Ask,
	} {
		t.Run(command, func(t *testing.T) {
			broad := broadRules(t, command)
			if d := broad.Decide(containedCall("bash", command)); d.Verdict != want {
				t.Errorf("contained: got %s (%s), want %s", d.Verdict, d.Reason, want)
			}
			if d := broad.Decide(corpusCall("bash", command)); d.Verdict != Ask {
				t.Errorf("elsewhere: got %s (%s), want ask", d.Verdict, d.Reason)
			}
		})
	}
	strict := allowing(t, Rule{Tool: "Bash", Argv: []string{"xargs", "**"}, Verdict: Allow}, Rule{Tool: "Bash", Argv: []string{"npm", "**"}, Verdict: Allow},
		Rule{Tool: "Bash", Argv: []string{"npm", "publish", "**"}, Verdict: Ask})
	if d := strict.Decide(containedCall("bash", "echo publish | xargs npm")); d.Verdict == Allow {
		t.Errorf("with a rule that asks: got allow (%s), want a question", d.Reason)
	}
}

// lackOfKnowledge matches the reasons of questions that better tables could answer.
var lackOfKnowledge = regexp.MustCompile(`is not known to be harmless| writes (\S+|a file.*)$`)

func TestUnknownWordsAskAsLittleAsBefore(t *testing.T) {
	t.Parallel()
	sets := policies(t)
	var got [2]int
	for _, c := range readCorpus(t) {
		for k, call := range []Call{corpusCall(c.shell, c.command), containedCall(c.shell, c.command)} {
			if d := sets[c.policy].Decide(call); d.Verdict == Ask && !slices.ContainsFunc(d.Parts, func(p Part) bool {
				return p.Verdict == Ask && !lackOfKnowledge.MatchString(p.Reason)
			}) {
				got[k]++
			}
		}
	}
	if got != unknownQuestions {
		t.Errorf("got %d questions, want %d; lower the numbers if fewer ask, and find out why if more do", got, unknownQuestions)
	}
}
