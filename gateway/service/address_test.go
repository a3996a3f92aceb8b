package service

import (
	"strings"
	"testing"
)

func TestPatternsAreCheckedAndNormal(t *testing.T) {
	for text, want := range map[string]string{
		" Ann@Example.COM ":                     "ann@example.com",
		"*@company.com":                         "*@company.com",
		"dev-*@Company.com":                     "dev-*@company.com",
		"*@*.company.com":                       "*@*.company.com",
		"ann@bücher.example":                    "ann@xn--bcher-kva.example",
		"ÄNN@example.com":                       "Änn@example.com", // only ASCII letters lose their case
		"ann":                                   "",
		"@company.com":                          "",
		"ann@":                                  "",
		"ann@b@c":                               "",
		"*":                                     "",
		"*@*":                                   "",
		"*@company.*":                           "",
		"ann@company..com":                      "",
		"ann smith@company.com":                 "",
		"ann@company.com,bob@x":                 "",
		"<ann@company.com>":                     "",
		"ann\r\n@company.com":                   "",
		strings.Repeat("a", 250) + "@b.example": "",
	} {
		got, err := ParsePattern(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestAPatternFitsOnlyWhatItNames(t *testing.T) {
	for _, c := range []struct {
		pattern, address string
		want             bool
	}{
		{"ann@example.com", "Ann@EXAMPLE.com", true},
		{"ann@example.com", "anne@example.com", false},
		{"ann@example.com", "ann@example.com.evil.example", false},
		{"*@company.com", "ann@company.com", true},
		{"*@company.com", "ann@sub.company.com", false},
		{"*@company.com", "ann@evil-company.com", false},
		{"*@company.com", "x@company.com@evil.example", false},
		{"*@*.company.com", "ann@sub.company.com", true},
		{"*@*.company.com", "ann@a.b.company.com", false},
		{"dev-*@company.com", "dev-ann@company.com", true},
		{"dev-*@company.com", "dev@company.com", false},
		{"a*b*c@company.com", "aXbYc@company.com", true},
		{"a*b*c@company.com", "ac@company.com", false},
		{"kim@company.com", "\u212aim@company.com", false}, // the Kelvin sign
		{"*@company.com", "*@company.com", false},
		{"*@company.com", "", false},
	} {
		p, err := ParsePattern(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := Matches([]string{"nobody@nowhere.example", p}, c.address); got != c.want {
			t.Errorf("%s fits %q: got %v, want %v", c.pattern, c.address, got, c.want)
		}
	}
}

func FuzzPattern(f *testing.F) {
	f.Add("*@company.com", "ann@company.com")
	f.Fuzz(func(t *testing.T, pattern, address string) {
		p, err := ParsePattern(pattern)
		if err != nil {
			return
		}
		if again, err := ParsePattern(p); err != nil || again != p {
			t.Errorf("%q is %q, which is read as %q, %v; want the same", pattern, p, again, err)
		}
		Matches([]string{p}, address)
	})
}
