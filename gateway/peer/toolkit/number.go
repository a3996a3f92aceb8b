package toolkit

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// maxDigits is how many digits a rewritten number may have; an int64 has at most 19.
const maxDigits = 19

// plainNumbers rewrites whole numbers such as 1e7 and 1.0 in digits only. They are integers for a
// JSON schema, but encoding/json does not decode them into Go's integers. args is valid JSON.
func plainNumbers(args json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return args
	}
	plain, err := json.Marshal(rewriteNumbers(v))
	if err != nil {
		return args
	}
	return plain
}

func rewriteNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			v[name] = rewriteNumbers(value)
		}
	case []any:
		for i, value := range v {
			v[i] = rewriteNumbers(value)
		}
	case json.Number:
		return plainNumber(v)
	}
	return v
}

// plainNumber returns a number that is not whole, or has too many digits, as it is.
func plainNumber(n json.Number) json.Number {
	digits, negative := strings.CutPrefix(string(n), "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(digits), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent, err := strconv.Atoi(power)
	if power != "" && err != nil || exponent < -maxDigits || exponent > maxDigits {
		return n
	}
	digits = whole + fraction
	point := len(whole) + exponent // where the fraction begins in digits
	if point > len(digits) {
		digits += strings.Repeat("0", point-len(digits))
	}
	if strings.Trim(digits[max(point, 0):], "0") != "" {
		return n
	}
	digits = strings.TrimLeft(digits[:max(point, 0)], "0")
	switch {
	case digits == "":
		return "0"
	case len(digits) > maxDigits:
		return n
	case negative:
		digits = "-" + digits
	}
	return json.Number(digits)
}
