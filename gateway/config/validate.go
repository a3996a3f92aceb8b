package config

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// maxText is the longest text, in bytes. The whole configuration is copied wherever a setting is
// read.
const maxText = 100_000

// validate checks the limits of a value and of everything below it. The tag is that of the field
// which holds it.
func validate(path string, v reflect.Value, tag reflect.StructTag) error {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		if err := checkNumber(path, float64(v.Int()), field{typ: v.Type(), tag: tag}); err != nil {
			return err
		}
	case reflect.Float64:
		if err := checkNumber(path, v.Float(), field{typ: v.Type(), tag: tag}); err != nil {
			return err
		}
	case reflect.String:
		if err := checkString(path, v.String(), field{typ: v.Type(), tag: tag}); err != nil {
			return err
		}
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return validate(path, v.Elem(), tag)
	default:
		if err := validateParts(path, v); err != nil {
			return err
		}
	}
	return checkSpecial(path, v)
}

func validateParts(path string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		for f, part := range v.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if err := validate(join(path, name), part, f.Tag); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := validate(fmt.Sprintf("%s.%d", path, i), v.Index(i), ""); err != nil {
				return err
			}
		}
	case reflect.Map:
		for name, part := range v.Seq2() {
			if err := validate(path+"."+name.String(), part, ""); err != nil {
				return err
			}
		}
	}
	return nil
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
	switch u, err := url.Parse(text); {
	case err == nil && u.User != nil:
		return bad("%s must not contain a user name or password: everyone who can read the configuration sees it", path)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return bad("%s must be an address such as http://127.0.0.1:1234/v1, not %q", path, text)
	}
	return nil
}

// checkProvider refuses an unknown model provider.
func checkProvider(path, id string) error {
	if slices.Contains(protocol.ProviderIDs, id) {
		return nil
	}
	return bad("%s must be one of %s, not %q", path, strings.Join(protocol.ProviderIDs, ", "), id)
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
