package message

import (
	"net/url"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// types are the types of JSON Schema.
var types = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// maxDepth is the depth of a schema that is read.
const maxDepth = 64

// IsObjectSchema reports whether a schema describes arguments: an object. A provider refuses a whole
// request because of one tool with another schema, and with it every message of a chat. Only the
// keywords that providers read are checked, because servers use several versions of JSON Schema.
func IsObjectSchema(schema any) bool {
	s, ok := schema.(map[string]any)
	return ok && s["type"] == "object" && isSchema(s, s, maxDepth)
}

// isSchema checks a part of the schema root.
func isSchema(root map[string]any, schema any, depth int) bool {
	if _, isBool := schema.(bool); isBool {
		return true
	}
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 {
		return false
	}
	below := func(one any) bool { return isSchema(root, one, depth-1) }
	for keyword, value := range s {
		switch keyword {
		case "type":
			ok = isType(value) || isListOf(value, isType) && !isEmpty(value)
		case "required":
			ok = isListOf(value, func(one any) bool { _, isText := one.(string); return isText })
		case "enum":
			ok = isListOf(value, func(any) bool { return true }) && !isEmpty(value)
		case "items":
			ok = below(value) || isListOf(value, below)
		case "anyOf", "oneOf", "allOf":
			ok = isListOf(value, below) && !isEmpty(value)
		case "not", "additionalProperties":
			ok = below(value)
		case "$ref":
			ok = hasTarget(root, value)
		case "properties", "$defs", "definitions":
			var named map[string]any
			if named, ok = value.(map[string]any); ok {
				for _, one := range named {
					ok = ok && below(one)
				}
			}
		case "description", "title", "pattern", "format":
			_, ok = value.(string)
		}
		if !ok {
			return false
		}
	}
	return true
}

func isType(value any) bool {
	text, ok := value.(string)
	return ok && slices.Contains(types, text)
}

func isListOf(value any, is func(any) bool) bool {
	list, ok := value.([]any)
	return ok && !slices.ContainsFunc(list, func(one any) bool { return !is(one) })
}

func isEmpty(list any) bool { return len(list.([]any)) == 0 }

// hasTarget reports whether a reference leads to a part of root, and not in a circle of references.
// Providers do not read other documents.
func hasTarget(root map[string]any, reference any) bool {
	for range maxDepth {
		text, ok := reference.(string)
		pointer, isLocal := strings.CutPrefix(text, "#")
		if !ok || !isLocal {
			return false
		}
		if !strings.HasPrefix(pointer, "/") {
			return true // the whole schema, or a part with a name of its own
		}
		target, ok := find(root, pointer)
		if !ok {
			return false
		}
		s, _ := target.(map[string]any)
		if reference, ok = s["$ref"]; !ok {
			return true
		}
	}
	return false
}

// find returns the part to which a JSON Pointer leads (RFC 6901, section 6).
func find(part any, pointer string) (any, bool) {
	decoded, err := url.PathUnescape(pointer)
	if err != nil {
		return nil, false
	}
	tokens := strings.Split(decoded, "/")[1:]
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return protocol.PartAt(part, tokens)
}
