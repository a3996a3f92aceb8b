package message

import "slices"

// types are the types of JSON Schema.
var types = []string{"object", "array", "string", "number", "integer", "boolean", "null"}

// maxDepth is the depth of a schema that is read.
const maxDepth = 64

// IsObjectSchema reports whether a schema describes arguments: an object. A provider refuses a whole
// request because of one tool with another schema, and with it every message of a chat. Only the
// keywords that providers read are checked, because servers use several versions of JSON Schema.
func IsObjectSchema(schema any) bool {
	s, ok := schema.(map[string]any)
	return ok && s["type"] == "object" && isSchema(s, maxDepth)
}

func isSchema(schema any, depth int) bool {
	if _, isBool := schema.(bool); isBool {
		return true
	}
	s, ok := schema.(map[string]any)
	if !ok || depth == 0 {
		return false
	}
	below := func(one any) bool { return isSchema(one, depth-1) }
	for keyword, value := range s {
		switch keyword {
		case "type":
			ok = isType(value) || isListOf(value, isType)
		case "required":
			ok = isListOf(value, func(one any) bool { _, isText := one.(string); return isText })
		case "enum":
			ok = isListOf(value, func(any) bool { return true })
		case "items":
			ok = below(value) || isListOf(value, below)
		case "anyOf", "oneOf", "allOf":
			ok = isListOf(value, below)
		case "properties", "$defs", "definitions":
			var named map[string]any
			if named, ok = value.(map[string]any); ok {
				for _, one := range named {
					ok = ok && below(one)
				}
			}
		case "description", "title":
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
