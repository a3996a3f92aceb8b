package config

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/protocol"
)

// maxText is the longest text, in bytes. The whole configuration is copied wherever a setting is
// read.
const maxText = 100_000

func validate(path string, v reflect.Value, tag reflect.StructTag) error {
	f := field{typ: v.Type(), tag: tag}
	switch v.Kind() {
	case reflect.Int, reflect.Int64, reflect.Float64:
		n := 0.0
		if v.CanInt() {
			n = float64(v.Int())
		} else {
			n = v.Float()
		}
		if lo, err := strconv.ParseFloat(tag.Get("min"), 64); err == nil && n < lo {
			return bad("%s must be %s, not %v", path, describe(f), v)
		}
		if hi, err := strconv.ParseFloat(tag.Get("max"), 64); err == nil && n > hi {
			return bad("%s must be %s, not %v", path, describe(f), v)
		}
	case reflect.String:
		if v.Len() > maxText {
			return bad("%s has %d bytes; at most %d are possible", path, v.Len(), maxText)
		}
		if one, ok := tag.Lookup("oneof"); ok && !slices.Contains(strings.Split(one, ","), v.String()) {
			return bad("%s must be %s, not %q", path, describe(f), v)
		}
		if tag.Get("url") != "" && v.String() != "" {
			if u, err := url.Parse(v.String()); err == nil && u.User != nil {
				return bad("%s must not hold a name or password: it is shown to everyone who may read the configuration", path)
			} else if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				return bad("%s must be an address such as http://127.0.0.1:1234/v1, not %q", path, v)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return validate(path, v.Elem(), tag)
		}
		return nil
	case reflect.Struct:
		for i := range v.NumField() {
			sf := v.Type().Field(i)
			name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
			if err := validate(join(path, name), v.Field(i), sf.Tag); err != nil {
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
		for it := v.MapRange(); it.Next(); {
			if err := validate(path+"."+it.Key().String(), it.Value(), ""); err != nil {
				return err
			}
		}
	}
	return special(path, v)
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
