package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// maxDigits is the maximum number of digits of a rewritten number; an int64 has at most 19.
const maxDigits = 19

// Unmarshal is json.Unmarshal that also decodes whole numbers such as 1e7 and 1.0 into Go's
// integers. They are integers in JSON Schema.
func Unmarshal(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && strings.HasPrefix(kind.Value, "number ") {
		return json.Unmarshal(PlainNumbers(data), v)
	}
	return err
}

// PlainNumbers rewrites whole numbers such as 1e7 and 1.0 with digits only. data is valid JSON.
func PlainNumbers(data json.RawMessage) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return data
	}
	plain, err := Marshal(rewriteNumbers(v))
	if err != nil {
		return data
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

// plainNumber returns a number unchanged if it is not whole or has too many digits.
func plainNumber(n json.Number) json.Number {
	digits, negative := strings.CutPrefix(string(n), "-")
	mantissa, power, _ := strings.Cut(strings.ToLower(digits), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent, err := strconv.Atoi(power)
	if power != "" && err != nil || exponent < -maxDigits || exponent > maxDigits {
		return n
	}
	digits = whole + fraction
	point := len(whole) + exponent // index of the decimal point in digits
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
