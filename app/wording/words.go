// Package wording has the texts that several pages share: times, counts, hidden characters made visible.
package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"fairlead/app/lists"
	"fairlead/gateway/peer/format"
)

// Matches reports whether a path contains every word of a filter, ignoring case.
func Matches(p, filter string) bool {
	p = strings.ToLower(p)
	words := strings.Fields(strings.ToLower(filter))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(p, w) })
}

// Tokens formats a number of tokens: "950", "42k", "1.2M".
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_500:
		return fmt.Sprintf("%dk", (n+500)/1000)
	}
	return strings.Replace(fmt.Sprintf("%.1fM", float64(n)/1e6), ".0M", "M", 1)
}

func Join(sep string, parts ...string) string {
	return strings.Join(lists.Without(parts, func(s string) bool { return s == "" }), sep)
}

// Slashes returns a path of any system with slashes.
func Slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// By names the answerer as the windows do; the gateway's names are for its journal.
func By(principal string) string {
	name := strings.TrimPrefix(principal, "owner ")
	switch {
	case principal == "" || principal == "owner":
		return ""
	case name == "this computer":
		return " on this computer"
	case strings.HasPrefix(name, "desktop-"):
		return " in another window"
	case strings.HasPrefix(name, "cli-") || name == "(command line)":
		return " on the command line"
	}
	return " by " + name
}

// Thinking returns the name of a thinking level; empty is the model's own default.
func Thinking(level string) string {
	name := map[string]string{"": "Model default", "none": "Off", "xhigh": "Very high"}[level]
	return cmp.Or(name, format.Capital(level))
}
