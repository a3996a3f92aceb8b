package config

import "testing"

func TestTelephoneNumbersAreComparedByTheirDigits(t *testing.T) {
	for _, id := range []string{"+49 (170) 123-4567", "0049 170 1234567", "491701234567", "491701234567@s.whatsapp.net", " 491701234567:3@c.us ", "+491701234567"} {
		if got := SenderID("whatsapp", id); got != "+491701234567" {
			t.Errorf("%q: got %q, want %q", id, got, "+491701234567")
		}
	}
	if got := SenderID("sms", "12345 67"); got != "1234567" {
		t.Errorf(`a short number is no international one: %q, want "1234567"`, got)
	}
	if got := SenderID("matrix", "+49 170 1234567"); got != "+491701234567" {
		t.Errorf(`a number with a plus is one wherever it stands: %q, want "+491701234567"`, got)
	}
}

func TestDigitsAreANameWherePeopleHaveNoNumbers(t *testing.T) {
	for channel, ids := range map[string][]string{
		"xmpp":     {"491701234567@example.org", "491701234567@example.com", "+491701234567@example.org", "491701234567@s.whatsapp.net", "491701234567"},
		"telegram": {"1234567", "12345-67", "001234567", "+1234567"},
		"discord":  {"80351110224678912", "0080351110224678912", "ann", ""},
		"whatsapp": {"491701234567@lid", "491701234567@example.org", "491701234567@g.us", "491701234567"},
	} {
		t.Run(channel, func(t *testing.T) {
			seen := map[string]string{}
			for _, id := range ids {
				got := SenderID(channel, id)
				if other, ok := seen[got]; ok {
					t.Errorf("%s: %q and %q are taken for one: %q", channel, other, id, got)
				}
				seen[got] = id
			}
		})
	}
}
