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

// directives cuts the settings for one message out of its text; everything else of the text, its
// line breaks too, stays as it is. A model without a provider is one of the chat's; written /m:ID
// it has to stand before the text, because "msbuild /m:4" sets no model.
func directives(text string) (rest string, d *protocol.Directives) {
	var out protocol.Directives
	end := 0
	for _, at := range directiveForm.FindAllStringSubmatchIndex(text, -1) {
		leads := strings.TrimSpace(rest+text[end:at[0]]) == ""
		if setDirective(&out, strings.ToLower(text[at[4]:at[5]]), text[at[6]:at[7]], leads) {
			rest += text[end:at[3]]
			end = at[1]
		}
	}
	if end == 0 {
		return text, nil
	}
	return strings.TrimSpace(rest + text[end:]), &out
}

// setDirective reads one directive into d; it reports false for one that sets nothing.
func setDirective(d *protocol.Directives, name, value string, leads bool) bool {
	if name != "model" && name != "m" {
		level, ok := levels[strings.ToLower(value)]
		if ok {
			d.ThinkLevel = level
		}
		return ok
	}
	provider, id, ok := strings.Cut(value, "/")
	switch {
	case ok && (provider == "" || id == ""), !ok && name == "m" && !leads, len(value) > maxModel:
		return false
	case !ok:
		provider, id = "", value
	}
	d.Model = &protocol.ModelRef{Provider: strings.ToLower(provider), ID: id}
	return true
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
