package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
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
			return wording.Plural(len(list), "entry", "entries")
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

// goDuration formats a duration without zero parts: 1h30m, not 1h30m0s.
func goDuration(d time.Duration) string {
	if d == 0 {
		return "0m"
	}
	s := d.String()
	for _, zero := range []string{"0s", "0m"} {
		if whole, ok := strings.CutSuffix(s, zero); ok && strings.ContainsAny(whole[len(whole)-1:], "hm") {
			s = whole
		}
	}
	return s
}

// durations are the units for display. There are no days: 36 hours is clearer than 1.5 days.
var durations = []struct {
	one  string
	unit time.Duration
}{{"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}, {"millisecond", time.Millisecond}}

func durationWords(d time.Duration) string {
	if d < time.Millisecond {
		return "0 seconds"
	}
	var parts []string
	for _, u := range durations {
		if n := d / u.unit; n > 0 {
			parts = append(parts, format.Plural(int(n), u.one))
			d %= u.unit
		}
	}
	return strings.Join(parts, " ")
}

var errDuration = errors.New("say how long with a unit, such as 30 seconds, 5 minutes or 1 hour 30 minutes")

// durationPart is a number with its unit, and what separates it from the next.
var durationPart = regexp.MustCompile(`^([0-9][0-9.]*)\s*([a-z]+)(,|\s|and\s)*`)

// durationUnits are the units by their names without the "s" of the plural.
var durationUnits = map[string]time.Duration{
	"ms": time.Millisecond, "msec": time.Millisecond, "millisecond": time.Millisecond, "s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute, "h": time.Hour, "hr": time.Hour, "hour": time.Hour, "d": 24 * time.Hour, "day": 24 * time.Hour,
}

// parseDuration parses a duration: 5 minutes, 1 hour 30 min, 90s, 1.5 h, never.
func parseDuration(text string) (time.Duration, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "never" || text == "0" {
		return 0, nil
	}
	sum := time.Duration(0)
	for rest := text; rest != "" || text == ""; {
		part := durationPart.FindStringSubmatch(rest)
		if part == nil {
			return 0, errDuration
		}
		n, err := strconv.ParseFloat(part[1], 64)
		unit := cmp.Or(durationUnits[part[2]], durationUnits[strings.TrimSuffix(part[2], "s")])
		if err != nil || unit == 0 || n*float64(unit) > 1e18 {
			return 0, errDuration
		}
		sum += time.Duration(n * float64(unit))
		rest = rest[len(part[0]):]
	}
	return sum, nil
}

// quietAllow are the values of QuietHours.Allow with their names.
var quietAllow = [][2]string{{"Only questions", notify.QuietQuestions}, {"Nothing", notify.QuietNothing}}

// weekdays are the days of QuietHours, from Monday, with their names.
var weekdays = [][2]string{
	{"Mon", "mon"}, {"Tue", "tue"}, {"Wed", "wed"}, {"Thu", "thu"}, {"Fri", "fri"}, {"Sat", "sat"}, {"Sun", "sun"},
}

// freeName returns the name that the error of a pairing suggests, because another machine has the
// name of this one; empty for other errors.
func freeName(err error) string {
	var taken protocol.NameTaken
	if e, ok := errors.AsType[*protocol.Error](err); !ok || json.Unmarshal(e.Details, &taken) != nil {
		return ""
	}
	return string(taken.Free)
}
