package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// field is a place in Config that a dotted path names.
type field struct {
	typ    reflect.Type
	tag    reflect.StructTag
	secret string // name in the secret store, empty for what is no secret
}

func bad(format string, args ...any) error {
	return protocol.ErrBadRequest.With(fmt.Sprintf(format, args...))
}

// lookup finds the field that a path names, or says which names there are.
func lookup(path string) (field, error) {
	if path == "" {
		return field{}, bad("path required")
	}
	f := field{typ: reflect.TypeFor[Config]()}
	parts := strings.Split(path, ".")
	for i, name := range parts {
		if name == "" {
			return field{}, bad("%q is not a path: a part of it is empty", path)
		}
		switch f.typ.Kind() {
		case reflect.Struct:
			next, names, ok := member(f.typ, name)
			if !ok {
				where := strings.Join(parts[:i], ".")
				if where == "" {
					where = "the configuration"
				}
				return field{}, bad("%s has no %q; it has %s", where, name, strings.Join(names, ", "))
			}
			f = field{typ: next.Type, tag: next.Tag, secret: next.Tag.Get("secret")}
		case reflect.Map:
			secret := f.secret
			if secret != "" {
				secret += name
			}
			f = field{typ: f.typ.Elem(), tag: f.tag, secret: secret}
		default:
			return field{}, bad("%s is a single value: nothing lies below it", strings.Join(parts[:i], "."))
		}
	}
	return f, nil
}

func member(t reflect.Type, name string) (found reflect.StructField, names []string, ok bool) {
	for i := range t.NumField() {
		json, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if json == name {
			return t.Field(i), nil, true
		}
		names = append(names, json)
	}
	return found, names, false
}

// check decodes value into the field's type and validates it all the way down.
func (f field) check(path string, value json.RawMessage) error {
	v := reflect.New(f.typ)
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v.Interface()); err != nil {
		if strings.Contains(err.Error(), "unknown field") {
			return bad("%s: %s", path, strings.TrimPrefix(err.Error(), "json: "))
		}
		return bad("%s must be %s, not %s", path, describe(f), short(value))
	}
	return validate(path, v.Elem(), f.tag)
}

func short(v json.RawMessage) string {
	if len(v) > 60 {
		return string(v[:57]) + "…"
	}
	return string(v)
}

func describe(f field) string {
	switch f.typ.Kind() {
	case reflect.Int, reflect.Int64:
		return "a whole number" + bounds(f.tag)
	case reflect.Float64:
		return "a number" + bounds(f.tag)
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		if one := f.tag.Get("oneof"); one != "" {
			return "one of " + strings.ReplaceAll(strings.TrimPrefix(one, ","), ",", ", ")
		}
		return "text"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

func bounds(tag reflect.StructTag) string {
	lo, hi := tag.Get("min"), tag.Get("max")
	if lo == "" {
		return ""
	}
	return " from " + lo + " to " + hi
}

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
		if one, ok := tag.Lookup("oneof"); ok && !slices.Contains(strings.Split(one, ","), v.String()) {
			return bad("%s must be %s, not %q", path, describe(f), v)
		}
		if tag.Get("url") != "" && v.String() != "" {
			if u, err := url.Parse(v.String()); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				return bad("%s must be an address such as http://127.0.0.1:1234/v1, not %q", path, v)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			sf := v.Type().Field(i)
			name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
			if err := validate(path+"."+name, v.Field(i), sf.Tag); err != nil {
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

// special checks what no tag can say.
func special(path string, v reflect.Value) error {
	switch {
	case path == "userTimezone":
		if _, err := time.LoadLocation(v.String()); err != nil || v.String() == "" {
			return bad("userTimezone must be a name such as Europe/Berlin, not %q", v)
		}
	case v.Type() == reflect.TypeFor[protocol.ResetPolicy]():
		return CheckResetPolicy(path, v.Interface().(protocol.ResetPolicy))
	case path == "model.provider" || path == "model.id":
		if strings.TrimSpace(v.String()) == "" {
			return bad("%s must not be empty", path)
		}
	}
	return nil
}

// CheckResetPolicy reports what is wrong with a policy, as a protocol.ErrBadRequest.
func CheckResetPolicy(path string, p protocol.ResetPolicy) error {
	switch {
	case !slices.Contains([]string{"manual", "daily", "idle"}, p.Mode):
		return bad("%s.mode must be one of manual, daily, idle, not %q", path, p.Mode)
	case p.AtHour != nil && (*p.AtHour < 0 || *p.AtHour > 23):
		return bad("%s.atHour must be a whole number from 0 to 23, not %d", path, *p.AtHour)
	case p.IdleMinutes != nil && *p.IdleMinutes < 0:
		return bad("%s.idleMinutes must not be negative, it is %d", path, *p.IdleMinutes)
	}
	return nil
}
