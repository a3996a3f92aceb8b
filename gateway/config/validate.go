package config

import (
	"cmp"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/cron/when"
	"fairlead/gateway/protocol"
)

// maxText is the longest text, in bytes. The whole configuration is copied wherever a setting is
// read.
const maxText = 100_000

// validate checks the limits of a value and of everything below it. The tag is that of the field
// which holds it.
func validate(path string, v reflect.Value, tag reflect.StructTag) error {
	var errs []error
	switch f := (field{typ: v.Type(), tag: tag}); v.Kind() {
	case reflect.Int, reflect.Int64:
		errs = append(errs, checkNumber(path, float64(v.Int()), f))
	case reflect.Float64:
		errs = append(errs, checkNumber(path, v.Float(), f))
	case reflect.String:
		errs = append(errs, checkString(path, v.String(), f))
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return validate(path, v.Elem(), tag)
	case reflect.Struct:
		for f, part := range v.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			errs = append(errs, validate(join(path, name), part, f.Tag))
		}
	case reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, validate(fmt.Sprintf("%s.%d", path, i), v.Index(i), ""))
		}
	case reflect.Map:
		for name, part := range v.Seq2() {
			errs = append(errs, validate(path+"."+name.String(), part, ""))
		}
	}
	return cmp.Or(append(errs, checkSpecial(path, v))...)
}

func checkNumber(path string, n float64, f field) error {
	lo, hi := bound(f.tag.Get("min")), bound(f.tag.Get("max"))
	if lo != nil && n < *lo || hi != nil && n > *hi {
		return bad("%s must be %s, not %v", path, typeText(f), n)
	}
	return nil
}

func checkString(path, text string, f field) error {
	if len(text) > maxText {
		return bad("%s has %d bytes; the maximum is %d", path, len(text), maxText)
	}
	if one, ok := f.tag.Lookup("oneof"); ok && !slices.Contains(strings.Split(one, ","), text) {
		return bad("%s must be %s, not %q", path, typeText(f), text)
	}
	if f.tag.Get("url") == "" || text == "" {
		return nil
	}
	if hasKey(text) {
		return bad("%s contains what looks like a key, which everyone who can read the configuration would see: enter the key as a key", path)
	}
	switch u, err := url.Parse(text); {
	case err == nil && u.User != nil:
		return bad("%s must not contain a user name or password: everyone who can read the configuration sees it", path)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return bad("%s must be an address such as http://127.0.0.1:1234/v1, not %q", path, text)
	}
	return nil
}

// Patterns of a key: a known prefix, or a long run of letters and digits. Its prefixes are those of
// OpenAI, Anthropic, Groq, xAI, Google, Hugging Face, GitHub, Replicate and NVIDIA.
var (
	keyPrefix = regexp.MustCompile(`(^|[^A-Za-z])(sk|pk|gsk|xai|hf|ghp|r8|nvapi)[-_][A-Za-z0-9_-]{8,}|AIza[A-Za-z0-9_-]{20,}`)
	longWord  = regexp.MustCompile(`[A-Za-z0-9]{24,}`)
	digit     = regexp.MustCompile(`[0-9]`)
	letter    = regexp.MustCompile(`[A-Za-z]`)
)

// hasKey reports whether an address contains what looks like a key. The host is not searched for
// long words, because hosts of clouds have long names.
func hasKey(text string) bool {
	if keyPrefix.MatchString(text) {
		return true
	}
	rest := text
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		rest = u.Path + " " + u.RawQuery + " " + u.Fragment
	}
	return slices.ContainsFunc(longWord.FindAllString(rest, -1), func(word string) bool {
		return digit.MatchString(word) && letter.MatchString(word)
	})
}

var resetModes = []string{"manual", "daily", "idle"}

// CheckResetPolicy validates a policy. Its error is a protocol.ErrBadRequest.
func CheckResetPolicy(path string, p protocol.ResetPolicy) error {
	switch {
	case !slices.Contains(resetModes, p.Mode):
		return bad("%s.mode must be one of manual, daily, idle, not %q", path, p.Mode)
	case p.AtHour != nil && (*p.AtHour < 0 || *p.AtHour > 23):
		return bad("%s.atHour must be a whole number from 0 to 23, not %d", path, *p.AtHour)
	case p.IdleMinutes != nil && *p.IdleMinutes < 0:
		return bad("%s.idleMinutes must not be negative, it is %d", path, *p.IdleMinutes)
	}
	return nil
}

