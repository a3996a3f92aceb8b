package skills

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"fairlead/gateway/config"
)

func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		file string
		want Skill
		caps []string
	}{
		"no front matter": {"# Title\n\nFirst line,\nsecond.\n\nMore.", Skill{Name: "dir", Description: "First line, second."}, nil},
		"open format": {
			"---\nname: pdf-processing\ndescription: Extract text. Use it when PDFs are mentioned.\nlicense: Apache-2.0\ncompatibility: Needs python3\nmetadata:\n  author: example\n  version: \"1.0\"\nallowed-tools: Bash(git:*) Read\n---\n# Body",
			Skill{Name: "pdf-processing", Description: "Extract text. Use it when PDFs are mentioned.", License: "Apache-2.0", Compatibility: "Needs python3"},
			nil,
		},
		"folded description":     {"---\nname: a\ndescription: >\n  One\n  two.\n---\n", Skill{Name: "a", Description: "One two."}, nil},
		"colon in a description": {"---\nname: a\ndescription: Use when: it rains\nalways: true\n---\n", Skill{Name: "a", Description: "Use when: it rains", Always: true}, nil},
		"metadata over several lines with trailing commas": {
			"---\nname: a\ndescription: d\nmetadata:\n  {\n    \"gsv\": {\n      \"always\": false,\n      \"requires\": { \"capabilities\": [\"shell.exec\", \"text.search\",], },\n    },\n  }\n---\nBody stays.",
			Skill{Name: "a", Description: "d"},
			[]string{"shell.exec", "text.search"},
		},
		"metadata where yaml fails": {
			"---\nname: a\ndescription: a: b\nmetadata:\n  { \"gsv\": { \"requires\": { \"capabilities\": [\"shell.exec\",] } } }\n---\n",
			Skill{Name: "a", Description: "a: b"},
			[]string{"shell.exec"},
		},
		"carriage returns and a mark": {"\uFEFF---\r\nname: 'a'\r\ndescription: \"d\"\r\n---\r\nBody", Skill{Name: "a", Description: "d"}, nil},
		"blanks after the fences":     {"--- \t\nname: a\ndescription: d\n---  \nBody.", Skill{Name: "a", Description: "d"}, nil},
		"not closed":                  {"---\nname: a\n", Skill{Name: "dir", Description: "--- name: a"}, nil},
		"closed at the end":           {"---\nname: a\n---", Skill{Name: "a"}, nil},
		"empty front matter":          {"---\n---\nBody.", Skill{Name: "dir", Description: "Body."}, nil},
		"a name that is a number":     {"---\nname: 7\ndescription: d\n---\n", Skill{Name: "7", Description: "d"}, nil},
		"homepage inside":             {"---\nname: a\ndescription: d\nmetadata: {clawdbot: {homepage: \"https://x\"}}\n---\n", Skill{Name: "a", Description: "d", Homepage: "https://x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Parse("group/dir", []byte(tc.file))
			if got.Name != tc.want.Name || got.Description != tc.want.Description || got.Always != tc.want.Always || got.License != tc.want.License ||
				got.Compatibility != tc.want.Compatibility || got.Homepage != tc.want.Homepage || len(got.Problems)+len(got.Invalid) > 0 {
				t.Errorf("got %+v; want %+v without problems", got, tc.want)
			}
			if !slices.Equal(got.Needs.Capabilities, tc.caps) && len(got.Needs.Capabilities)+len(tc.caps) > 0 {
				t.Errorf("got capabilities %v, want %v", got.Needs.Capabilities, tc.caps)
			}
		})
	}
}

func TestParseSaysWhatItCouldNotUse(t *testing.T) {
	if s := Parse("d", []byte("---\nname: a\ndescription: "+strings.Repeat("x", 2000)+"\n---\n")); utf8.RuneCountInString(s.Description) != maxDescription || len(s.Problems) != 1 {
		t.Errorf("got %v, %v; want RuneCountInString of Description %v and Problems of length 1", len(s.Description), s.Problems, maxDescription)
	}
	if s := Parse("d", []byte("---\nname: a\nx: "+strings.Repeat("x", MaxFront)+"\n---\n")); s.Name != "d" || len(s.Problems) != 1 {
		t.Errorf(`got %v, %v; want Name "d" and Problems of length 1`, s.Name, s.Problems)
	}
	if s := Parse("d", []byte("---\nname: a\xff\n---\n")); len(s.Problems) != 1 || !utf8.ValidString(s.Name) {
		t.Errorf("got %v; want Problems of length 1 and valid UTF-8", s)
	}
}

// TestASkillThatIsNotInUTF8IsNeverEligible uses files in the encodings of old Windows editors. The
// agent would read another text than the one that was written.
func TestASkillThatIsNotInUTF8IsNeverEligible(t *testing.T) {
	for _, file := range []string{"\xff\xfe-\x00-\x00-\x00\n\x00n\x00a\x00m\x00e\x00:\x00 \x00a\x00\n\x00-\x00-\x00-\x00\n\x00", "\xfe\xff\x00-\x00-\x00-\x00\n\x00a"} {
		s := Parse("group/dir", []byte(file))
		if s.Name != "dir" || s.Description+s.Text != "" || len(s.Problems) != 1 || !strings.Contains(s.Problems[0], "Save it as UTF-8.") {
			t.Errorf(`got %+v; want Name "dir", an empty Description + Text, Problems of length 1 and "Save it as UTF-8." in Problems[0]`, s)
		}
		s.Always = true
		if e := statusOf(locatedSkill{Skill: s}, config.Skill{}, nil, machineFacts{}); e.Eligible || !slices.Equal(e.Reasons, []string{"its file is not UTF-8"}) {
			t.Errorf("got %+v; want not Eligible and Reasons %v", e, []string{"its file is not UTF-8"})
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("---\nname: a\ndescription: b\nmetadata: {\"gsv\": {\"requires\": {\"capabilities\": [\"shell.exec\",],}}}\n---\nbody"))
	f.Add([]byte("---\na: &x [*x, *x]\n---\n"))
	f.Add([]byte("---\nmetadata: \"{\"\nalways: yes\n---"))
	f.Add([]byte("---\n? [a]\n: b\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := Parse("dir", data)
		if s.Name == "" || !utf8.ValidString(s.Name+s.Description) || strings.ContainsAny(s.Name, "\n\r") || s.Needs.Capabilities == nil {
			t.Errorf(`%q: got %+v; want some Name, valid UTF-8, no "\n\r" in Name and a Needs.Capabilities`, data, s)
		}
		if utf8.RuneCountInString(s.Description) > maxDescription || utf8.RuneCountInString(s.Name) > maxName {
			t.Errorf("%q: too long", data)
		}
	})
}
