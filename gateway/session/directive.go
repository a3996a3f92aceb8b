package session

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

var directiveForm = regexp.MustCompile(`(?i)(^|\s)/(think|thinking|t|model|m):(\S+)`)

// settingsOf is the text of a run's message and the settings in it that hold for the run. Only the person sets them; in the text of anybody else they
// are words like others.
func settingsOf(r store.Run) (text string, d *protocol.Directives) {
	if !auth.OfOwner(r.Principal) {
		return r.Params.Message, nil
	}
	return directives(r.Params.Message)
}

// directives cuts the settings for one message out of its text; everything else of the text, its line breaks too, stays as it is. A model without a provider
// is one of the chat's.
func directives(text string) (rest string, d *protocol.Directives) {
	rest = directiveForm.ReplaceAllStringFunc(text, func(found string) string {
		p := directiveForm.FindStringSubmatch(found)
		switch strings.ToLower(p[2]) {
		case "model", "m":
			provider, id, ok := strings.Cut(p[3], "/")
			switch {
			case ok && (provider == "" || id == ""), !ok && len(p[2]) == 1, len(p[3]) > maxModel: // "msbuild /m:4" sets nothing
				return found
			case !ok:
				provider, id = "", p[3]
			}
			if d == nil {
				d = new(protocol.Directives)
			}
			d.Model = &protocol.ModelRef{Provider: strings.ToLower(provider), ID: id}
		default:
			level, ok := levels[strings.ToLower(p[3])]
			if !ok {
				return found
			}
			if d == nil {
				d = new(protocol.Directives)
			}
			d.ThinkLevel = level
		}
		return p[1]
	})
	if d == nil {
		return text, nil
	}
	return strings.TrimSpace(rest), d
}

var (
	yesWords = []string{"yes", "y", "approve", "approved", "ok", "okay"}
	noWords  = []string{"no", "n", "deny", "denied", "reject", "rejected"}
)

// decision reads a message as the answer to a question: one word of yes, or a word of no with an optional reason. ok is false for
// anything else.
func decision(text string) (allow bool, reason string, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	word = strings.ToLower(strings.TrimRight(word, ".,!:"))
	rest = strings.TrimSpace(rest)
	if slices.Contains(yesWords, word) && (rest == "" || strings.EqualFold(rest, "please")) {
		return true, "", true
	}
	if slices.Contains(noWords, word) && !strings.Contains(rest, "\n") {
		return false, rest, true
	}
	return false, "", false
}