// checkSpecial validates values that tags cannot describe, whose errors would otherwise show up
// only in use.
func checkSpecial(path string, v reflect.Value) error {
	switch x := v.Interface().(type) {
	case protocol.ResetPolicy:
		return CheckResetPolicy(path, x)
	case ModelConfig:
		if x.Provider != "" && !slices.Contains(protocol.ProviderIDs, x.Provider) {
			return bad("%s.provider must be one of %s, not %q", path, strings.Join(protocol.ProviderIDs, ", "), x.Provider)
		}
	case Heartbeat:
		return x.check(path)
	case protocol.ServerSpec:
		return checkServer(path, x)
	case QuietHours:
		return x.check(path)
	case Services:
		return x.check(path)
	case Mail:
		return x.check(path)
	case Agents:
		return x.check(path)
	case ToolRule:
		return x.check(path)
	case SkillRequires:
		for _, c := range x.Capabilities {
			if !slices.Contains(protocol.Capabilities, c) {
				return bad("%s.capabilities must be some of %s, not %q", path, strings.Join(protocol.Capabilities, ", "), c)
			}
		}
	case string:
		return checkText(path, x)
	}
	return nil
}

func checkText(path, text string) error {
	switch path {
	case "userTimezone":
		if _, err := time.LoadLocation(text); err != nil || text == "" {
			return bad("userTimezone must be a name such as Europe/Berlin, not %q", text)
		}
	case "model.provider", "model.id":
		if strings.TrimSpace(text) == "" {
			return bad("%s must not be empty", path)
		}
	case "session.mainKey":
		if strings.ContainsFunc(strings.TrimSpace(text), func(r rune) bool { return r <= ' ' || r == ':' || r == '/' }) || len(text) > 64 {
			return bad("session.mainKey must be one word of at most 64 bytes without colons and slashes, such as main, not %q", text)
		}
	case "network.listen":
		if !isListenAddress(text) {
			return bad("network.listen must be HOST:PORT such as :8788 or 192.168.1.5:8788, with a port from 0 to 65535, not %q", text)
		}
	}
	return nil
}

// Interval returns the interval of the heartbeat, at least a minute; 0 means never. A text that
// cannot be parsed returns 0 and an error.
func (h Heartbeat) Interval() (time.Duration, error) {
	text := strings.TrimSpace(h.Every)
	if strings.Trim(text, "0hms ") == "" {
		return 0, nil
	}
	d, err := when.Parse(text)
	if err != nil {
		return 0, err
	}
	return max(d, time.Minute), nil
}

func (h Heartbeat) check(path string) error {
	if _, err := h.Interval(); err != nil {
		return bad("%s.every: %v, or 0m for never", path, err)
	}
	if h.ActiveHours == nil {
		return nil
	}
	path += ".activeHours"
	for _, t := range []struct{ name, text string }{{"start", h.ActiveHours.Start}, {"end", h.ActiveHours.End}} {
		if _, _, err := when.OfDay(t.text); err != nil && t.text != "24:00" && t.text != "" {
			return bad("%s.%s must be a time of day such as 08:00, not %q", path, t.name, t.text)
		}
	}
	switch zone := strings.ToLower(h.ActiveHours.Timezone); zone {
	case "", "user", "local":
	default:
		if _, err := time.LoadLocation(h.ActiveHours.Timezone); err != nil {
			return bad("%s.timezone must be a name such as Europe/Berlin, or empty for your time zone, not %q", path, h.ActiveHours.Timezone)
		}
	}
	return nil
}

func (a Agents) check(path string) error {
	seen := map[string]bool{}
	for i, e := range a.List {
		at := join(path, "list."+strconv.Itoa(i))
		name := Name(e.ID)
		switch {
		case name == "":
			return bad("%s.id must contain a letter or a digit, not %q", at, e.ID)
		case seen[name]:
			return bad("%s.id is %q, but another agent in the list has the same", at, e.ID)
		case e.Model != nil && (strings.TrimSpace(e.Model.Provider) == "") != (strings.TrimSpace(e.Model.ID) == ""):
			return bad("%s.model needs both a provider and an id", at)
		}
		seen[name] = true
	}
	for i, b := range a.Bindings {
		if Name(b.AgentID) == "" {
			return bad("%s.agentId must name an agent, not %q", join(path, "bindings."+strconv.Itoa(i)), b.AgentID)
		}
	}
	return nil
}

func (r ToolRule) check(path string) error {
	if strings.TrimSpace(r.Tool) == "" {
		return bad("%s.tool must name a tool; * matches any text", path)
	}
	for i, w := range r.When {
		if w.Op != "regex" {
			continue
		}
		if _, err := w.Regex(); err != nil {
			return bad("%s.when.%d.value: %v", path, i, err)
		}
	}
	return nil
}

// Regex returns the regular expression of a condition.
func (w ToolWhen) Regex() (*regexp.Regexp, error) {
	text, ok := w.Value.(string)
	if !ok {
		return nil, bad("not a text with a regular expression")
	}
	// these flags of JavaScript make no difference here
	if flags := strings.Trim(w.Flags, "gu"); flags != "" {
		text = "(?" + flags + ")" + text
	}
	return regexp.Compile(text)
}
