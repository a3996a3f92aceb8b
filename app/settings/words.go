package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/notify"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// settingText formats a value for editing: durations in words, a text per line, other lists as
// JSON. A secret is empty.
func settingText(f protocol.ConfigField, value json.RawMessage) string {
	var text string
	switch {
	case f.Secret || len(value) == 0 || string(value) == "null":
		return ""
	case f.Type == "list" && f.Items != "object":
		var list []string
		if json.Unmarshal(value, &list) == nil {
			return strings.Join(list, "\n")
		}
	case f.Format == protocol.FormatMillis:
		if ms, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			if ms == 0 && f.Min != nil && *f.Min == 0 {
				return "never"
			}
			return durationWords(time.Duration(ms) * time.Millisecond)
		}
	case f.Format == protocol.FormatDuration:
		if json.Unmarshal(value, &text) == nil {
			if d, err := time.ParseDuration(text); err == nil {
				if d == 0 {
					return "never"
				}
				return durationWords(d)
			}
			return text
		}
	case f.Type == "list":
		var out bytes.Buffer
		if json.Indent(&out, value, "", "  ") == nil {
			return out.String()
		}
	}
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// choiceNames are the names of values of settings in the windows, by path. Other values are shown
// as they are, with a capital.
var choiceNames = map[string]map[string]string{
	"ui.theme":                        {"system": "Match system"},
	"providers.*.wire":                {"": "By the address", "chat": "Chat completions"},
	"session.dmScope":                 {"main": "All share the main chat", "per-peer": "One chat per person", "per-channel-peer": "Per person and channel", "per-account-channel-peer": "Per person, channel and account"},
	"channels.*.dmPolicy":             {"open": "Everyone", "allowlist": "Allowed senders", "pairing": "Paired senders"},
	"transcription.provider":          {"workers-ai": "Workers AI", "openai": "OpenAI"},
	"notifications.quietHours.allow":  {"questions": "Only questions"},
	"session.defaultResetPolicy.mode": {"manual": "Never", "daily": "Every day", "idle": "After a period without messages"},
}

// choiceName is the name of one of the values of a setting.
func choiceName(f protocol.ConfigField, value string) string {
	switch f.Path {
	case "model.thinkingLevel":
		return wording.Thinking(value)
	case "model.provider":
		return protocol.ProviderName(value)
	}
	return cmp.Or(choiceNames[f.Path][value], format.Capital(value), "Not set")
}

// settingWords formats a value for display, in one line.
func settingWords(f protocol.ConfigField, value json.RawMessage) string {
	text := settingText(f, value)
	switch {
	case f.Secret && len(value) > 0:
		return "set"
	case len(f.Enum) > 0:
		return choiceName(f, text)
	case f.Type == "boolean":
		if text == "true" {
			return "on"
		}
		return "off"
	case f.Type == "list" && (text == "" || text == "[]"), text == "":
		return "nothing"
	case f.Type == "list" && f.Items == "object":
		var list []any
		if json.Unmarshal(value, &list) == nil {
			return format.Plural(len(list), "entry", "entries")
		}
	case f.Unit != "":
		text += " " + f.Unit
	}
	return format.Clip(strings.ReplaceAll(strings.TrimSpace(text), "\n", ", "), 80)
}

