package service

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxAddress is the greatest length of an email address, as mail servers accept it.
const maxAddress = 254

// ParsePattern reads an email address, or a pattern for several: * stands for any letters on one side
// of the @ and between two dots. It returns the pattern in the form in which patterns are compared.
// The error is a *protocol.Fault.
func ParsePattern(text string) (string, error) {
	p, err := normalAddress(text)
	if err != nil {
		return "", err
	}
	_, domain, _ := strings.Cut(p, "@")
	labels := strings.Split(domain, ".")
	if strings.Contains(labels[len(labels)-1], "*") {
		return "", invalid("the pattern %q leaves the end of the domain open: write one such as *@company.com", text)
	}
	return p, nil
}

// maxVisitors is the greatest number of addresses and patterns of a service.
const maxVisitors = 1000

// patterns adds email addresses and patterns to a list, each once.
func patterns(list, more []string) ([]string, error) {
	list = append([]string{}, list...)
	for _, text := range more {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	if len(list) > maxVisitors {
		return nil, invalid("a service has at most %d addresses: use a pattern such as *@company.com", maxVisitors)
	}
	return list, nil
}

// normalAddress checks an address and writes it as addresses are compared. Only ASCII letters lose
// their case: other letters that look alike are other people.
func normalAddress(text string) (string, error) {
	text = strings.TrimSpace(text)
	local, domain, ok := strings.Cut(text, "@")
	bad := func(r rune) bool {
		return r <= ' ' || r == 0x7f || r == utf8.RuneError || strings.ContainsRune(`@,;:<>()[]"\`, r)
	}
	if !ok || local == "" || domain == "" || len(text) > maxAddress || strings.ContainsFunc(local, bad) || strings.ContainsFunc(domain, bad) {
		return "", invalid("%q is no email address: write one such as ann@company.com, or *@company.com for everyone there", text)
	}
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		if strings.Contains(label, "*") {
			label = lowerASCII(label)
		} else if ascii, err := idna.Lookup.ToASCII(label); err == nil {
			label = ascii
		} else {
			return "", invalid("%q has a domain that cannot exist", text)
		}
		if label == "" {
			return "", invalid("%q has a domain that cannot exist", text)
		}
		labels[i] = label
	}
	return lowerASCII(local) + "@" + strings.Join(labels, "."), nil
}

func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, s)
}

// Matches reports whether one of the patterns fits an address.
func Matches(patterns []string, address string) bool {
	address, err := normalAddress(address)
	if err != nil || strings.Contains(address, "*") {
		return false
	}
	local, domain, _ := strings.Cut(address, "@")
	parts := append([]string{local}, strings.Split(domain, ".")...)
	return slices.ContainsFunc(patterns, func(p string) bool {
		local, domain, _ := strings.Cut(p, "@")
		wanted := append([]string{local}, strings.Split(domain, ".")...)
		if len(wanted) != len(parts) {
			return false
		}
		for i := range wanted {
			if !fits(wanted[i], parts[i]) {
				return false
			}
		}
		return true
	})
}

// fits reports whether a text fits a pattern in which * stands for any letters.
func fits(pattern, text string) bool {
	pieces := strings.Split(pattern, "*")
	if len(pieces) == 1 {
		return pattern == text
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		i := strings.Index(text, piece)
		if i < 0 {
			return false
		}
		text = text[i+len(piece):]
	}
	return true
}
