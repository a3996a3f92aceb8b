package protocol

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
)

// CheckIDs returns an error if an ID in v, which was decoded from data, contains a zero byte: systems
// and databases end a text there, so that two IDs would look like one. IDs are the values of a named
// string type, such as [NodeID], and texts in a field whose name says so, such as sessionId.
func CheckIDs(data []byte, v any) error {
	if !bytes.Contains(data, []byte(`\u0000`)) { // JSON has no other way to write it
		return nil
	}
	if name := zeroByteID("", reflect.ValueOf(v)); name != "" {
		return fmt.Errorf("%s must not contain a zero byte", name)
	}
	return nil
}

// zeroByteID returns the name of an ID with a zero byte in v, which is the value of the field name;
// "" if v has none.
func zeroByteID(name string, v reflect.Value) string {
	switch v.Kind() {
	case reflect.String:
		if strings.ContainsRune(v.String(), 0) && (v.Type() != reflect.TypeFor[string]() || isIDName(name)) {
			return name
		}
	case reflect.Pointer, reflect.Interface:
		return zeroByteID(name, v.Elem()) // the zero Value if v is nil
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return ""
		}
		for i := range v.Len() {
			if found := zeroByteID(name, v.Index(i)); found != "" {
				return found
			}
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			if found := zeroByteID(name, key) + zeroByteID(name, value); found != "" {
				return name
			}
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !field.IsExported() && !field.Anonymous {
				continue
			}
			if found := zeroByteID(tag, value); found != "" {
				return found
			}
		}
	}
	return ""
}

// isIDName reports whether a field of this name in JSON has an ID or a list of them.
func isIDName(name string) bool {
	for _, end := range []string{"Id", "Ids", "_id", "_ids", "Key"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == "id" || name == "ids" || name == "key"
}