// settingLimits describes the range of a number; empty if it has none.
func settingLimits(f protocol.ConfigField) string {
	say := func(n float64) string {
		if f.Format == protocol.FormatMillis {
			return settingText(f, json.RawMessage(strconv.FormatInt(int64(n), 10)))
		}
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	switch {
	case f.Min != nil && f.Max != nil && *f.Min == 0 && f.Format == protocol.FormatMillis:
		return "up to " + say(*f.Max) + ", or never"
	case f.Min != nil && f.Max != nil:
		return "from " + say(*f.Min) + " to " + say(*f.Max)
	case f.Min != nil:
		return "at least " + say(*f.Min)
	}
	return ""
}

// refusalText describes why a value was refused, with limits in the notation of the form.
func refusalText(s Setting, err error) string {
	text := feed.WithoutPath(s.Name, err.Error())
	if limits := settingLimits(s.ConfigField); limits != "" && strings.HasPrefix(text, "this must be ") && strings.Contains(text, " from ") {
		return "this must be " + limits
	}
	return text
}

// parseSetting parses a typed value. The gateway checks the range.
func parseSetting(f protocol.ConfigField, text string) (json.RawMessage, error) {
	plain := strings.TrimSpace(text)
	switch {
	case f.Type == "list" && f.Items == "object":
		if plain == "" {
			plain = "[]"
		}
		return checkJSON(plain)
	case f.Type == "list":
		lines := lists.Map(strings.Split(text, "\n"), strings.TrimSpace)
		return protocol.Marshal(lists.Without(lines, func(line string) bool { return line == "" }))
	case f.Format == protocol.FormatMillis || f.Format == protocol.FormatDuration:
		d, err := parseDuration(plain)
		switch {
		case err != nil:
			return nil, err
		case f.Format == protocol.FormatMillis:
			return protocol.Marshal(d.Milliseconds())
		}
		return protocol.Marshal(goDuration(d))
	case f.Type == "integer" || f.Type == "number":
		plain = strings.TrimSpace(strings.TrimSuffix(strings.ReplaceAll(strings.ReplaceAll(plain, "\u00a0", ""), " ", ""), f.Unit))
		if n, err := strconv.ParseInt(plain, 10, 64); err == nil {
			return protocol.Marshal(n)
		}
		n, err := strconv.ParseFloat(plain, 64)
		if err != nil || f.Type == "integer" {
			return nil, errors.New("this must be a " + map[string]string{"integer": "whole number", "number": "number"}[f.Type])
		}
		return protocol.Marshal(n)
	case f.Type == "boolean":
		return protocol.Marshal(plain == "true")
	case f.Format == protocol.FormatLines:
		return protocol.Marshal(text)
	}
	return protocol.Marshal(plain)
}

func checkJSON(text string) (json.RawMessage, error) {
	var v []any
	err := json.Unmarshal([]byte(text), &v)
	if err == nil {
		return json.RawMessage(text), nil
	}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := text[:min(int(e.Offset), len(text))]
		return nil, fmt.Errorf("line %d is not valid JSON: %s", strings.Count(before, "\n")+1, strings.TrimPrefix(e.Error(), "json: "))
	}
	return nil, errors.New("this must be a list in JSON: [ … ]")
}

// quietAllow are the values of QuietHours.Allow with their names.
var quietAllow = [][2]string{{"Only questions", notify.QuietQuestions}, {"Nothing", notify.QuietNothing}}

// weekdays are the days of QuietHours, from Monday, with their names.
var weekdays = [][2]string{
	{"Mon", "mon"}, {"Tue", "tue"}, {"Wed", "wed"}, {"Thu", "thu"}, {"Fri", "fri"}, {"Sat", "sat"}, {"Sun", "sun"},
}

// formatPrice formats a price per million tokens.
func formatPrice(v *float64) string {
	if v == nil {
		return "?"
	}
	// rounds off the error of a price given per token
	return fmt.Sprintf("$%g", math.Round(*v*1e6)/1e6)
}

func modelFacts(m protocol.ModelInfo) string {
	var parts []string
	if m.ContextWindow > 0 {
		parts = append(parts, wording.Tokens(m.ContextWindow))
	}
	if m.PriceIn != nil {
		parts = append(parts, formatPrice(m.PriceIn)+" in, "+formatPrice(m.PriceOut)+" out")
	}
	if !m.Tools {
		parts = append(parts, "no tools")
	}
	return strings.Join(parts, " · ")
}

// titleOf is the title of a setting, with the name in its path: Key: OpenAI.
func titleOf(s Setting) string {
	star := strings.Index(s.Path, "*")
	if star < 0 || s.Pattern {
		return s.Title
	}
	name, _, _ := strings.Cut(s.Name[star:], ".")
	if s.IsOfProvider() {
		name = protocol.ProviderName(name)
	}
	return s.Title + ": " + name
}
