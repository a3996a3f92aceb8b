package session

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

var directivePattern = regexp.MustCompile(`(?i)(^|\s)/(think|thinking|t|model|m):(\S+)`)

// splitDirectives splits a run's message into its text and the settings for this run. Only the
// person can set them; in the text of anybody else they are ordinary words.
func splitDirectives(r store.Run) (text string, d *protocol.Directives) {
	if !auth.IsOwner(r.Principal) {
		return r.Params.Message, nil
	}
	return parseDirectives(r.Params.Message)
}

// parseDirectives removes the settings for one message from its text and leaves the rest unchanged,
// including line breaks. A model without a provider is one of the chat's provider. The form /m:ID
// counts only at the beginning of the text, because "msbuild /m:4" does not set a model.
func parseDirectives(text string) (rest string, d *protocol.Directives) {
	var out protocol.Directives
	end := 0
	for _, at := range directivePattern.FindAllStringSubmatchIndex(text, -1) {
		isFirst := strings.TrimSpace(rest+text[end:at[0]]) == ""
		if setDirective(&out, strings.ToLower(text[at[4]:at[5]]), text[at[6]:at[7]], isFirst) {
			rest += text[end:at[3]]
			end = at[1]
		}
	}
	if end == 0 {
		return text, nil
	}
	return strings.TrimSpace(rest + text[end:]), &out
}

// setDirective parses one directive into d. It returns false when the directive sets nothing.
func setDirective(d *protocol.Directives, name, value string, isFirst bool) bool {
	if name != "model" && name != "m" {
		level, ok := thinkingLevels[strings.ToLower(value)]
		if ok {
			d.ThinkLevel = level
		}
		return ok
	}
	provider, id, ok := strings.Cut(value, "/")
	switch {
	case ok && (provider == "" || id == ""), !ok && name == "m" && !isFirst, len(value) > maxModel:
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

// parseAnswer parses a message as the answer to an approval: one word for yes, or a word for no
// with an optional reason. ok is false for any other text.
func parseAnswer(text string) (allow bool, reason string, ok bool) {
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
